"""Parquet files that Muntin wrote, opened so that each page is held against its checksum: what a disk changed
is an error, never data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from muntin.files.readable import readable

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath


def opened(place: str | AnyPath | pa.Buffer | bytes, **how: Any) -> pq.ParquetFile:  # noqa: ANN401 - as pyarrow has them
    """A file, or its content in memory, to read; `how`: further arguments of `ParquetFile`.

    `pq.read_table` takes four times as long for a small file: it makes a dataset, and threads. A damaged
    footer is an `ArrowException` or a `ValueError` here, or other columns; a damaged page an `OSError` when
    it is read.
    """
    source = pa.BufferReader(place) if isinstance(place, pa.Buffer | bytes) else readable(place)
    return pq.ParquetFile(source, page_checksum_verification=True, pre_buffer=False, **how)


def form() -> ds.ParquetFileFormat:
    """The format of datasets of such files."""
    return ds.ParquetFileFormat(
        default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    )
