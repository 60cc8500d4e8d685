"""Published windows against the oracle: drawn at random, computed again from the rows of the source."""
