"""Where a batch's rows are: files by path template over the data interval, or another pipeline's windows."""

from pipelines.sources.files import FileSource, files
from pipelines.sources.upstream_windows import WindowSource, windows

Source = FileSource | WindowSource

__all__ = ["FileSource", "Source", "WindowSource", "files", "windows"]
