"""Windows published by another definition are never given under the names of this definition, whoever asks.

states of     sum(v)  n             the same states give means, other graces, other sizes
published     sum of each hour      until a run or `promote` derives the windows anew, readers are refused
"""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import Limits, Pipeline, Renamed, Retain, as_of, over, read, run, sinks, sources, sql, windows
from muntin import aggregates as agg
from muntin.errors import StateError
from muntin.jobs.inspect.late import late
from muntin.jobs.inspect.some_windows import Asked, some_windows
from muntin.jobs.inspect.status import status
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.promote import promote
from muntin.tasks import Local
from tests.case_counts import cases, some
from tests.sinks.test_sending import REACH

START, HOUR = datetime(2024, 5, 1, tzinfo=UTC), timedelta(hours=1)
HERE = Local(1)
ROWS = pa.table({"at": pa.array([START + 5 * HOUR], pa.timestamp("us", "UTC")), "k": ["a"]})
READERS: dict[str, Callable[[Pipeline, Path], Any]] = {
    "read": lambda p, root: read(p, "hour", root=root),
    "a column": lambda p, root: read(p, "hour", root=root, columns=["s"]),
    "provisional": lambda p, root: read(p, "hour", root=root, provisional=True),
    "dense": lambda p, root: read(p, "hour", root=root, dense=True),
    "changes": lambda p, root: read(p, "hour", root=root, changes_since=-1),
    "sql": lambda p, root: sql(p, "select s from hour", root=root),
    "as_of": lambda p, root: as_of(p, "hour", ROWS, at="at", root=root),
    "as_of on schedule": lambda p, root: as_of(p, "hour", ROWS, at="at", root=root, known="ended", provisional=True),
    "late": lambda p, root: late(p, "hour", root=root),
    "the page": lambda p, root: some_windows(bind(p, root), "hour", Asked(), limit=9),
    "a pipeline over it": lambda p, root: run(above(p), root=root, start=START, end=START + HOUR, spark=HERE),
}
EDITS: dict[str, dict[str, Any]] = {
    "another aggregate": {"aggregates": {"s": agg.mean("v")}},
    "names that change places": {"aggregates": {"s": agg.count(), "n": agg.sum("v")}},
    "a derived column": {"aggregates": {"s": agg.sum("v"), "twice": "s * 2"}},
    "another grace": {"windows": {"hour": windows.tumbling("1h", grace="5m")}},
    "other windows": {"windows": {"hour": windows.sliding("2h", step="1h")}},
    "windows that hide": {"windows": {"hour": windows.tumbling("1h", having="s > 2")}},
}


def definition(folder: Path, **other: Any) -> Pipeline:
    given = {
        "windows": {"hour": windows.tumbling("1h")},
        "aggregates": {"s": agg.sum("v")},
        "retain": Retain(states_in_windows=True),
    } | other
    source = sources.files(str(folder / "{start:%H}.csv"), event_time="at", types={"v": "DOUBLE"})
    return Pipeline(name="p", source=source, schedule="1h", start=START, keys=["k"], **given)


def above(upstream: Pipeline) -> Pipeline:
    source = sources.windows(upstream, "hour")
    return Pipeline(
        name="above", source=source, schedule="1h", start=START, windows={"h": windows.tumbling("1h")}, aggregates={"n": agg.count()}
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for hour in range(3):
        at = START + hour * HOUR + HOUR / 3
        (tmp_path / f"{hour:02d}.csv").write_text(f"at,k,v\n{at.isoformat()},a,1.5\n{at.isoformat()},a,2.5\n", encoding="utf-8")
    return tmp_path


def whole(pipeline: Pipeline, root: Path) -> pa.Table:
    run(pipeline, root=root, start=START, end=START + 3 * HOUR, spark=HERE)
    return read(pipeline, "hour", root=root)


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_gives_old_values_under_a_new_meaning(reader: str, data: Path) -> None:
    root, changed = data / "state", definition(data, aggregates={"s": agg.mean("v")})
    whole(definition(data), root)
    with pytest.raises(StateError, match=r"another definition than this \(aggregates: 's' was sum\(v\), is now mean\(v\)\).*promote FILE"):
        READERS[reader](changed, root)
    promote(changed, root=root, spark=HERE)  # as the message says
    READERS[reader](changed, root)
    assert read(changed, "hour", root=root)["s"].to_pylist() == [2.0] * 3
    with pytest.raises(StateError, match=r"superseded.*promote FILE"):
        READERS[reader](definition(data), root)


@pytest.mark.parametrize("edit", some(EDITS, one_in=2))
def test_a_sink_gets_no_values_of_another_definition(edit: str, data: Path) -> None:
    def asked(**more: Any) -> Pipeline:
        to = sinks.spark(lambda changes, _: got.append(changes.num_rows), window="hour", name="lake", patience="1m")
        return definition(data, to=to, **more)

    got, root, changed = list[int](), data / "state", asked(**EDITS[edit])
    whole(definition(data), root)
    (refused,) = send(bind(changed, root), REACH)
    assert (got, refused.blocked) == ([], True)
    assert "follow another definition" in refused.line
    assert "promote FILE" in refused.line
    promote(replace(changed, to=()), root=root, spark=HERE)
    (sent,) = send(bind(changed, root), REACH)
    assert (got, sent.failed) == ([read(changed, "hour", root=root).num_rows], "")


@pytest.mark.parametrize("edit", some(EDITS, one_in=2))
def test_whatever_the_edit_readers_get_what_a_clean_run_gives_or_are_refused(edit: str, data: Path) -> None:
    root, changed = data / "state", definition(data, **EDITS[edit])
    whole(definition(data), root)
    with pytest.raises(StateError, match="follow another definition"):
        read(changed, "hour", root=root)
    assert status(changed, root=root).redefined == ("hour",)
    run(changed, root=root, start=START + 2 * HOUR, end=START + 3 * HOUR, spark=HERE)
    assert status(changed, root=root).redefined == ()
    assert read(changed, "hour", root=root).equals(whole(changed, data / "clean"))


def test_words_about_results_are_no_other_definition(data: Path) -> None:
    table = whole(definition(data), data / "state")
    told = definition(
        data, description="of sensors", aggregates={"s": agg.sum("v", unit="m", comment="metres")}, limits=Limits(fresh_within="1d")
    )
    assert read(told, "hour", root=data / "state").equals(table)


def test_ranges_come_from_states_and_need_no_run(data: Path) -> None:
    whole(definition(data), data / "state")
    changed = definition(data, aggregates={"s": agg.mean("v")})
    assert over(changed, START, START + 3 * HOUR, root=data / "state")["s"].to_pylist() == [2.0]


def test_a_story_of_edits_gives_right_windows_or_none(data: Path) -> None:
    dice, root, clean = random.Random(8), data / "state", dict[str, pa.Table]()
    edits = {"none": {}, **EDITS}
    whole(definition(data), root)
    refused = 0
    for _ in range(cases(300)):
        name = dice.choice([*edits])
        now = definition(data, **edits[name])
        if name not in clean:
            clean[name] = whole(now, data / "clean" / name.replace(" ", "_"))
        try:
            assert read(now, "hour", root=root).equals(clean[name])
        except StateError:
            refused += 1
            if dice.random() < 0.5:
                promote(now, root=root, spark=HERE)
                assert read(now, "hour", root=root).equals(clean[name])
    assert refused


def test_a_window_that_is_renamed_is_never_empty(data: Path) -> None:
    table = whole(definition(data), data / "state")
    renamed = replace(definition(data, windows={"stunde": windows.tumbling("1h")}), renamed=Renamed(windows={"stunde": "hour"}))
    with pytest.raises(StateError, match=r"still named 'hour'.*promote FILE"):
        read(renamed, "stunde", root=data / "state")
    promote(renamed, root=data / "state", spark=HERE)
    assert read(renamed, "stunde", root=data / "state").equals(table)
