"""Files of a table of windows that mirrors still name: a snapshot that replaced files stay readable in as long as the mirror keeps it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from muntin.errors import MuntinError
from muntin.files.paths import relative, sizes_below
from muntin.jobs.published.mirrors import METADATA, mirrors_of
from muntin.registry import extension
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from muntin.sinks.errors import SinkError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.files.paths import AnyPath

_log = logging.getLogger("muntin")


class Mirrors:
    """The mirrors of a table of windows. Where a mirror does not answer, each file may be named by it."""

    def __init__(self, table: AnyPath) -> None:
        self._table, self._named, self._answered = table, set[str](), True
        own, name = {relative(path, table / METADATA).partition("/")[0] for path, *_ in self.own()}, "that no note tells of"
        try:
            if noted := mirrors_of(table):
                mirrors = extension("mirrors", "iceberg")
            self._answered = own <= {mirrors.own_folder(*each) for each in noted}
            for catalog, name in noted:
                self._named |= mirrors.named_files(catalog, name, Reach(of_environment))
        except (SinkError, MuntinError, OSError) as wrong:
            self._answered = False
            _log.warning("%s: no file is removed, as its mirror %s may name it: %s", table, name, wrong)

    def names(self, path: AnyPath) -> bool:
        """Whether a mirror names a file, or may name it."""
        return not self._answered or str(path) in self._named

    def own(self) -> Sequence[tuple[AnyPath, int, float]]:
        """The files of mirrors themselves, as `sizes_below` has them."""
        return sizes_below(self._table / METADATA)
