"""The engine: sorted frames in, windows out. It knows no kinds of windows and no aggregates."""
