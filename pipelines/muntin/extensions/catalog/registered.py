"""A name in Spark's catalog, reached.

The catalog holds a name and an address; the table's own log says what the table is.

Let a name in a catalog lead to the table of a window.

The table says by its own properties what it holds, for all readers of Delta.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from muntin.definition.extras import need
from muntin.extensions.catalog.sink import CatalogSink
from muntin.files.paths import path_of
from muntin.jobs.published.promotion import texts
from muntin.jobs.published.window_tables import Published, current
from muntin.jobs.sending.catch_up import Sent
from muntin.jobs.sending.notes import Patience, mark_of, note_position, read_note
from muntin.jobs.state.bound import Bound
from muntin.sinks.delivery import Position, Reach
from muntin.sinks.errors import BlockedError, SinkError
from muntin.store.store import Texts, after_conflicts

_TRIES = 8


def register(
    bound: Bound, sink: CatalogSink, reach: Reach, patience: Patience, *, anew: bool = False
) -> Sent:
    """Let the properties of a window's table be true, and a name lead to the table."""
    window, before = str(sink.window), read_note(bound, sink)
    if current(bound.store, window).ledger is None:
        return Sent(sink.name, window, what="name")
    given_up = f"{bound.pipeline.name}: other runs keep publishing; the next run registers {window}"
    now = after_conflicts(_TRIES, given_up)(lambda: _described(bound, window, sink.owner))
    table, facts = bound.table(now.table), now.snapshot
    patience.alive()
    with sink.opened(bound.pipeline.name, reach) as opened:
        noted = before.position.target if before.position else ""
        is_new_name = opened.lead_to(str(table), facts.identity, noted, patience.alive, anew=anew)
    position = Position(facts.identity, facts.version, mark_of(table, facts.version), str(table))
    note_position(bound, sink, before, position)
    return Sent(sink.name, window, facts.version, int(is_new_name), what="name")


def _described(bound: Bound, window: str, owner: str) -> Published:
    """The published windows of a name, whose table has the properties that are true of it.

    Until a changed definition is promoted, these are the windows of the definition before, and keep its
    texts. A `ConflictError` if another run committed first.
    """
    now = current(bound.store, window)
    state = now.ledger.state if now.ledger else ""
    own = texts(bound, window) if state == bound.state else Texts(now.snapshot.name, now.snapshot.description)
    says = {
        "muntin.pipeline": bound.pipeline.name,
        "muntin.window": window,
        "muntin.definition": state,
        "muntin.owner": owner,
    }
    bound.store.describe(now.table, now.snapshot, replace(own, properties=says))
    return current(bound.store, window)


_FACT = re.compile(r"^(Type|Provider|Location|Table Properties): (.*)$", re.MULTILINE)
_PURGED = "external.table.purge=true"
"""Of such a table of Hive the files go with the name."""
_OF_DISK = re.compile(r"^file:/*(?=/)")
_DELTA = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_BY_ANEW = "drop it, choose another name, or let it lead here: muntin status --sinks FILE --send --anew"


@contextmanager
def opened(sink: CatalogSink, reach: Reach) -> Iterator[Registered]:
    """The name of a sink, in the catalog of a session."""
    need("pyspark")
    from pyspark.errors import PySparkException

    if reach.session is None:
        raise SinkError("there is no Spark here; muntin status --sinks FILE --send starts one")
    with reach.session() as session:
        try:
            yield Registered(session, sink)
        except PySparkException as wrong:
            raise SinkError(f"Spark says: {_first_line(wrong)}") from None


@dataclass(frozen=True, slots=True)
class Registered:
    """The name of a table of windows in a catalog."""

    session: Any
    sink: CatalogSink

    def lead_to(
        self, place: str, identity: str, before: str, alive: Callable[[], None], *, anew: bool = False
    ) -> bool:
        """Let the name lead to a table of windows; whether it did not yet.

        `identity`: of the table, as Delta's log has it; `before`: the address that the name led to by the
            last note, "" without a note;
        `alive` is called whenever the catalog answered; `anew`: whether the name is taken from another
        external table, whoever made it. The name of something else is refused, and a catalog that would
        forget it.
        """
        self._check_that_it_lasts()
        there = self._there()
        alive()
        if _leads(there, place):
            return False
        self._check_that_spark_finds(place, identity)
        alive()
        if there:
            self._check_that_it_may_go(there, before, anew=anew)
            # of an external table no file is removed
            self.session.sql(f"DROP TABLE IF EXISTS {_quoted(self.sink.table)}")
            alive()
        name, text = _quoted(self.sink.table), place.replace("\\", "\\\\").replace("'", "\\'")
        self.session.sql(f"CREATE SCHEMA IF NOT EXISTS {name.rpartition('.')[0]}")
        self.session.sql(f"CREATE TABLE IF NOT EXISTS {name} USING DELTA LOCATION '{text}'")
        if not _leads(self._there(), place):
            raise SinkError("another program gave the name to another table meanwhile")
        return True

    def _check_that_it_lasts(self) -> None:
        names, setting = self.sink.table.split("."), self.session.conf.get
        of_session = len(names) == 2 or names[0] == "spark_catalog"  # noqa: PLR2004 - schema and name
        own = setting("spark.sql.catalog.spark_catalog", _DELTA) != _DELTA
        if of_session and not own and setting("spark.sql.catalogImplementation", "in-memory") == "in-memory":
            raise BlockedError(
                "Spark's catalog ends with the session; set spark.sql.catalogImplementation=hive in"
                " spark-defaults.conf, and the address of your metastore, or name a catalog:"
                ' sinks.catalog("catalog.schema.{window}")'
            )

    def _there(self) -> dict[str, str]:
        """The facts of what has the name: its type; of a table provider, location and properties, too. Empty:
        nothing has it.

        The statement does not look at the address, so it answers for a name that leads to no table any more.
        """
        schema, _, table = self.sink.table.rpartition(".")
        if not self.session.catalog.databaseExists(_quoted(schema)):
            return {}
        rows = self.session.sql(f"SHOW TABLE EXTENDED IN {_quoted(schema)} LIKE '{table}'").collect()
        descriptions = [row["information"] for row in rows if not row["isTemporary"]]
        return dict(_FACT.findall(descriptions[0])) if descriptions else {}

    def _check_that_spark_finds(self, place: str, identity: str) -> None:
        """A cluster that does not share the disk would make an empty table there."""
        from pyspark.errors import AnalysisException

        quoted, shared = place.replace("`", "``"), "the root has to be a place that Spark and Muntin share"
        try:
            identity_in_spark = self.session.sql(f"DESCRIBE DETAIL delta.`{quoted}`").collect()[0]["id"]
        except AnalysisException as wrong:
            raise BlockedError(
                f"Spark finds no table of Delta at {place} ({_first_line(wrong)}); {shared}, "
                "and Spark needs Delta: spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension"
            ) from None
        if identity_in_spark != identity:
            raise BlockedError(f"Spark finds another table at {place}; {shared}")

    def _check_that_it_may_go(self, there: Mapping[str, str], before: str, *, anew: bool) -> None:
        """A name may be taken from an external table on request, or if it is ours and the table was moved."""
        kind, location = there.get("Type", "TABLE"), there.get("Location", "")
        if kind != "EXTERNAL" or _PURGED in there.get("Table Properties", ""):
            what = {"VIEW": "a view", "EXTERNAL": f"a table with {_PURGED}"}.get(
                kind, f"a {kind.lower()} table"
            )
            raise BlockedError(f"the name is that of {what}, which Muntin never drops; choose another name")
        moved = before and _plain(location) == before and not (path_of(before) / "_delta_log").exists()
        if not anew and not moved:
            what = f"a table of {there.get('Provider', 'another kind')} at {location}"
            raise BlockedError(f"the name is that of {what}, and not of these windows; {_BY_ANEW}")


def _first_line(wrong: Exception) -> str:
    return str(wrong).strip().partition("\n")[0]


def _quoted(name: str) -> str:
    """A name of several parts as SQL takes it, also with a word of SQL's own.

    >>> _quoted("lake.all.day")
    '`lake`.`all`.`day`'
    """
    return ".".join(f"`{part}`" for part in name.split("."))


def _leads(there: Mapping[str, str], place: str) -> bool:
    ours = there.get("Type") == "EXTERNAL" and there.get("Provider", "").lower() == "delta"
    return ours and _plain(there.get("Location", "")) == place


def _plain(location: str) -> str:
    """A location as Muntin writes it.

    >>> _plain("file:/srv/state"), _plain("file:///srv/state"), _plain("s3a://lake/state")
    ('/srv/state', '/srv/state', 's3a://lake/state')
    """
    return _OF_DISK.sub("", location)
