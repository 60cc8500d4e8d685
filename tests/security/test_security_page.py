"""Each sentence of docs/operating/security.md that `test_closed_doors.py` does not prove."""

import os
import pickle
import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin import Pipeline, Retain, read, run, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.cli.main import main
from muntin.definition.durations import UNITS
from muntin.definition.schedule import Interval
from muntin.errors import DefinitionError, StateError
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.inspect.explain import explain
from muntin.jobs.state.bound import bind
from muntin.laws.states import combined, lifted
from muntin.sources.new_session import connect
from muntin.tasks import Local
from tests.end_to_end.hourly import HOUR, START, Hourly, times


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


class Spell:
    """A pickle that makes a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.fixture
def hourly(tmp_path: Path) -> Hourly:
    made = Hourly(tmp_path)
    made.write("00.parquet", {"at": times(1, 2), "v": [1, 2]})
    return made


# The definition


def test_a_definition_runs_code(tmp_path: Path) -> None:
    file = tmp_path / "flow.py"
    file.write_text(f"open({str(tmp_path / 'made')!r}, 'w')")
    assert main(["check", str(file)]) == 2
    assert (tmp_path / "made").exists()


def test_memory_does_not_limit_a_single_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_SQL_MEMORY", "32MB")
    assert connect().execute("SELECT len(repeat('x', 100000000))").fetchall() == [(100_000_000,)]


def test_memory_is_four_fifths_of_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is set, so that it is DuckDB's own limit."""
    monkeypatch.delenv("MUNTIN_SQL_MEMORY", raising=False)
    [(limit,)] = connect().execute("SELECT current_setting('memory_limit')").fetchall()
    monkeypatch.setenv("MUNTIN_SQL_MEMORY", "80%")
    assert connect().execute("SELECT current_setting('memory_limit')").fetchall() == [(limit,)]


def test_files_of_events_are_not_kept_in_memory() -> None:
    """They are read once; DuckDB would keep them until memory is short."""
    assert connect(files=True).execute("SELECT current_setting('enable_external_file_cache')").fetchall() == [(False,)]


# The state


@pytest.mark.parametrize(("umask", "wanted"), [(None, 0o700), ("", 0o700), ("027", 0o750), ("022", 0o755), ("0", 0o777)])
@pytest.mark.parametrize("around", [0o022, 0o077])
def test_a_state_is_made_for_its_owner_unless_said(
    umask: str | None, wanted: int, around: int, hourly: Hourly, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the process would let others do with its files."""
    monkeypatch.delenv("MUNTIN_UMASK", raising=False)
    if umask is not None:
        monkeypatch.setenv("MUNTIN_UMASK", umask)
    before = os.umask(around)
    try:
        hourly.run()
    finally:
        os.umask(before)
    folder = Path(bind(hourly.pipeline, hourly.root).folder)
    assert [mode(each) for each in (hourly.root, folder.parent, folder)] == [wanted] * 3


def test_a_folder_that_exists_keeps_its_mode(hourly: Hourly) -> None:
    hourly.root.mkdir()
    hourly.root.chmod(0o755)
    hourly.run()
    home = Path(bind(hourly.pipeline, hourly.root).folder).parent
    home.chmod(0o750)
    hourly.run()
    assert [mode(hourly.root), mode(home)] == [0o755, 0o750]


@pytest.mark.parametrize("umask", ["rwx", "8", "0o77", "-1", "077777"])
def test_a_mask_that_is_none(umask: str, hourly: Hourly, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_UMASK", umask)
    with pytest.raises(StateError, match="MUNTIN_UMASK"):
        hourly.run()
    assert not hourly.root.exists()


def counted() -> Aggregate:
    return agg.own("own", "v", create=int, accumulate=lambda n, _: n + 1, combine=lambda a, b: a + b, finish=float)


def test_to_read_a_state_may_run_code(tmp_path: Path) -> None:
    """Two states of one window: the engine reads both pickles."""
    states = lifted(counted(), [[{"v": 1, "time": 0}], [{"v": 2, "time": 1}]], {"v": pa.int64()})
    (column,) = counted().fields[0].columns
    spell = pa.table(
        {name: [pickle.dumps(Spell(tmp_path / "made"))] if name == column else states[name][:1] for name in states.column_names}
    )
    with pytest.raises(TypeError):
        combined(counted(), spell.cast(states.schema), states.slice(1, 1))
    assert (tmp_path / "made").exists()


def spelled(file: Path, column: str, made: Path) -> None:
    """Replace the pickles in a file by some that make a file when they are read."""
    import pyarrow.parquet as pq

    states = pq.read_table(file, partitioning=None)
    spells = pa.array([pickle.dumps(Spell(made))] * len(states))
    pq.write_table(states.set_column(states.column_names.index(column), states.schema.field(column), spells), file)


def with_pickles(folder: Path, **other: Any) -> tuple[Hourly, str]:
    """A pipeline with states of a Python function, and the column that these are in."""
    made = Hourly(folder, other={"aggregates": {"n": counted()}, "windows": {"hour": windows.tumbling("2h")}, **other})
    for at in range(2):
        made.write(f"0{at}.parquet", {"at": times(*(60 * at + 1 + minute for minute in range(40))), "v": [1] * 40, "k": [*range(40)]})
    (column,) = (name for name in counted().fields[0].columns)
    return made, column


def test_nothing_is_published_from_a_file_with_another_digest_than_its_name(tmp_path: Path) -> None:
    """The shard that checks the file does not read its pickles either."""
    made, column = with_pickles(tmp_path)
    made.run(0)
    bound = bind(made.pipeline, made.root)
    (file,) = Path(bound.folder, bound.frame_sets[0].table).rglob("*.parquet")
    spelled(file, column, tmp_path / "made")
    with pytest.raises(StateError, match="not whole"):
        made.run(1, 1)
    assert not (tmp_path / "made").exists()
    assert made.rows("n") == []


def test_a_shard_reads_no_pickle_of_a_file_that_another_one_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from muntin.jobs.finalize import shard

    made, column = with_pickles(tmp_path, keys=["k"])
    made.run(0)
    bound = bind(made.pipeline, made.root)
    (first,) = Path(bound.folder, bound.frame_sets[0].table).rglob("*.parquet")
    later = bound.pipeline.intervals.first_us + UNITS["h"]
    accumulate(bound, Local(2), bound.pipeline.intervals.intervals(later, later + UNITS["h"]))
    (second,) = {*Path(bound.folder, bound.frame_sets[0].table).rglob("*.parquet")} - {first}
    spelled(second, column, tmp_path / "made")
    monkeypatch.setattr(shard, "SHARD_ROWS", 1)
    with pytest.raises(StateError, match="not whole"):
        finalize(bound, Local(2), [])
    assert not (tmp_path / "made").exists()


def test_who_looks_at_one_key_reads_no_damaged_pickle(tmp_path: Path) -> None:
    made, column = with_pickles(tmp_path, keys=["k"])
    made.run(0, 1)
    bound = bind(made.pipeline, made.root)
    for file in Path(bound.folder, bound.frame_sets[0].table).rglob("*.parquet"):
        spelled(file, column, tmp_path / "made")
    with pytest.raises(StateError, match="not whole"):
        explain(made.pipeline, "hour", root=made.root, key=[7], at=times(30)[0])
    assert not (tmp_path / "made").exists()


def test_no_pickle_of_an_upstream_is_read_that_is_not_what_it_was(tmp_path: Path) -> None:
    made, column = with_pickles(tmp_path, retain=Retain(states_in_windows=True))
    made.run(0, 1)
    over = Pipeline(
        name="over",
        source=sources.windows(made.pipeline, "hour", event_time="window_start"),
        schedule="1h",
        start=START,
        windows={"day": windows.tumbling("1d")},
        aggregates={"n": agg.merge("n")},
    )
    for file in (made.root / "hourly/windows/hour").glob("*/*.parquet"):
        spelled(file, f"state_{column}", tmp_path / "made")
    with pytest.raises(StateError, match="its content is not what its name says"):
        run(over, root=made.root, start=START, end=START + 2 * HOUR, spark=Local(2))
    assert not (tmp_path / "made").exists()


def test_the_quarantine_holds_rows(tmp_path: Path) -> None:
    from deltalake import DeltaTable

    made = Hourly(tmp_path, "{start:%H}.jsonl")
    made.write("00.jsonl", {"at": ["never"], "name": ["Ann"]})
    made.run()
    rows = DeltaTable(f"{bind(made.pipeline, made.root).folder}/quarantine").to_pyarrow_table()
    assert "Ann" in rows["row"][0].as_py()


# The source

HOSTILE = ["'); COPY (SELECT 42) TO 'out'; --", '"; DROP TABLE muntin_rows; --', "x/../../out", "{start}", "$(touch out)", "%s", "x*[y]?"]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_no_value_is_taken_for_anything_else(text: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = Hourly(tmp_path, f"{{start:%H}}.{ending}", other={"keys": ["k"]})
    made.write(f"00.{ending}", {"at": times(1), "k": [text]})
    made.run()
    assert made.rows("k", "n") == [(text, 1)]
    assert not list(tmp_path.rglob("out*"))


@pytest.mark.parametrize("name", [name for name in HOSTILE if not name.startswith("{")])
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_no_name_of_a_column_is_taken_for_anything_else(name: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = Hourly(tmp_path, f"{{start:%H}}.{ending}", other={"keys": [name]})
    made.write(f"00.{ending}", {"at": times(1), name: ["a"]})
    made.run()
    assert made.rows(name, "n") == [("a", 1)]
    assert not list(tmp_path.rglob("out*"))


@pytest.mark.parametrize("name", ["'); COPY (SELECT 42) TO 'out'; --", '"; --', "$(touch out)", "%s"])
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_no_name_of_a_file_is_taken_for_anything_else(name: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = Hourly(tmp_path, f"{{start:%H}}*.{ending}")
    made.write(f"00{name}.{ending}", {"at": times(1)})
    made.run()
    assert made.rows("n") == [(1,)]
    assert not [path for path in tmp_path.rglob("out*") if path.suffix != f".{ending}"]


@given(
    directive=st.sampled_from([f"%{letter}" for letter in string.ascii_letters if letter not in "EO"]),
    start=st.datetimes(datetime(1, 1, 2), datetime(9999, 1, 1)),  # noqa: DTZ001 - given UTC below
)
def test_no_interval_leads_out_of_the_folder(directive: str, start: datetime) -> None:
    begin = start.replace(tzinfo=UTC)
    source = sources.files(f"/data/in/{{start:{directive}}}/{{end:{directive}}}.csv", event_time="at")
    us = (begin - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    path = source.patterns(Interval(us, us + 3_600_000_000))
    assert os.path.normpath(path).startswith("/data/in/")
    assert ".." not in Path(path).parts


def test_a_link_is_followed(tmp_path: Path) -> None:
    made = Hourly(tmp_path, "{start:%H}.parquet")
    elsewhere = made.write("../elsewhere.parquet", {"at": times(1)})
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data/00.parquet").symlink_to(elsewhere)
    made.run()
    assert made.rows("n") == [(1,)]


@pytest.mark.parametrize("name", ["../x", "/x", "x/y", "..", "a\\..\\b", ""])
def test_no_name_leads_out_of_the_root(name: str, hourly: Hourly) -> None:
    with pytest.raises(DefinitionError):
        replace(hourly.pipeline, name=name)
    with pytest.raises(DefinitionError):
        replace(hourly.pipeline, windows={name: windows.tumbling("1h")})


def test_a_reader_takes_no_name_either(hourly: Hourly) -> None:
    hourly.run()
    with pytest.raises(DefinitionError):
        read(hourly.pipeline, "../hour", root=hourly.root)


def test_the_page_is_linked() -> None:
    assert "docs/operating/security.md" in (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
