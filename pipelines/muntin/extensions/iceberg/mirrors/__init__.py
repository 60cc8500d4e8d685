"""Mirrors of windows in Iceberg.

What the core asks of them, without a sink of a definition, is handed on here.
"""

from muntin.extensions.iceberg.mirrors.columns import bounds_of, is_cut_from
from muntin.extensions.iceberg.mirrors.found_tables import named_files, own_folder

__all__ = ["bounds_of", "is_cut_from", "named_files", "own_folder"]
