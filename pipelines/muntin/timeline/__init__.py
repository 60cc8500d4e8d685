"""Time and batches: history, watermark, closing, gaps, and what must be recomputed. Integers only."""
