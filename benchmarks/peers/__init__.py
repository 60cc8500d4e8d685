"""What a user would pick instead. A peer is a module with `write_windows(files, out)` and, if it has one, `start()`."""
