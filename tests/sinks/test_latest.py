"""One row for each key: the newest window that is closed, whatever is corrected, and the same that a look-up finds. With an expiry."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, as_of, run, sinks, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from tests.redis_server import client
from tests.sinks.places import PLACES, REACH, Keys, MariaTable, Place
from tests.storage.three_batches import HERE, HOUR, START

MINUTE = timedelta(minutes=1)
Visits = Sequence[tuple[str | None, float]]


def pipeline(folder: Path, **other: Any) -> Pipeline:
    definition: dict[str, Any] = {
        "name": "visits",
        "source": sources.files(str(folder / "data/{start:%H}.parquet"), event_time="t", missing="empty"),
        "schedule": "1h",
        "start": START,
        "keys": ["k"],
        "windows": {"visit": windows.session("10m")},
        "aggregates": {"n": agg.count()},
        "to": sinks.postgres("env:WAREHOUSE", table="newest", latest=True),
    }
    return Pipeline(**definition | other)


@dataclass
class Newest:
    """A pipeline whose windows go to one place, with a row for each key."""

    folder: Path
    place: Place
    more: Mapping[str, Any] = field(default_factory=dict)

    def ran(self, hour: int, visits: Visits) -> str:
        """An hour's file, its run, and what is said of sending."""
        (self.folder / "data").mkdir(exist_ok=True)
        at = [START + hour * HOUR + minute * MINUTE for _, minute in visits]
        rows = pa.table({"k": pa.array([key for key, _ in visits], pa.string()), "t": pa.array(at, pa.timestamp("us", "UTC"))})
        pq.write_table(rows, self.folder / f"data/{hour:02d}.parquet")
        borders = {"start": START + hour * HOUR, "end": START + (hour + 1) * HOUR}
        run(pipeline(self.folder, to=()), root=self.folder / "state", spark=HERE, **borders)
        return self.sent()

    def sent(self) -> str:
        to = self.place.sink(latest=True, **self.more)
        (sent,) = send(bind(pipeline(self.folder, to=to), self.folder / "state"), REACH)
        assert not sent.failed
        return sent.line

    def held(self) -> dict[str | None, tuple[float, int]]:
        """Key -> start of its window in minutes, and its count."""
        rows = self.place.held()
        assert len({key for key, _ in rows}) == len(rows)
        return {key: ((start - START) / MINUTE, n) for (key, start), n in rows.items()}


@pytest.fixture(params=[kind for kind in PLACES if kind.keeps_newest], ids=lambda kind: kind.__name__)
def newest(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Newest:
    place = PLACES[request.param](request, monkeypatch)
    place.value = "n"
    return Newest(tmp_path, place)


def test_the_newest_window_of_each_key(newest: Newest) -> None:
    """
    hours   0                1                2
    ann     5 6              65, then none    .
    bob     7                .                .       7, then 7 8
    null    .                .                120
    """
    newest.ran(0, [("ann", 5), ("ann", 6), ("bob", 7)])
    newest.ran(1, [("ann", 5)])
    newest.ran(2, [(None, 0)])
    assert newest.held() == {"ann": (65, 1), "bob": (7, 1), None: (120, 1)}
    newest.ran(0, [("ann", 5), ("bob", 7), ("bob", 8)])  # an older window of ann is corrected, too
    assert newest.held() == {"ann": (65, 1), "bob": (7, 2), None: (120, 1)}
    newest.ran(1, [])  # the newest window of ann is gone
    assert newest.held() == {"ann": (5, 1), "bob": (7, 2), None: (120, 1)}
    asked = pa.table({"k": ["ann", "bob", None], "seen": pa.array([START + 3 * HOUR] * 3, pa.timestamp("us", "UTC"))})
    found = as_of(pipeline(newest.folder), "visit", asked, at="seen", root=newest.folder / "state")
    told = {row["k"]: ((row["window_start"] - START) / MINUTE, row["n"]) for row in found.to_pylist()}
    assert told == newest.held()
    newest.ran(0, [("ann", 5)])  # bob was never there
    assert newest.held() == {"ann": (5, 1), None: (120, 1)}


@pytest.mark.parametrize("newest", [Keys, MariaTable], indirect=True)  # a table of PostgreSQL keeps the constraint that it has
def test_the_same_place_with_a_row_a_window_and_back(newest: Newest) -> None:
    newest.ran(0, [("ann", 5), ("ann", 30), ("bob", 7)])
    assert newest.held() == {"ann": (30, 1), "bob": (7, 1)}
    (sent,) = send(bind(pipeline(newest.folder, to=newest.place.sink()), newest.folder / "state"), REACH)
    newest.ran(1, [("ann", 0)])
    assert (sent.failed, newest.held()) == ("", {"ann": (60, 1), "bob": (7, 1)})


@pytest.mark.parametrize("newest", [Keys, MariaTable], indirect=True)
@pytest.mark.parametrize(("expires", "there"), [("36500d", {"ann": (30, 1), "bob": (7, 1)}), ("1d", {})])
def test_rows_expire_after_the_end_of_their_windows(newest: Newest, expires: str, there: Any) -> None:
    """Windows of 2024, by the clock of the server: a day after their end they are gone, and in a hundred years they are not."""
    newest.more = {"expires": expires}
    newest.ran(0, [("ann", 5), ("ann", 30), ("bob", 7)])
    assert newest.held() == there
    assert "0 changes of visit" in newest.sent()
    newest.ran(0, [("ann", 5), ("bob", 7)])
    assert newest.held() == {key: (5 if key == "ann" else at, n) for key, (at, n) in there.items()}


@pytest.mark.parametrize("newest", [Keys], indirect=True)
def test_a_key_expires_at_an_instant_of_its_window(newest: Newest) -> None:
    assert isinstance(newest.place, Keys)
    newest.more = {"expires": "36500d"}
    newest.ran(0, [("ann", 5)])
    with client(newest.place.address) as redis:
        assert redis.pexpiretime("t/ann") == int((START + 15 * MINUTE + timedelta(days=36_500)).timestamp() * 1000)
        assert json.loads(redis.get("t/ann"))["n"] == 1


def test_a_pipeline_without_keys_has_no_row_a_key(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="latest=True keeps a row for each key, and window 'visit' has no keys"):
        pipeline(tmp_path, keys=[])
