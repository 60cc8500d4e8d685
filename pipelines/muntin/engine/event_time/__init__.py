"""Windows by event time: from sorted frames to ranges of rows."""
