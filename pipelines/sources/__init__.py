"""Where a batch's rows are: files by path template over the data interval."""

from pipelines.sources.files import FileSource, files
from pipelines.sources.files import FileSource as Source

__all__ = ["FileSource", "Source", "files"]
