"""Long random histories beside clean runs: `make soak`."""
