"""A batch of which much is refused is not passed over in silence, and a header that does not fit stops the run."""

import json
from pathlib import Path
from typing import Any

import pytest

from muntin import Limits
from muntin import aggregates as agg
from muntin.cli.report import say_report
from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.extensions.alerts.declaration import to
from muntin.extensions.alerts.facts import Batch, Run
from muntin.extensions.alerts.findings import findings
from tests.end_to_end.hourly import Hourly

AT = "2024-01-01 00:10:00"
SUM: dict[str, Any] = {"aggregates": {"x": agg.sum("x")}}
DEFAULT = {"limits": Limits()}
TYPES = {"types": {"x": "DOUBLE"}}


def hours(folder: Path, *texts: str, ending: str = "csv", source: dict[str, Any] | None = None, **other: Any) -> Hourly:
    """A file of each text, all of one hour."""
    case = Hourly(folder, f"00*.{ending}", {"all_files": True, **TYPES, **(source or {})}, {**SUM, **other})
    for at, text in enumerate(texts):
        case.write(f"00-{at}.{ending}", {"at": []}).write_text(text)
    return case


def rows(good: int, bad: int) -> str:
    return "at,x\n" + f"{AT},1\n" * good + f"{AT},one\n" * bad


ELSEWHERE = f"at;shop;x\n{AT};north;1,5\n"


@pytest.mark.parametrize("limit", [None, 0.5])
@pytest.mark.parametrize("others", [[], [rows(20, 0)]])
def test_a_header_that_does_not_fit_stops_the_run_whatever_becomes_of_its_rows(
    others: list[str], limit: float | None, tmp_path: Path
) -> None:
    case = hours(tmp_path, *others, ELSEWHERE, limits=Limits(max_quarantined=limit))
    with pytest.raises(
        SourceError,
        match=rf"00-{len(others)}\.csv: event_time: no column 'at'; there are at;shop;x; say format=sources.csv\(delimiter=';'\)",
    ):
        case.run()


def test_so_does_a_header_without_a_column_of_an_aggregate(tmp_path: Path) -> None:
    case = hours(tmp_path, f"at,y\n{AT}\n", rows(9, 0), source={"types": {}}, limits=Limits(max_quarantined=None))
    with pytest.raises(SourceError, match=r"00-0\.csv: the definition: no column 'x'; there are at, y"):
        case.run()


def test_or_its_file_goes_to_the_quarantine_if_that_is_asked(tmp_path: Path) -> None:
    case = hours(tmp_path, rows(9, 0), ELSEWHERE, source={"on_bad_file": "quarantine"}, **DEFAULT)
    (batch,) = case.run().batches
    assert (batch.rows_accepted, batch.rows_quarantined) == (9, 1)


def test_a_header_that_fits_stops_nothing(tmp_path: Path) -> None:
    (batch,) = hours(tmp_path, rows(0, 2), rows(9, 0), "at,x\n").run().batches
    assert (batch.rows_accepted, batch.rows_quarantined) == (9, 2)


def test_a_file_that_is_refused_as_a_whole_is_no_row_of_the_share(tmp_path: Path) -> None:
    case = hours(tmp_path, rows(1, 0), "", "", source={"on_bad_file": "quarantine"}, **DEFAULT)
    assert case.run().batches[0].rows_quarantined == 2


@pytest.mark.parametrize(("good", "bad"), [(2, 3), (0, 1)])
def test_more_than_half_stops_the_run(good: int, bad: int, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"rows? \(\d+\.00%\) are in the quarantine; max_quarantined=0\.5 allows less") as told:
        hours(tmp_path, rows(good, bad), **DEFAULT).run()
    assert "x cannot be read as DOUBLE" in str(told.value)


# hour   0   1   2   3   4      read at once: d waits in the quarantine until it is settled which row it changes
# a      c   d           c
def test_changes_that_wait_for_their_row_are_no_rows_of_the_share(tmp_path: Path) -> None:
    source = {"id": "id", "operation": "op", "changes_within": "3h", "types": {"id": "VARCHAR", "op": "VARCHAR"}}
    case = Hourly(tmp_path, "{start:%H}.csv", source, {"aggregates": {"n": agg.count()}, **DEFAULT})
    for hour, op in enumerate(["c", "d", "", "", "c"]):
        row = f"2024-01-01 {hour:02}:10:00,a,{op}\n" if op else ""
        case.write(f"{hour:02}.csv", {"at": []}).write_text(f"at,id,op\n{row}")
    assert [batch.rows_quarantined for batch in case.run(0, 4).batches] == [0, 0, 0, 0, 0]
    assert case.rows("n") == [(1,)]


def test_half_of_them_does_not(tmp_path: Path) -> None:
    assert hours(tmp_path, rows(3, 3), **DEFAULT).run().batches[0].rows_accepted == 3


WORDS = "2 of 10 rows (20.00%) are in the quarantine: x cannot be read as DOUBLE"


def test_more_than_a_tenth_is_told_in_the_report_and_on_its_last_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = hours(tmp_path, rows(8, 2)).run()
    assert report.batches[0].refusals == WORDS
    assert json.loads(json.dumps(report.to_dict()))["batches"][0]["refusals"] == WORDS
    say_report(report, "state: here")
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"quarantined: 2024-01-01 00:00: {WORDS}; muntin show --quarantine shows the rows"


def test_a_tenth_is_not(tmp_path: Path) -> None:
    assert hours(tmp_path, rows(9, 1)).run().batches[0].refusals == ""


def test_the_most_frequent_reason_is_told(tmp_path: Path) -> None:
    (batch,) = hours(tmp_path, rows(2, 2) + f"{AT}\n").run().batches
    assert batch.refusals.endswith("x cannot be read as DOUBLE (2 rows, and 1 other reason)")


def test_an_alert_says_share_and_reason() -> None:
    batch = Batch(Interval(0, 1), 10, 2, 0, WORDS)
    (found,) = findings(to("ops"), Run("shop", batch.interval, (batch,)))
    assert (found.what, found.observed) == ("quarantined rows above 10 %", "2 of 10 rows (20 %): x cannot be read as DOUBLE")


def test_but_no_reason_where_columns_are_masked() -> None:
    batch = Batch(Interval(0, 1), 10, 2, 0, WORDS)
    (found,) = findings(to("ops", mask=["x"]), Run("shop", batch.interval, (batch,)))
    assert found.observed == "2 of 10 rows (20 %)"


def test_batches_that_are_read_together_are_refused_in_words(tmp_path: Path) -> None:
    """The refused rows of several batches lie in one file, whose columns have no nulls by their type; of a batch alone they may have."""
    case = Hourly(tmp_path, "{start:%H}.csv", TYPES, {**SUM, **DEFAULT})
    for hour in range(8):
        case.write(f"{hour:02}.csv", {"at": []}).write_text(rows(9, 0) if hour == 1 else rows(0, 2))
    with pytest.raises(SourceError, match=r"2 of 2 rows .*; and 4 more batches; max_quarantined=0\.5.*\n  .*00\.csv, line 2: x cannot"):
        case.run(0, 7)
