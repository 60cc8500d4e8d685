"""Random scenarios through the public API, judged by the oracle."""
