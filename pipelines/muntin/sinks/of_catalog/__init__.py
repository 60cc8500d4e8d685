"""Names in the catalog of Spark for the tables of windows."""
