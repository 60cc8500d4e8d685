"""Tables in the footers of Parquet files: facts that ride in the commit of the rows they tell of."""

from __future__ import annotations

import base64

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.files.readable import readable_footer

# to wait for threads takes longer than a small table
_WRITTEN = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
_READ = pa.ipc.IpcReadOptions(use_threads=False)


def text_of(table: pa.Table) -> str:
    """A table as text for a footer:

    Arrow's stream format, in base64, since readers take footers for UTF-8.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_WRITTEN) as stream:
        stream.write_table(table)
    return base64.b64encode(sink.getvalue()).decode()


def table_of(text: str | bytes) -> pa.Table:
    """The table from the text of `text_of`."""
    return pa.ipc.open_stream(base64.b64decode(text), options=_READ).read_all()


def footer(path: str) -> dict[str, str]:
    """The texts in the footer of a file.

    Raises:
        OSError: the file is gone or damaged.
    """
    texts = pq.read_metadata(readable_footer(path)).metadata or {}
    return {key.decode(): value.decode(errors="replace") for key, value in texts.items()}
