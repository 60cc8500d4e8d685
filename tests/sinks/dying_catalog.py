"""A catalog of SQLite, and files, in which a process dies at a step, before it or after it; or whose answers get lost."""

from dataclasses import dataclass, field
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import PyArrowFileIO

from tests.storage.crashing import Crash


@dataclass
class Fate:
    """Counts steps; at the step with the number or the name `at` it ends. `error`: what is raised then."""

    at: int | str = -1
    after: bool = False
    error: Any = Crash
    said: list[str] = field(default_factory=list)

    def step(self, what: str, do: Any, *given: Any, **more: Any) -> Any:
        here = self.at in (len(self.said), what) and self.at not in self.said
        self.said.append(what)
        if here and not self.after:
            raise self.error(what)
        try:
            return do(*given, **more)
        finally:
            if here:
                raise self.error(what)


FATE = Fate()


class DyingFiles(PyArrowFileIO):
    """Files whose making and removal are steps."""

    def new_output(self, location: str) -> Any:
        return FATE.step("write", super().new_output, location)

    def delete(self, location: Any) -> None:
        FATE.step("delete", super().delete, location)


class DyingCatalog(SqlCatalog):
    """A catalog whose questions are steps."""

    def load_table(self, identifier: Any) -> Any:
        return FATE.step("load", super().load_table, identifier)

    def create_namespace(self, *given: Any, **more: Any) -> None:
        FATE.step("create namespace", super().create_namespace, *given, **more)

    def create_table(self, *given: Any, **more: Any) -> Any:
        return FATE.step("create table", super().create_table, *given, **more)

    def drop_table(self, *given: Any, **more: Any) -> None:
        FATE.step("drop table", super().drop_table, *given, **more)

    def commit_table(self, *given: Any, **more: Any) -> Any:
        return FATE.step("commit", super().commit_table, *given, **more)
