"""The engine: sorted frames in, windows out. It works on arrays of plain values and knows no kinds of windows and no aggregates."""
