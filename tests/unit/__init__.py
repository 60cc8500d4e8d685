"""Pure parts, one by one."""
