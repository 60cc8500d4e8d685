"""Parts: what several families of aggregates are made of."""
