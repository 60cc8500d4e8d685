"""Records: what runs write down of batches, for people and for later runs: reports, verdicts, metrics."""
