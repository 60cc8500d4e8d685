"""Rows of queries of databases: `sources.sql`."""
