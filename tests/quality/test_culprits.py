"""The batches that failing windows are made of: as `explain` tells a window's parts, for each window of several kinds.

batch          1            2            3
rows     late: *  *  *  |  *  *  *    |  *  *  *
window        [=====)            of which batches are its rows, the closing batch aside
"""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.jobs.inspect.explain import explain
from muntin.jobs.publish.culprits import culprits
from muntin.jobs.state.state_folders import bind_existing
from muntin.quality.report import QualityReport

START = datetime(2024, 1, 1, tzinfo=UTC)
KINDS = {
    "tumbling": windows.tumbling("6h", grace="3h"),
    "corrected": windows.tumbling("6h", allowed_lateness="12h"),
    "sliding": windows.sliding("6h", step="2h", grace="1h"),
    "until": windows.sliding("6h", step="2h", closed="right"),
    "cumulating": windows.cumulating("12h", step="4h"),
    "visit": windows.session("90m"),
}


@pytest.fixture(scope="module")
def hours(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pipeline, Path]:
    """Six batches of six hours; every third row is up to nine hours late, or on a border."""
    home, dice = tmp_path_factory.mktemp("hours"), random.Random(7)
    for batch in range(6):
        begin = START + timedelta(hours=6 * batch)
        late = (timedelta(minutes=dice.choice([0, 0, dice.randrange(540)])) for _ in range(14))
        rows = [(begin + timedelta(hours=dice.randrange(6), minutes=dice.choice([0, 25])) - each, dice.choice("ab")) for each in late]
        text = "".join(f"{at:%Y-%m-%dT%H:%M:%SZ},{key},1\n" for at, key in rows)
        (home / f"{begin:%Y-%m-%dT%H}.csv").write_text("at,key,n\n" + text)
    source = sources.files(f"{home}/{{start:%Y-%m-%dT%H}}.csv", event_time="at")
    pipeline = Pipeline(
        name="hours", source=source, schedule="0 */6 * * *", start=START, keys=["key"], windows=KINDS, aggregates={"n": agg.count()}
    )
    run(pipeline, root=home / "state", start=START, end=START + timedelta(hours=36))
    return pipeline, home / "state"


@pytest.mark.parametrize("name", [name for name in KINDS if name != "until"])
def test_they_are_the_batches_of_the_window_s_parts(hours: tuple[Pipeline, Path], name: str) -> None:
    pipeline, root = hours
    bound, several = bind_existing(pipeline, root), 0
    for row in read(pipeline, name, root=root).to_pylist():
        explained = explain(pipeline, name, root=root, key=[row["key"]], at=row["window_start"]).windows
        (parts,) = (
            each.parts
            for each in explained
            if (each.window["window_start"], each.window["window_end"]) == (row["window_start"], row["window_end"])
        )
        found = culprits(bound, name, QualityReport(name, 1, (), failing=(row,)))
        wanted = sorted({instant_us(part.batch, "batch") for part in parts})
        assert found == tuple(wanted), row
        several += len(wanted) > 1
    assert several > 3


def test_nothing_is_said_where_states_do_not_say_it(hours: tuple[Pipeline, Path]) -> None:
    pipeline, root = hours
    bound = bind_existing(pipeline, root)
    assert culprits(bound, "tumbling", QualityReport("tumbling", 1, ())) is None
    for name, asked in {
        "until": pipeline,  # frames begin behind their borders
        "tumbling": replace(pipeline, windows={"tumbling": KINDS["tumbling"]}, aggregates={"n": agg.last("n", carry="1d")}),
    }.items():
        (row, *_) = read(pipeline, name, root=root).to_pylist()
        assert culprits(replace(bound, pipeline=asked), name, QualityReport(name, 1, (), failing=(row,))) is None
