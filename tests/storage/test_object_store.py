"""States and sources in an object store: the same windows, the same verbs, and one sentence where it cannot be used."""

import gzip
import io
import json
import logging
import os
import pickle
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, Renamed, as_of, over, read, run, sources, windows
from muntin import aggregates as agg
from muntin.cli.main import main
from muntin.definition.instants import from_us, instant_us
from muntin.definition.schedule import Interval
from muntin.errors import MuntinError, SourceError, StateError, StorageError
from muntin.files.paths import AnyPath, path_of, sizes_below
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.doctor.repair import repair
from muntin.jobs.inspect.status import states_below, status
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.bound import bind
from muntin.jobs.state.fingerprint import fingerprint
from muntin.jobs.upkeep.maintain import maintain
from muntin.jobs.upkeep.outdated import outdated
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.sources.listing import source_files
from muntin.sources.sessions import fetched_files
from tests.object_store import KEY, SECRET, AnyServer, only_of_versitygw
from tests.source_options import grouped
from tests.storage.three_batches import HERE, HOUR, OTHER, START, Small

END = START + 3 * HOUR


@pytest.fixture
def small(tmp_path: Path, bucket: str) -> Small:
    made = Small(tmp_path, roots=f"{bucket}/some/prefix")
    made.write_all()
    return made


ON_SPARK = """
import sys
from pathlib import Path
import pyarrow.parquet as pq
from muntin.files.paths import sizes_below
from muntin.files.readable import readable
from muntin.quality.spark_frame import spark_frame
from muntin.spark.session import opened
from tests.storage.three_batches import Small

with opened("local[*]") as spark:
    small = Small(Path(sys.argv[1]), spark, sys.argv[2])
    small.run("spark")
    # what Great Expectations is given: the files' rows, read by tasks
    found = sizes_below(small.root("spark") / "small/windows/hours")
    tables = {str(path): pq.read_table(readable(path)) for path, *_ in found if path.suffix == ".parquet" and "ledger" not in path.name}
    with spark_frame(spark, [*tables], rows=1) as frame:
        rows = frame.numbered.drop("__muntin_row").toArrow().to_pylist()
    assert sorted(map(str, rows)) == sorted(str(row) for table in tables.values() for row in table.to_pylist()), rows
    assert rows
"""
"""Spark's workers have the environment that Spark was started in: a process of its own."""


def files_below(place: AnyPath) -> dict[str, int]:
    """The data files of a state, but for reports, which tell the time; ledgers without their digest, as they name tables by ids."""
    found = {str(path).partition("/small/")[2]: size for path, size, _ in sizes_below(place) if path.suffix == ".parquet"}
    return {re.sub(r"(ledger_\d+_\d+)_\w+", r"\1", path): size for path, size in found.items() if "/reports/" not in path}


def secrets_in(object_store: AnyServer, small: Small, *texts: str) -> list[str]:
    """What stands of the credentials in some texts, or in what is written of a state."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AZURE_STORAGE_ACCOUNT_KEY")
    secrets = [value for name, value in object_store.environment.items() if name in names]
    assert secrets
    bound = bind(small.pipeline, small.root("state"))
    every = [*texts, fingerprint(small.pipeline), pickle.dumps(bound).decode("latin-1")]
    every += [path.read_bytes().decode("latin-1") for path, *_ in sizes_below(small.root("state"))]
    return [secret for secret in secrets for text in every if secret in text]


class TestAState:
    """Of a pipeline whose root is an address."""

    def test_is_the_same_as_on_a_disk_file_by_file_and_knows_nothing_of_credentials(
        self, small: Small, object_store: AnyServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        on_disk = replace(small, roots="")
        with caplog.at_level(logging.DEBUG):
            report = small.run("state")
        assert not secrets_in(object_store, small, repr(report.to_dict()), caplog.text)
        on_disk.run("state")
        ours, theirs = small.tables("state"), on_disk.tables("state")
        assert all(ours[name].equals(theirs[name]) and len(ours[name]) for name in theirs)
        assert files_below(small.root("state")) == files_below(on_disk.root("state"))
        assert not Path("s3:").exists(), "an address is no folder"

    def test_is_asked_as_of_an_instant_and_over_a_range(self, small: Small) -> None:
        on_disk = replace(small, roots="")
        instants = pa.array([START + at * HOUR / 2 for at in range(8)], pa.timestamp("us", "UTC"))
        rows = pa.table({"k": [None, "a", "b", "a"] * 2, "seen": instants})
        found = []
        for made in (small, on_disk):
            made.run("state")
            how: dict[str, Any] = {"at": "seen", "root": made.root("state")}
            asked = [as_of(made.pipeline, name, rows, provisional=True, **how) for name in made.pipeline.windows]
            assert maintain(made.pipeline, root=made.root("state"), older_than_us=3_600_000_000)
            found.append([*asked, over(made.pipeline, START, END, root=made.root("state"), by=[])])
        assert found[0] == found[1]
        assert found[0][0]["n"].drop_null().to_pylist() != []
        assert found[0][2]["n"].to_pylist() == [10]

    def test_is_looked_at_and_kept_small(self, small: Small) -> None:
        small.run("state")
        small.write(1, OTHER)
        [batch] = outdated(small.pipeline, root=small.root("state"), start=START, end=END)
        assert batch.reason.startswith(("written", "a file"))
        small.run("state")
        assert status(small.pipeline, root=small.root("state")).batches == 3
        [state] = states_below(small.root("state"))
        assert state.pipeline == "small"
        assert state.bytes > 10_000
        assert diagnose(small.pipeline, root=small.root("state"), deep=True) == []
        before = small.tables("state")
        later = datetime.now(UTC) + timedelta(days=2)
        gone = vacuum(small.root("state"), older_than_us=3_600_000_000, now=later)
        assert "files of no commit" not in {removed.what for removed in gone}
        maintain(small.pipeline, root=small.root("state"), older_than_us=3_600_000_000, now=later)
        assert diagnose(small.pipeline, root=small.root("state"), deep=True) == []
        assert small.tables("state") == before

    def test_of_no_commit_is_swept_and_of_a_renamed_pipeline_is_not_copied_file_by_file(self, small: Small) -> None:
        small.run("state")
        stray = path_of(bind(small.pipeline, small.root("state")).folder, "frames/20m", "20240101T000000Z", "stray.parquet")
        stray.write_bytes(b"x" * 9)
        later = datetime.now(UTC) + timedelta(days=2)
        [told] = vacuum(small.root("state"), older_than_us=0, now=later, dry_run=True)
        assert (told.what, told.files, told.bytes, stray.exists()) == ("files of no commit", 1, 9, True)
        vacuum(small.root("state"), older_than_us=0, now=later)
        assert not stray.exists()
        renamed = replace(small.pipeline, name="tiny", renamed=Renamed(pipeline="small"))
        with pytest.raises(StateError, match="cannot rename a folder in one step"):
            run(renamed, root=small.root("state"), start=START, end=END, spark=HERE)
        assert small.tables("state")

    def test_that_is_damaged_is_mended(self, small: Small) -> None:
        small.run("state")
        before = small.tables("state")
        folder = path_of(bind(small.pipeline, small.root("state")).folder, "frames/20m")
        victim = next(path for path, *_ in sizes_below(folder) if path.suffix == ".parquet")
        victim.write_bytes(victim.read_bytes()[:-1] + b"?")
        assert any(str(victim) in found.place for found in diagnose(small.pipeline, root=small.root("state"), deep=True))
        assert repair(small.pipeline, root=small.root("state"), spark=HERE).read
        assert small.tables("state") == before

    def test_of_a_changed_definition_takes_over_by_copies(self, small: Small) -> None:
        small.run("state")
        fewer = replace(small.pipeline, aggregates={"n": agg.count(), "total": agg.sum("x")})
        graced = replace(fewer, windows={**fewer.windows, "hours": windows.sliding("2h", step="1h", grace="1h")})
        for root in (small.root("state"), small.root("clean")):
            run(graced, root=root, start=START, end=END, spark=HERE)
        ours, theirs = (read(graced, "hours", root=small.root(name)) for name in ("state", "clean"))
        assert ours.equals(theirs)
        assert len(ours)

    def test_runs_on_spark_whose_workers_have_the_environment(self, small: Small, object_store: AnyServer) -> None:
        environment = {**os.environ, **object_store.environment, "PYTHONPATH": str(Path(__file__).parents[2])}
        subprocess.run([sys.executable, "-c", ON_SPARK, str(small.folder), small.roots], env=environment, check=True, timeout=180)
        small.run("here")
        assert small.tables("spark") == small.tables("here")


def clicks(path: str, **more: Any) -> Pipeline:
    return Pipeline(
        name="clicks",
        source=sources.files(path, **grouped(event_time="t", **more)),
        schedule="1h",
        start=START,
        keys=["k"],
        windows={"hours": windows.tumbling("1h")},
        aggregates={"n": agg.count(), "total": agg.sum("x")},
    )


ROWS = pa.table({"t": [f"2024-01-01T0{hour}:10:00Z" for hour in (0, 0, 1, 2)], "k": ["a", "b", "a", "a"], "x": [1, 2, 3, 4]})


def written(rows: pa.Table, form: str) -> bytes:
    out = io.BytesIO()
    if form == "parquet":
        pq.write_table(rows, out)
    elif form.startswith("csv"):
        pc.write_csv(rows, out)
    else:
        out.write("".join(json.dumps(row) + "\n" for row in rows.to_pylist()).encode())
    return gzip.compress(out.getvalue()) if form.endswith(".gz") else out.getvalue()


def counted(call: Callable[..., Any], calls: list[object]) -> Callable[..., Any]:
    def called(*given: Any, **more: Any) -> Any:
        calls.append(given)
        return call(*given, **more)

    return called


def put(bucket: str, form: str, rows: pa.Table = ROWS) -> None:
    """The rows of each hour, each row a file."""
    for at in range(len(rows)):
        hour = rows["t"][at].as_py()[11:13]
        path_of(bucket, f"2024/01/01/{hour}/{at}.{form}").write_bytes(written(rows.slice(at, 1), form))


def found(pipeline: Pipeline, root: Path) -> list[tuple[Any, ...]]:
    table = read(pipeline, "hours", root=root).sort_by([("window_start", "ascending"), ("k", "ascending")])
    return [(row["window_start"].hour, row["k"], row["n"], int(row["total"])) for row in table.to_pylist()]


ALL = [(0, "a", 1, 1), (0, "b", 1, 2), (1, "a", 1, 3), (2, "a", 1, 4)]
HOURLY = "{start:%Y/%m/%d/%H}"


class TestASource:
    """Whose files lie in an object store."""

    @pytest.mark.parametrize("form", ["parquet", "csv", "csv.gz", "jsonl", "jsonl.gz"])
    def test_is_read_as_from_a_disk(self, bucket: str, tmp_path: Path, form: str) -> None:
        put(bucket, form)
        pipeline = clicks(f"{bucket}/{HOURLY}/*.{form}")
        run(pipeline, root=tmp_path, start=START, end=END, spark=HERE)
        assert found(pipeline, tmp_path) == ALL

    @pytest.mark.parametrize("pattern", ["*/{start:%m/%d/%H}/*.csv", "**/{start:%H}/?.csv", "2024/01/01/{start:%H}/[0-9].csv"])
    def test_is_found_by_patterns(self, bucket: str, tmp_path: Path, pattern: str) -> None:
        put(bucket, "csv")
        pipeline = clicks(f"{bucket}/{pattern}")
        run(pipeline, root=tmp_path, start=START, end=END, spark=HERE)
        assert found(pipeline, tmp_path) == ALL

    def test_says_which_object_was_rewritten_by_its_etag(self, bucket: str, tmp_path: Path) -> None:
        put(bucket, "csv")
        pipeline = clicks(f"{bucket}/{HOURLY}/*.csv")
        run(pipeline, root=tmp_path, start=START, end=END, spark=HERE)
        assert outdated(pipeline, root=tmp_path, start=START, end=END) == []
        put(bucket, "csv", ROWS.slice(2, 1).set_column(2, "x", pa.array([7])))  # 2024/01/01/01/0.csv, a new file
        path_of(bucket, "2024/01/01/02/3.csv").write_bytes(written(ROWS.slice(3, 1).set_column(2, "x", pa.array([9])), "csv"))
        assert [batch.interval_start.hour for batch in outdated(pipeline, root=tmp_path, start=START, end=END)] == [1, 2]
        run(pipeline, root=tmp_path, start=START, end=END, spark=HERE)
        assert found(pipeline, tmp_path) == [*ALL[:2], (1, "a", 2, 10), (2, "a", 1, 9)]

    # 40 hours, each with a folder of its own
    @pytest.mark.parametrize("pattern", [f"{HOURLY}/*.csv", "*/{start:%m/%d/%H}/[0-9].csv", "**/{start:%d/%H}/?.csv", f"{HOURLY}/0.csv"])
    def test_many_folders_are_listed_at_once(self, bucket: str, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
        every = [
            Interval(at, at + 3_600_000_000)
            for at in range(instant_us(START, "start"), instant_us(START + 40 * HOUR, "end"), 3_600_000_000)
        ]
        for hour in every[::2]:
            path_of(bucket, f"{from_us(hour.start_us):%Y/%m/%d/%H}/0.csv").write_bytes(b"k")
        asked, source = [], clicks(f"{bucket}/{pattern}").source
        one_by_one = {hour: source_files(source, [hour])[0][hour] for hour in every}
        for name in ("list", "list_with_delimiter", "head"):
            monkeypatch.setattr(obstore, name, counted(getattr(obstore, name), asked))
        assert source_files(source, every)[0] == one_by_one
        assert [len(files) for files in one_by_one.values()] == [1, 0] * 20
        assert len(asked) == 1

    def test_notes_size_and_etag_of_each_object(self, bucket: str, tmp_path: Path) -> None:
        put(bucket, "csv")
        pipeline = clicks(f"{bucket}/{HOURLY}/*.csv")
        run(pipeline, root=tmp_path, start=START, end=END, spark=HERE)
        reports = last_accumulated(bind(pipeline, tmp_path).store)
        entries = [entry for report in reports.values() for entry in json.loads(report["files"])]
        stats = {str(path): path.stat() for path, *_ in sizes_below(path_of(bucket))}
        assert {entry[0]: (entry[1], entry[4]) for entry in entries} == {path: (s.st_size, s.st_ino) for path, s in stats.items()}

    def test_keeps_bad_rows_with_their_address(self, bucket: str, tmp_path: Path) -> None:
        put(bucket, "csv")
        path_of(bucket, "2024/01/01/01/bad.csv").write_bytes(b't,k,x\n"2024-01-01T01:20:00Z","c",1\nnot,a,row,at,all\n')
        pipeline = clicks(f"{bucket}/{HOURLY}/*.csv")
        report = run(pipeline, root=tmp_path, start=START, end=END, spark=HERE)
        assert [batch.rows_quarantined for batch in report.batches] == [0, 1, 0]
        assert (1, "c", 1, 1) in found(pipeline, tmp_path)

    @pytest.mark.parametrize("form", ["parquet", "csv", "jsonl.gz"])
    def test_is_read_in_parts_where_it_is_large(self, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
        monkeypatch.setattr(fetched_files, "KEPT_BYTES", 10)
        put(bucket, form)
        pipeline = clicks(f"{bucket}/{HOURLY}/*.{form}")
        run(pipeline, root=tmp_path, start=START, end=END, spark=HERE)
        assert found(pipeline, tmp_path) == ALL

    def test_and_its_state_may_lie_in_one_bucket(self, bucket: str) -> None:
        put(bucket, "parquet")
        pipeline = clicks(f"{bucket}/{HOURLY}/*.parquet")
        run(pipeline, root=f"{bucket}/state", start=START, end=END, spark=HERE)
        assert found(pipeline, f"{bucket}/state") == ALL  # type: ignore[arg-type]


# --- what cannot be used


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes calls and never answers."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen(50)
        yield one.getsockname()[1]


WRONG: dict[str, tuple[dict[str, str], str]] = {
    "bucket": ({}, r"there is no bucket 'no-such-bucket'; make it"),
    "key": ({"AWS_ACCESS_KEY_ID": "WRONGKEYWRONGKEY"}, r"the credentials are refused"),
    "secret": ({"AWS_SECRET_ACCESS_KEY": "wrong-secret"}, r"the credentials are refused"),
    "no key": ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, r"no credentials were found; set AWS_ACCESS_KEY_ID"),
    "port": (
        {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"},
        r"http://127.0.0.1:1 does not answer; see to the network, or set AWS_ENDPOINT_URL",
    ),
    "silence": ({"AWS_ENDPOINT_URL": "http://127.0.0.1:{silent}"}, r"http://127.0.0.1:\d+ does not answer"),
}


@pytest.mark.parametrize("what", ["root", "source"])
@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_told_in_one_sentence(
    s3_bucket: str,
    object_store: AnyServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    silent: int,
    name: str,
    what: str,
) -> None:
    put(s3_bucket, "csv")
    surroundings, text = WRONG[name]
    if "credentials" in text:
        only_of_versitygw(object_store)
    place = "s3://no-such-bucket" if name == "bucket" else s3_bucket
    for variable, value in surroundings.items():
        monkeypatch.setenv(variable, value.format(silent=silent)) if value else monkeypatch.delenv(variable)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    if what == "root":
        Small(tmp_path).write_all()
    pipeline, root = (Small(tmp_path).pipeline, f"{place}/state") if what == "root" else (clicks(f"{place}/{HOURLY}/*.csv"), tmp_path / "s")
    began = time.monotonic()
    with pytest.raises(StorageError, match=text) as told:
        run(pipeline, root=root, start=START, end=END, spark=HERE)
    assert time.monotonic() - began < 10
    assert str(told.value).startswith(place)
    assert told.value.exit_status == 3
    assert not any(secret in str(told.value) for secret in (KEY, SECRET, "WRONGKEYWRONGKEY", "wrong-secret"))
    assert not (tmp_path / "s").exists() or not [*(tmp_path / "s").rglob("*.parquet")]


def test_a_prefix_without_files_is_told(bucket: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=rf"no file at {bucket}/elsewhere/2024/01/01/00/\*\.csv for the interval"):
        run(clicks(f"{bucket}/elsewhere/{HOURLY}/*.csv"), root=tmp_path, start=START, end=END, spark=HERE)


def test_a_root_without_states_is_told(bucket: str) -> None:
    with pytest.raises(MuntinError, match=f"there is no folder {bucket}/nothing"):
        states_below(f"{bucket}/nothing")


def test_credentials_may_come_from_a_profile(s3_bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(variable)
    (tmp_path / "credentials").write_text(f"[other]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_PROFILE", "other")
    small = Small(tmp_path, roots=s3_bucket)
    small.write_all()
    small.run("state")
    assert all(map(len, small.tables("state").values()))


def test_the_command_line_says_so_too(s3_bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--root", "s3://no-such-bucket/state"]) == 3
    assert capsys.readouterr().err.startswith(
        "error (object store): s3://no-such-bucket/state: there is no bucket 'no-such-bucket'; make it"
    )
    small = Small(tmp_path, roots=s3_bucket)
    small.write_all()
    small.run("state")
    assert main(["status", "--root", f"{s3_bucket}/state"]) == 0
    assert "read: 3 batches" in capsys.readouterr().out
    assert main(["maintain", "--root", f"{s3_bucket}/state", "--older-than", "1d"]) == 0
