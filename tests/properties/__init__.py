"""The core over random histories, against the oracle."""
