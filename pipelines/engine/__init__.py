"""The engine: sorted frames in, windows out. Arrays of plain values; knows neither window kinds nor aggregates."""
