"""What there is: one row for each window kind and for each aggregate. Laws, oracles, judges, pages and pictures read these tables."""
