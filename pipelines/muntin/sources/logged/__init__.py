"""Tables with a log, whatever its format: which of their files make a batch, and what their rows change."""
