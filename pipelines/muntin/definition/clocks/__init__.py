"""Clocks of time zones, and when a cron string ticks on them."""
