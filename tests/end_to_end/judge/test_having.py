"""Windows hidden by `having`: published, read, looked up and reported as the oracle says, in every way to run; refused when bound."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, as_of, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, SourceError
from muntin.jobs.inspect.explain import explain
from muntin.jobs.schema_check.source_columns import bound_types
from muntin.jobs.state.bound import bind
from muntin.jobs.state.fingerprint import derivation, fingerprint
from tests.case_counts import seeds
from tests.catalogue.kinds import called
from tests.end_to_end.judge import test_as_of
from tests.end_to_end.judge.scenario_on_disk import bench
from tests.end_to_end.judge.scenarios import Scenario, scenario
from tests.end_to_end.judge.test_random_batches import WAYS, judged
from tests.end_to_end.judge.verdict import every
from tests.storage.three_batches import HERE

START = datetime(2024, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TYPES = {"t": pa.timestamp("us", tz="UTC"), "k": pa.string(), "v": pa.int64()}
HAVING = "n > 1 and double > 6"


def hiding(seed: int, part: int, batches: int = 6) -> Scenario:
    """A scenario with some of its windows, which hide some of their rows; and rolled up."""
    case = scenario(seed, batches)
    some = dict([*case.windows.items()][seed % part :: part])
    rolled_up = case.keys and not any(called(window).made_of.of_rows for window in some.values())
    return replace(case, windows=some, having=True, rollups={"all": ()} if rolled_up else {})


@pytest.mark.parametrize("seed", seeds(2))
def test_every_way_shows_what_the_oracle_says(seed: int, tmp_path: Path) -> None:
    case = hiding(seed, 4)
    judged(bench(case, tmp_path, HERE), WAYS[(seed + 5) % len(WAYS)])


def test_reports_count_what_is_hidden_and_look_ups_do_not_know_it(tmp_path: Path) -> None:
    case = hiding(1, 5, 4)
    made = bench(case, tmp_path, HERE)
    reports = made.run("state").batches
    for name in case.windows:
        all_of_them = every(case, name).published
        for number, report in enumerate(reports):
            shown = [case.shown(row) for row in all_of_them if row["batch"] == number]
            assert (report.windows_closed[name], report.windows_hidden[name]) == (len(shown), shown.count(False))
    assert any(report.windows_hidden[name] for report in reports for name in case.windows)
    assert not test_as_of.wrong(made, case)


# minute   0            1       2          3
# v        1, 2, 6      4       null, 9    5, 5 (open where windows wait)
SECONDS: dict[int, list[tuple[int, int | None]]] = {
    0: [(0, 1), (10, 2), (20, 6)],
    1: [(60, 4)],
    2: [(120, None), (130, 9)],
    3: [(185, 5), (186, 5)],
}


def write(folder: Path, minute: int, seconds: list[tuple[int, int | None]]) -> None:
    rows = [{"t": START + timedelta(seconds=s), "k": "a", "v": v} for s, v in seconds]
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(list(TYPES.items()))), folder / f"{minute:02}.parquet")


def pipeline(folder: Path, **changes: Any) -> Pipeline:
    for minute in range(4):
        write(folder, minute, SECONDS[minute])
    asked: dict[str, Any] = {
        "name": "hiding",
        "source": sources.files(f"{folder}/{{start:%M}}.parquet", event_time="t"),
        "schedule": MINUTE,
        "start": START,
        "keys": ["k"],
        "windows": {"w": windows.tumbling("1m", having=HAVING)},
        "aggregates": {"n": agg.count(), "total": agg.sum("v"), "double": "2 * total"},
    }
    return Pipeline(**(asked | changes))


def test_a_correction_shows_a_window_that_was_hidden_and_hides_another(tmp_path: Path) -> None:
    flow, root = pipeline(tmp_path), tmp_path / "root"
    run(flow, root=root, start=START, end=START + 4 * MINUTE)
    assert read(flow, "w", root=root)["n"].to_pylist() == [3, 2, 2]
    version = int(read(flow, "w", root=root).schema.metadata[b"muntin.version"])
    write(tmp_path, 1, [(60, 4), (61, 1)])
    write(tmp_path, 2, [(120, 1), (130, None)])
    report = run(flow, root=root, start=START + MINUTE, end=START + 3 * MINUTE)
    assert [(row["window_start"].minute, row["change"]) for part in report.changed["w"] for row in part.rows()] == [(1, "new"), (2, "gone")]
    assert [batch.windows_hidden for batch in report.batches] == [{"w": 0}, {"w": 1}]
    since = read(flow, "w", root=root, changes_since=version).to_pylist()
    assert [(row["window_start"].minute, row["change"]) for row in since] == [(1, "new"), (2, "gone")]
    clean = pipeline(tmp_path, name="clean")
    write(tmp_path, 1, [(60, 4), (61, 1)])
    write(tmp_path, 2, [(120, 1), (130, None)])
    run(clean, root=root, start=START, end=START + 4 * MINUTE)
    assert read(clean, "w", root=root).equals(read(flow, "w", root=root))
    (hidden,) = explain(flow, "w", root=root, key=["a"], at=START + 2.5 * MINUTE).windows
    assert (hidden.hidden, hidden.window["total"]) == (HAVING, 1)
    (shown,) = explain(flow, "w", root=root, key=["a"], at=START).windows
    assert shown.hidden is None


KINDS = {
    "sliding": windows.sliding("2m", step="1m", having="n > 2"),
    "month": windows.tumbling("1mo", having="n > 20"),
    "so far": windows.cumulating("2m", step="1m", having="n > 2"),
    "trailing": windows.trailing(2, having="n > 20"),
    "session": windows.session("10s", having="n > 2"),
    "cut": windows.session("10s", max_length="30s", having="n > 2"),
    "unique": windows.unique_sliding("1m", having="n > 2"),
    "ever": windows.all_time(having="n > 20"),
    "rows": windows.arrival(windows.by_count(3), flush=True, having="total % 2 = 1"),
    "sorted": windows.progressive_sort(2, "v", flush=True, having="total > 2"),
}


def test_every_kind_hides(tmp_path: Path) -> None:
    """Against the same windows without `having`, filtered afterwards; open windows, too."""
    named = {name.replace(" ", "_"): kind for name, kind in KINDS.items()}
    hiding = pipeline(tmp_path, windows=named)
    plain = replace(hiding, name="plain", windows={name: replace(kind, having=None) for name, kind in named.items()})
    for flow in (hiding, plain):
        run(flow, root=tmp_path / "root", start=START, end=START + 4 * MINUTE)
    shown = 0
    for name, kind in named.items():
        every_one = read(plain, name, root=tmp_path / "root", provisional=True).to_pylist()
        holds = {"n > 2": lambda row: row["n"] > 2, "n > 20": lambda row: row["n"] > 20, "total % 2 = 1": lambda row: row["total"] % 2 == 1,
                 "total > 2": lambda row: row["total"] is not None and row["total"] > 2}[kind.having]  # fmt: skip
        wanted = [row for row in every_one if holds(row)]
        assert read(hiding, name, root=tmp_path / "root", provisional=True).to_pylist() == wanted, name
        assert len(wanted) < len(every_one), name
        shown += len(wanted)
    assert shown


def test_a_changed_having_reads_nothing_again(tmp_path: Path) -> None:
    flow, root = pipeline(tmp_path), tmp_path / "root"
    run(flow, root=root, start=START, end=START + 3 * MINUTE)
    for minute in range(3):
        (tmp_path / f"{minute:02}.parquet").unlink()
    more = replace(flow, windows={"w": windows.tumbling("1m", having="n = 1")})
    assert fingerprint(more) == fingerprint(flow)
    assert derivation(more, "w") != derivation(flow, "w")
    run(more, root=root, start=START + 3 * MINUTE, end=START + 4 * MINUTE)
    assert read(more, "w", root=root)["n"].to_pylist() == [1]


def test_a_hole_is_not_taken_for_an_empty_window(tmp_path: Path) -> None:
    flow, root = pipeline(tmp_path), tmp_path / "root"
    run(flow, root=root, start=START, end=START + 4 * MINUTE)
    with pytest.raises(DefinitionError, match="a hole may be a hidden window"):
        read(flow, "w", root=root, dense=True)
    asked = pa.table({"k": ["a", "a"], "at": pa.array([START + MINUTE, START + 2 * MINUTE], TYPES["t"])})
    assert as_of(flow, "w", asked, at="at", root=root)["n"].to_pylist() == [3, None]


def test_windows_over_windows_are_made_of_what_is_shown(tmp_path: Path) -> None:
    """Of the windows of minutes 0 to 2, which end at 1 to 3, minute 1 is hidden at first; later minute 2 is."""
    flow, root = pipeline(tmp_path), tmp_path / "root"
    longer = Pipeline(
        name="longer",
        source=sources.windows(flow, "w"),
        schedule=MINUTE,
        start=START,
        windows={"all": windows.tumbling("1h")},
        aggregates={"windows": agg.count(), "came": agg.sum("n")},
    )
    for each in (flow, longer):
        run(each, root=root, start=START, end=START + 3 * MINUTE)
    assert read(longer, "all", root=root, provisional=True).select(["windows", "came"]).to_pylist() == [{"windows": 2, "came": 5}]
    write(tmp_path, 1, [(60, 4), (61, 1), (62, 1), (63, 1)])
    write(tmp_path, 2, [(120, 1), (130, None)])
    for each in (flow, longer):
        run(each, root=root, start=START + MINUTE, end=START + 3 * MINUTE)
    assert read(longer, "all", root=root, provisional=True).select(["windows", "came"]).to_pylist() == [{"windows": 2, "came": 7}]


def test_a_rollup_without_a_key_of_the_condition_is_refused(tmp_path: Path) -> None:
    flow = pipeline(
        tmp_path,
        windows={"w": windows.tumbling("1m", having="k = 'a'")},
        rollups={"all": []},
        aggregates={"n": agg.count(), "total": agg.sum("v")},
    )
    with pytest.raises(DefinitionError, match=r"windows\['w.all'\], having: .* there is no column \"k\""):
        bound_types(bind(flow, tmp_path), {}, [[f"{tmp_path}/00.parquet"]])


WRONG = {
    "unknown column": ("late > 1", r"windows\['w'\], having: 'late > 1' does not fit .*A window has: k VARCHAR, .*double BIGINT"),
    "no condition": ("n", r"'n' is BIGINT, and no condition; compare it, as n > 0"),
    "other windows": ("lag(n) over (order by window_start) > 1", "window functions"),
    "all windows": ("sum(n) > 1", "aggregates"),
    "the clock": ("window_end < now()", "something else each time"),
    "two": ("n > 1, n > 2", "not one expression"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_conditions_are_refused_before_anything_is_read(name: str, tmp_path: Path) -> None:
    having, said = WRONG[name]
    with pytest.raises(DefinitionError, match=said):
        bound_types(
            bind(pipeline(tmp_path, windows={"w": windows.tumbling("1m", having=having)}), tmp_path), {}, [[f"{tmp_path}/00.parquet"]]
        )


def test_what_has_no_value_is_told(tmp_path: Path) -> None:
    flow = pipeline(tmp_path, windows={"w": windows.tumbling("1m", having="k::INTEGER > 1")})
    with pytest.raises(SourceError, match=r"having: .*Could not convert.*try_cast"):
        run(flow, root=tmp_path / "root", start=START, end=START + MINUTE)


def test_what_cannot_go_with_it_is_refused_when_built() -> None:
    with pytest.raises(DefinitionError, match="leave dense out, or having"):
        windows.sliding("2m", step="1m", dense=True, having="n > 1")
    with pytest.raises(DefinitionError, match="one of them out"):
        windows.arrival(windows.by_count(2), output="rows", having="n > 1")
    with pytest.raises(DefinitionError, match="'' is not a SQL condition"):
        windows.session("5m", having="")
