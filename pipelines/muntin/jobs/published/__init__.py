"""Published: the tables that readers see, the ledgers in them, and what is staged for them."""
