"""The whole product through its public API."""
