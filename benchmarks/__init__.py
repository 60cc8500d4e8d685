"""The same windows by this engine and by what a user would pick instead: `python -m benchmarks --help`."""
