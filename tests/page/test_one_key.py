"""Windows of one key, read by predicate, are those of the whole table: of each kind, closed and open ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muntin import aggregates as agg
from muntin import windows
from muntin.definition.instants import from_us, instant_us
from muntin.extensions.page.views.timeline import may_be_open
from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.one_key import ALL_US, around_us, combined_of_key, rows_of_key
from muntin.jobs.inspect.read import read
from muntin.jobs.published.pending import pending_window
from muntin.jobs.state.bound import bind
from tests.end_to_end.hourly import Hourly, hour, times

KINDS: dict[str, Any] = {
    "tumbling": windows.tumbling("30m"),
    "sliding": windows.sliding("3h", step="30m", grace="1h"),
    "cumulating": windows.cumulating("2h", step="30m"),
    "unique": windows.unique_sliding("40m"),
    "session": windows.session("25m"),
    "days": windows.tumbling("1d", timezone="America/New_York"),
    "all_time": windows.all_time(),
    "trailing": windows.trailing(months=1),
}
HOURS, KEYS = 6, 4
MINUTE = 60_000_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Hourly:
    """Six hours of four keys, a fifth of the rows late; one key is null."""
    aggregates = {"n": agg.count(), "total": agg.sum("v")}
    made = Hourly(tmp_path_factory.mktemp("hourly"), other={"keys": ["k"], "windows": KINDS, "aggregates": aggregates})
    dice = np.random.default_rng(5)
    for at in range(HOURS):
        late = dice.random(30) < 0.2
        minutes = np.maximum(0, at * 60 + dice.integers(0, 60, 30) - late * dice.integers(60, 200, 30))
        keys = [None if k == KEYS - 1 else f"k{k}" for k in dice.integers(0, KEYS, 30).tolist()]
        made.write(f"{at:02d}.parquet", {"at": times(*minutes.tolist()), "k": keys, "v": dice.integers(0, 9, 30)})
    made.run(0, HOURS - 1)
    return made


def whole(made: Hourly, kind: str, key: str | None) -> dict[tuple[int, int], tuple[int, int, bool]]:
    """Start and end -> count, sum, whether open; of all windows, published and open ones."""
    table = read(made.pipeline, kind, root=made.root, provisional=True)
    rows = [row for row in table.to_pylist() if row["k"] == key]
    bounds = [tuple(instant_us(row[name], name) for name in ("window_start", "window_end")) for row in rows]
    return dict(zip(bounds, [(row["n"], row["total"], row["provisional"]) for row in rows], strict=True))


def of_key(made: Hourly, kind: str, key: str | None, within: tuple[int, int]) -> dict[tuple[int, int], tuple[int, int, bool]]:
    """The same, by the states of the key."""
    bound = bind(made.pipeline, made.root)
    todo = pending_window(bound, kind)
    found = {}
    for one in combined_of_key(bound, todo, [key], within):
        for row in np.flatnonzero(rows_of_key(one.windows, ["k"], [key])).tolist():
            bounds = int(one.assignment.start[row]), int(one.assignment.end[row])
            values = one.windows.slice(row, 1).to_pylist()[0]
            found[bounds] = values["n"], values["total"], bool(one.closed[row] >= HOURS)
    return found


@pytest.mark.parametrize("key", ["k0", "k1", None])
@pytest.mark.parametrize("kind", KINDS)
def test_all_windows_of_a_key(made: Hourly, kind: str, key: str | None) -> None:
    assert of_key(made, kind, key, ALL_US) == whole(made, kind, key)


@pytest.mark.parametrize("kind", KINDS)
def test_the_windows_over_an_instant_need_the_frames_around_it_alone(made: Hourly, kind: str) -> None:
    every, bound = whole(made, kind, "k0"), bind(made.pipeline, made.root)
    width = bound.frames_of(kind).width_us
    for minute in range(0, HOURS * 60, 25):
        at = instant_us(hour(0), "") + minute * MINUTE
        found = of_key(made, kind, "k0", around_us(bound.windows[kind], width, at))
        over = {bounds: row for bounds, row in every.items() if bounds[0] <= at < bounds[1]}
        assert {bounds: found.get(bounds) for bounds in over} == over


@pytest.mark.parametrize("kind", KINDS)
def test_where_no_window_may_be_open_none_is(made: Hourly, kind: str) -> None:
    bound = bind(made.pipeline, made.root)
    todo, opened = pending_window(bound, kind), [start for (start, _), row in whole(made, kind, "k0").items() if row[2]]
    highs = [instant_us(hour(at), "") for at in range(-80, HOURS + 2)]
    closed = [high for high in highs if not may_be_open(bound, todo, high)]
    assert not [(high, start) for high in closed for start in opened if start < high]
    assert closed or kind in ("all_time", "trailing")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "all_time"])
def test_every_window_is_explained_by_its_rows(made: Hourly, kind: str) -> None:
    for (start, end), (count, _, opened) in whole(made, kind, "k1").items():
        told = explain(made.pipeline, kind, root=made.root, key=["k1"], at=from_us(start))
        (this,) = [one for one in told.windows if (one.window["window_start"], one.window["window_end"]) == (from_us(start), from_us(end))]
        assert sum(part.rows for part in this.parts) == count
        assert (this.closed_by is None) == opened


def test_a_text_that_is_no_value_of_the_column_is_refused(tmp_path: Path) -> None:
    made = Hourly(tmp_path, other={"keys": ["k"]})
    made.write("00.parquet", {"at": times(1), "k": [7]})
    made.run()
    assert explain(made.pipeline, "hour", root=made.root, key=["7"], at=hour(0)).windows
    with pytest.raises(Exception, match="'seven' cannot be read as int64, which 'k' is"):
        explain(made.pipeline, "hour", root=made.root, key=["seven"], at=hour(0))
