"""Tables of Iceberg as a source: their snapshots, and the fields of their files."""
