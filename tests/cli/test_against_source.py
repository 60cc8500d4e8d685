"""`muntin doctor --against-source`: windows computed again by the oracle; what differs is named, and what is not judged."""

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.doctor.repair import repair
from muntin.jobs.published.ledger_segments import is_segment
from muntin.jobs.published.window_files import write_windows
from muntin.jobs.published.window_tables import published
from muntin.jobs.state.bound import Bound, bind
from muntin.store.paths import batches_of_windows
from muntin.store.reading import read_files
from muntin.store.store import Change
from muntin.testing.against_source.judged import against_source
from muntin.testing.against_source.same_words import CALLS, same_aggregate, same_kind
from tests.case_counts import random_seeds
from tests.catalogue.aggregates import CARRYING, ROWS
from tests.catalogue.kinds import KINDS
from tests.cli.conftest import RANGE, Muntin, Project
from tests.tables.delta_tables import append

START = datetime(2024, 3, 8, tzinfo=UTC)
DAYS = 4
NEW_YORK = "America/New_York"
BOUNDED = {
    "hour": windows.tumbling("1h", grace="1h"),
    "odd": windows.tumbling("7m", align_to="00:01"),
    "six": windows.sliding("6h", step="1h", grace="3h", allowed_lateness="1d"),
    "sample": windows.sliding("1h", step="5h", gaps=True),
    "right": windows.sliding("2h", step="30m", closed="right"),
    "day": windows.tumbling("1d", timezone=NEW_YORK),
    "business": windows.tumbling("1bd", timezone=NEW_YORK),
    "week": windows.tumbling("1w", timezone=NEW_YORK),
    "so_far": windows.cumulating("1d", step="6h", timezone=NEW_YORK),
    "month": windows.cumulating("1mo", step="1d"),
    "two_days": windows.trailing(days=2, timezone=NEW_YORK),
    "evening": windows.trailing(hours=5, every="1d"),
    "visit": windows.session("20m", grace="2h"),
    "split": windows.session("40m", touching="split", allowed_lateness="1d"),
    "cut": windows.session("1h", max_length="2h"),
    "ended": windows.session("1h", until="v = 3", grace="1h"),
}
RESULTS = {
    "n": agg.count(),
    "values": agg.count("v"),
    "high": agg.count_if("v > 3"),
    "total": agg.sum("v"),
    "of_floats": agg.sum("x"),
    "price": agg.sum("d"),
    "mean_price": agg.mean("d"),
    "least": agg.min("x"),
    "most": agg.max("d"),
    "spread": agg.variance("d"),
    "width": agg.stddev("v", population=True),
    "first": agg.first("v", where="x > 0.5"),
    "last": agg.last("x"),
    "different": agg.count("x", distinct=True),
    "all": agg.all_of("v > 1"),
    "any": agg.any_of("v > 7", where="x > 0.2"),
    "some": agg.any_value("v"),
    "latest": agg.last("v", ignore_nulls=True),
    "middle": agg.median("v"),
    "share": "high / n",
}


def rows(dice: random.Random, day: int) -> list[dict[str, Any]]:
    """Some of yesterday evening, and some of tomorrow morning."""
    return [
        {
            "at": START + timedelta(days=day, minutes=dice.randrange(-300, 26 * 60)),
            "k": dice.choice(["a", "b", None]),
            "v": dice.choice([None, *range(9)]),
            "x": dice.choice([None, float("nan"), dice.random(), dice.random()]),
            "d": Decimal(dice.randrange(1000)) / 100,
        }
        for _ in range(60)
    ]


def shop(folder: Path, seed: int = 1, **more: Any) -> Pipeline:
    dice = random.Random(seed)
    (folder / "in").mkdir(exist_ok=True)
    for day in range(DAYS):
        table = pa.Table.from_pylist(rows(dice, day))
        pq.write_table(table, folder / "in" / f"{START + timedelta(days=day):%Y-%m-%d}.parquet")
    given: dict[str, Any] = {
        "name": "shop",
        "source": sources.files(f"{folder}/in/{{start:%Y-%m-%d}}.parquet", event_time="at"),
        "schedule": "@daily",
        "start": START,
        "keys": ["k"],
        "where": "v is null or v <> 4",
        "windows": {"hour": BOUNDED["hour"]},
        "aggregates": RESULTS,
    }
    return Pipeline(**given | more)


def ran(pipeline: Pipeline, folder: Path) -> Path:
    run(pipeline, root=folder / "state", start=START, end=START + timedelta(days=DAYS))
    return folder / "state"


@pytest.mark.parametrize("seed", random_seeds(2))
@pytest.mark.parametrize("policy", ["interval", "events"])
def test_windows_of_a_run_are_the_same(policy: str, seed: int, tmp_path: Path) -> None:
    pipeline = shop(tmp_path, seed, watermark=policy, windows=BOUNDED, rollups={"all": []})
    said = against_source(pipeline, root=ran(pipeline, tmp_path), count=112, seed=seed)
    assert [each for each in said.drawn if each.differs or each.not_judged] == []
    assert {each.window for each in said.drawn} >= {*BOUNDED}
    assert sum(each.rows for each in said.drawn) > len(said.drawn)
    assert said.left_out == [("middle", "the oracle does not know median(v)"), ("share", "SQL over results")]
    assert {*said.compared["six.all"]} == {*RESULTS} - {"middle", "share"}


def falsified(bound: Bound, window: str, column: str) -> None:
    """Add 1 to a value of a published window, in a file that is as whole as before."""
    now = published(bound.store, window)
    file = next(each for each in now.snapshot.files if not is_segment(each.path))
    folder = bound.table(now.table)
    table = read_files(folder, replace(now.snapshot, files=(file,)))
    wrong = pc.add(table[column], pa.array([1] + [0] * (len(table) - 1))).cast(table.schema.field(column).type)
    table = table.set_column(table.column_names.index(column), table.schema.field(column), wrong)
    first, last = batches_of_windows(file.path) or (0, 0)
    anew = write_windows(table, folder, first, last, 0, bound.keys_of(window))
    schema = now.snapshot.schema
    assert schema is not None
    bound.store.commit(now.table, now.snapshot, Change(schema, [anew], [file], ["shop/hour"]))


def test_a_falsified_window_is_found(tmp_path: Path) -> None:
    pipeline = shop(tmp_path)
    root = ran(pipeline, tmp_path)
    falsified(bind(pipeline, root), "hour", "n")
    assert diagnose(pipeline, root=root, deep=True) == []
    said = against_source(pipeline, root=root, count=10_000, seed=1)
    [wrong] = [each for each in said.drawn if each.differs]
    assert len(said.drawn) == said.published
    assert wrong.differs == [f"n is {wrong.published['n']}, by the source {wrong.rows}"]
    Path(wrong.file).rename(tmp_path / "aside")  # as the finding advises
    assert repair(pipeline, root=root)
    assert [each for each in against_source(pipeline, root=root, count=10_000, seed=1).drawn if each.differs] == []


def test_the_command_says_what_it_compared_and_what_not(muntin: Muntin, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(project.file).read_text(encoding="utf-8").replace('windows.session("2h")', 'windows.session("2h", gap_by="to_hours(1)")')
    Path(project.file).write_text(text, encoding="utf-8")
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    monkeypatch.setenv("MUNTIN_SEED", "4711")
    said = muntin(*project.arguments("doctor", "--against-source", "50"))
    assert said.status == 0, said.err
    for text in (
        "quarter  sensor=ä  2020-01-01        2020-01-01T06:00     1  the same",
        "compared in quarter: readings, total, least, who",
        "not judged: visit: the oracle does not know this kind",
        "3 windows of 3 drawn (MUNTIN_SEED=4711 draws them again), 5 rows of the source read: 3 the same, 0 different, 0 not judged",
    ):
        assert text in said.out
    assert json.loads(muntin(*project.arguments("doctor", "--against-source", "1", "--json")).out)["against_source"]["rows"] == 2
    monkeypatch.setenv("MUNTIN_SEED", "x")
    assert "MUNTIN_SEED='x' is no whole number" in muntin(*project.arguments("doctor", "--against-source", "1")).err


def test_rows_that_are_not_as_they_were_read_are_not_judged(tmp_path: Path) -> None:
    pipeline = shop(tmp_path)
    root = ran(pipeline, tmp_path)
    changed = tmp_path / "in/2024-03-09.parquet"
    pq.write_table(pq.read_table(changed).slice(1), changed)
    said = against_source(pipeline, root=root, count=1000, seed=1)
    judged = [each for each in said.drawn if not each.not_judged]
    assert judged
    assert [each for each in judged if each.differs] == []
    assert {each.not_judged.partition(": ")[2] for each in said.drawn} == {"", "a file has another size"}


NOT_KNOWN = {"all_time", "arrival", "between", "given", "progressive_sort", "unique_sliding", "while_", "while_same"}


def test_each_kind_and_each_aggregate_is_judged_or_named(tmp_path: Path) -> None:
    """What the oracle does not know is `None` for it, and `left_out` of a verdict."""
    assert {kind.name for kind in KINDS if same_kind(kind.window) is None} == NOT_KNOWN
    calls = [row for row in (*ROWS, *CARRYING) if same_aggregate(row.made())]
    assert {row.made().name for row in calls} == {call.make("x").name for call in CALLS}
    pipeline = shop(
        tmp_path, windows={"hour": BOUNDED["hour"], "visit": windows.session("1h", gap_by="to_minutes(v)")}, aggregates={"m": agg.mode("v")}
    )
    said = against_source(pipeline, root=ran(pipeline, tmp_path), count=5, seed=1)
    assert said.left_out == [("m", "the oracle does not know mode(v)"), ("visit", "the oracle does not know this kind")]
    assert (said.compared, {each.window for each in said.drawn}) == ({"hour": []}, {"hour"})


def test_a_delta_table_is_judged_too(tmp_path: Path) -> None:
    dice = random.Random(5)
    for day in range(DAYS):
        append(tmp_path / "table", pa.Table.from_pylist(rows(dice, day)), START + timedelta(days=day, hours=12))
    pipeline = shop(tmp_path, source=sources.table(str(tmp_path / "table"), event_time="at"))
    said = against_source(pipeline, root=ran(pipeline, tmp_path), count=20, seed=1)
    assert len(said.drawn) == 20
    assert [each for each in said.drawn if each.differs or each.not_judged] == []


@pytest.mark.gx
def test_the_readme_shows_what_is_said(muntin: Muntin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("$ MUNTIN_SEED=1 muntin doctor dags/sales.py --against-source 2\n")[2].partition("```")[0]
    assert muntin("new", str(tmp_path / "shop")).status == 0
    monkeypatch.chdir(tmp_path / "shop")
    assert muntin("run", "dags/sales.py", "--no-validate").status == 0
    monkeypatch.setenv("MUNTIN_SEED", "1")
    said = muntin("doctor", "dags/sales.py", "--against-source", "2").out
    assert shown.splitlines() == said.splitlines()[: shown.count("\n")]
