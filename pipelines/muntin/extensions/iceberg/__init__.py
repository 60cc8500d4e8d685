"""Tables of Iceberg: as a source, and mirrors of windows as a sink."""
