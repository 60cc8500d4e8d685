"""Local times that come twice or never: what becomes of them in a run, how each is reported, and the reasons in the quarantine."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import SourceError
from muntin.jobs.inspect.late import quarantined
from muntin.jobs.state.fingerprint import fingerprint
from muntin.tasks import Local
from tests.case_counts import paired
from tests.source_options import grouped

# a day of a till in Vienna: the first two and the last are plain, four are of the repeated hour, in the order of their numbers
SOLD = ["01:10:00", "01:50:00", "02:10:00", "02:40:00", "02:05:00", "02:40:00", "03:00:00"]
BACK, FORWARD = "2024-10-27", "2024-03-31"
FORMATS = ["csv", "jsonl", "parquet", "text.csv", "de.csv"]


def write(folder: Path, form: str, day: str, shown: list[str]) -> None:
    texts = [f"{day} {each}" for each in shown]
    if form == "de.csv":
        texts = [datetime.fromisoformat(each).strftime("%d.%m.%Y %H:%M:%S") for each in texts]
    path = folder / f"{day}.{form}"
    if form == "parquet":
        pq.write_table(pa.table({"sold": [datetime.fromisoformat(each) for each in texts], "id": range(len(texts))}), path)
    elif form == "jsonl":
        path.write_text("".join(json.dumps({"sold": each, "id": number}) + "\n" for number, each in enumerate(texts)))
    else:
        path.write_text("sold,id\n" + "".join(f"{each},{number}\n" for number, each in enumerate(texts)))


def tills(folder: Path, day: str, form: str = "csv", **options: Any) -> Pipeline:
    if form == "de.csv":
        options["time_format"] = "%d.%m.%Y %H:%M:%S"
    if form == "text.csv":
        options["types"] = {"sold": "VARCHAR"}
    return Pipeline(
        name="tills",
        source=sources.files(
            f"{folder}/{{start:%Y-%m-%d}}.{form}", **grouped(event_time="sold", **{"timezone": "Europe/Vienna", **options})
        ),
        schedule="1d",
        limits=Limits(max_quarantined=None),
        start=datetime.fromisoformat(f"{day}T00:00+00:00"),
        windows={"hour": windows.tumbling("1h")},
        aggregates={"ids": agg.collect("id")},
    )


def result(pipeline: Pipeline, root: Path) -> tuple[tuple[int, ...], dict[str, list[int]], list[tuple[int, str]]]:
    """Counts of the first batch, hour of that day in UTC -> ids, and position and reason of the refused rows."""
    end = pipeline.start + timedelta(days=1)
    (batch,) = run(pipeline, root=root, start=pipeline.start, end=end, spark=Local(1)).batches
    found = read(pipeline, "hour", root=root).to_pylist()
    refused = quarantined(pipeline, root=root).to_pylist()
    counts = (batch.rows_accepted, batch.rows_quarantined, batch.rows_ambiguous, batch.rows_nonexistent)
    return (
        counts,
        {f"{at:%H}": row["ids"] for row in found if (at := row["window_start"]) >= pipeline.start},
        [(row["position"], row["reason"]) for row in refused],
    )


def twice(position: int, at: str, unclear: str = "where clocks are set back") -> tuple[int, str]:
    return position, f'event time {BACK} {at} comes twice in Europe/Vienna, {unclear}; say sources.at(..., ambiguous="first") or "second"'


@pytest.mark.parametrize("form", FORMATS)
def test_times_that_come_twice_are_for_the_quarantine_with_a_reason(form: str, tmp_path: Path) -> None:
    write(tmp_path, form, BACK, SOLD)
    counts, hours, refused = result(tills(tmp_path, BACK, form), tmp_path / "state")
    assert (counts, hours) == ((3, 4, 4, 0), {"02": [6]})
    assert refused == [twice(at, SOLD[at]) for at in range(2, 6)]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("showing", "hours"), [("first", {"00": [2, 3, 4, 5], "02": [6]}), ("second", {"01": [2, 3, 4, 5], "02": [6]})])
def test_or_they_are_what_the_definition_says(form: str, showing: str, hours: dict[str, list[int]], tmp_path: Path) -> None:
    write(tmp_path, form, BACK, SOLD)
    counts, found, refused = result(tills(tmp_path, BACK, form, ambiguous=showing), tmp_path / "state")
    assert (counts, refused) == ((7, 0, 4, 0), [])
    assert {hour: sorted(ids) for hour, ids in found.items()} == hours


@pytest.mark.parametrize("form", FORMATS)
def test_or_what_the_order_of_arrival_tells(form: str, tmp_path: Path) -> None:
    write(tmp_path, form, BACK, SOLD)
    counts, found, refused = result(tills(tmp_path, BACK, form, ambiguous="arrival", arrival_order="id"), tmp_path / "state")
    assert (counts, refused) == ((7, 0, 4, 0), [])
    assert found == {"00": [2, 3], "01": [4, 5], "02": [6]}


@pytest.mark.parametrize("form", FORMATS)
def test_an_order_that_does_not_tell_is_for_the_quarantine(form: str, tmp_path: Path) -> None:
    write(tmp_path, form, BACK, [*SOLD[:4], "03:00:00"])
    counts, hours, refused = result(tills(tmp_path, BACK, form, ambiguous="arrival", arrival_order="id"), tmp_path / "state")
    unclear = "where clocks are set back; rows in the order of id do not go back in this hour exactly once, so that the order does not tell"
    assert (counts, hours) == ((3, 2, 2, 0), {"02": [4]})
    assert refused == [twice(2, SOLD[2], unclear), twice(3, SOLD[3], unclear)]


def test_rows_without_a_time_tell_nothing(tmp_path: Path) -> None:
    (tmp_path / f"{BACK}.csv").write_text(f"sold,id\n{BACK} 02:40:00,0\noh,1\n,2\n{BACK} 02:05:00,3\n{BACK} 02:06:00+02:00,4\n")
    pipeline = tills(tmp_path, BACK, "csv", ambiguous="arrival", arrival_order="id", types={"sold": "VARCHAR"})
    counts, hours, refused = result(pipeline, tmp_path / "state")
    assert (counts, hours) == ((3, 2, 2, 0), {"00": [4, 0], "01": [3]})
    assert refused == [(1, "event time cannot be read"), (2, "event time is null")]


@pytest.mark.parametrize(("form", "options"), paired(FORMATS, [{}, {"ambiguous": "arrival", "arrival_order": "id"}]))
def test_times_that_never_were_are_for_the_quarantine_or_are_moved_on(form: str, options: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path, form, FORWARD, ["01:30:00", "02:30:00", "03:10:00"])
    never = (
        f'event time {FORWARD} 02:30:00 never was in Europe/Vienna, where clocks are set forward; say sources.at(..., nonexistent="shift")'
    )
    assert result(tills(tmp_path, FORWARD, form, **options), tmp_path / "a") == ((2, 1, 0, 1), {"00": [0], "01": [2]}, [(1, never)])
    moved = tills(tmp_path, FORWARD, form, nonexistent="shift", **options)
    assert result(moved, tmp_path / "b") == ((3, 0, 0, 1), {"00": [0], "01": [2, 1]}, [])


@pytest.mark.parametrize(
    ("texts", "told"), [(["02:30:00", "02:31:00+02:00"], "02:30:00"), (["02:30:00 UTC", "02:31:00 UTC"], "02:30:00 UTC")]
)
def test_a_column_of_local_times_and_others_is_refused(texts: list[str], told: str, tmp_path: Path) -> None:
    write(tmp_path, "csv", "2024-07-01", texts)
    with pytest.raises(SourceError, match=re.escape(f"'2024-07-01 {told}', so it is not sure which of its times are local ones")):
        result(tills(tmp_path, "2024-07-01"), tmp_path / "state")
    counts, hours, _ = result(tills(tmp_path, "2024-07-01", types={"sold": "VARCHAR"}), tmp_path / "state")
    assert (counts, hours) == ((2, 0, 0, 0), {"00": [0, 1]} if "UTC" not in told else {"02": [0, 1]})


def test_times_of_arrival_are_local_times_too(tmp_path: Path) -> None:
    path = tmp_path / f"{BACK}.csv"
    path.write_text(f"sold,id,came\n{BACK} 01:10:00,0,{BACK} 02:10:00\n{BACK} 01:10:00,1,{BACK} 03:10:00\n")
    late = tills(tmp_path, BACK, arrival_time="came")
    told = twice(0, "02:10:00")[1].replace("event time", "arrival time")
    assert result(late, tmp_path / "a")[::2] == ((1, 1, 0, 0), [(0, told)])
    decided = tills(tmp_path, BACK, arrival_time="came", ambiguous="first", nonexistent="shift")
    assert result(decided, tmp_path / "b")[0] == (2, 0, 0, 0)


def test_small_batches_that_are_read_together_are_counted_apart(tmp_path: Path) -> None:
    days = [BACK, "2024-10-28", "2024-10-29"]
    for day in days:
        write(tmp_path, "parquet", day, SOLD)
    pipeline = tills(tmp_path, BACK, "parquet")
    done = run(pipeline, root=tmp_path / "state", start=pipeline.start, end=pipeline.start + timedelta(days=3), spark=Local(1)).batches
    assert [(each.rows_ambiguous, each.rows_quarantined) for each in done] == [(4, 4), (0, 0), (0, 0)]
    assert [reason for _, reason in result(pipeline, tmp_path / "state")[2]] == [twice(at, SOLD[at])[1] for at in range(2, 6)]


def test_each_of_several_sources_has_rules_and_counts_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, "csv", BACK, SOLD)
    one, other = (tills(tmp_path, BACK, **options) for options in ({"ambiguous": "first"}, {"timezone": "Asia/Tokyo"}))
    both = replace(one, source={"vienna": one.source, "tokyo": other.source})
    end = both.start + timedelta(days=1)
    (batch,) = run(both, root=tmp_path / "state", start=both.start, end=end, spark=Local(1)).batches
    assert (batch.rows_ambiguous, batch.rows_quarantined) == (4, 0)
    assert [(name, each.ambiguous, each.accepted) for name, each in batch.sources.items()] == [("vienna", 4, 7), ("tokyo", 0, 7)]


def test_another_rule_is_another_state(tmp_path: Path) -> None:
    rules: list[dict[str, Any]] = [{}, {"ambiguous": "first"}, {"ambiguous": "second"}, {"nonexistent": "shift"}, {"timezone": None}]
    assert len({fingerprint(tills(tmp_path, BACK, **each)) for each in rules}) == len(rules)


def test_a_process_that_read_local_times_ends_in_silence(tmp_path: Path) -> None:
    code = "from muntin.sources.sessions.duckdb_session import kept_session as s; print(s('Europe/Vienna').sql('SELECT muntin_first(0)'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "-3600000000" in done.stdout
