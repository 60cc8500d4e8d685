"""A text in JSON lines is what its file says: no time, identifier or number is told from it and written anew."""

import json
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin import windows
from muntin.errors import SourceError
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly

AT = 1704067800  # 0:10 of January 1, 2024
FIRST_HOUR = AT - 600


def hourly(folder: Path, *rows: Any, source: dict[str, Any] | None = None, **other: Any) -> Hourly:
    """An hour of rows, a file for each list of rows."""
    made = Hourly(folder, "{start:%H}*.jsonl", source or {"unit": "s"}, other)
    files = rows if isinstance(rows[0], list) else [list(rows)]
    for number, each in enumerate(files):
        made.write(f"00-{number}.jsonl", {"at": []}).write_text("".join(json.dumps(row) + "\n" for row in each))
    return made


TEXTS = [
    "2024-01-02",
    "2024-1-2",
    "2024-01-02T03:04:05Z",
    "2024-01-02T03:04:05.5+02:00",
    "01-02-2024",
    "01-02-2024 03:04:05",
    "13-02-2024 03:04:05",
    "01-02-24 03:04:05",
    "1-2-24",
    "01-02-2024 01:02:03 PM",
    "01/02/2024 03:04",
    "3:04:05",
    "epoch",
    "-infinity",
    "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
    "A-1",
    "",
]


@pytest.mark.parametrize(("text", "kind"), paired(TEXTS, ["VARCHAR", "text"]))
def test_a_column_of_texts_is_read_as_it_stands(text: str, kind: str, tmp_path: Path) -> None:
    made = hourly(tmp_path, {"at": AT, "x": text}, source={"unit": "s", "types": {"x": kind}}, keys=["x"])
    made.run()
    assert made.rows("x", "n") == [(text, 1)]


# what a column holds besides decides what DuckDB tells: here text and numbers, or numbers of two types
@pytest.mark.parametrize("values", [["A-1", 1010], [1010, 1.5], ["01-02-2024", None], ["true", True], [12345678901234567890, "x"]])
def test_so_is_a_column_of_texts_and_others(values: list[Any], tmp_path: Path) -> None:
    rows = [{"at": AT, "x": value} for value in values]
    made = hourly(tmp_path, *rows, source={"unit": "s", "types": {"x": "VARCHAR"}}, aggregates={"all": agg.collect("x")})
    made.run()
    assert made.rows("all") == [([value if isinstance(value, str) else json.dumps(value) for value in values if value is not None],)]


NESTED = [
    ("{'paid': text}", "STRUCT(paid VARCHAR)", "x.paid"),
    ("[{'paid': [text]}]", "STRUCT(paid VARCHAR[])[]", "x[1].paid[1]"),
    ("{'the day': {'date': text}, 'n': 1}", 'STRUCT("the day" STRUCT(date VARCHAR), n BIGINT)', 'x."the day".date'),
]


@pytest.mark.parametrize(("nested", "text"), paired(NESTED, ["01-02-2024 03:04:05", "1-2-24", "2024-01-02T03:04:05Z", "epoch"]))
def test_so_is_a_text_inside_of_a_value(nested: tuple[str, str, str], text: str, tmp_path: Path) -> None:
    value, kind, part = nested
    rows = {"at": AT, "x": eval(value, {"text": text})}  # noqa: S307 - the table above
    made = hourly(tmp_path, rows, source={"unit": "s", "types": {"x": kind}}, aggregates={"it": agg.last(part)})
    made.run()
    assert made.rows("it") == [(text,)]


PLAIN = ("text", "VARCHAR", "x")


@pytest.mark.parametrize(("nested", "text"), paired([PLAIN, *NESTED], ["01-02-2024 03:04:05", "01-02-2024 01:02:03 PM", "1-2-24", "epoch"]))
def test_what_is_not_said_is_no_guess(nested: tuple[str, str, str], text: str, tmp_path: Path) -> None:
    """The error says which type is to be written."""
    value, kind, part = nested
    rows = {"at": AT, "x": eval(value, {"text": text})}  # noqa: S307 - the table above
    made = hourly(tmp_path, rows, aggregates={"it": agg.last(part)})
    with pytest.raises(SourceError) as wrong:
        made.run()
    assert f"holds '{text}': which number is the day would be a guess" in str(wrong.value)
    assert f'types={{"x": "{kind}"}}' in str(wrong.value)


def test_each_file_of_a_batch_is_looked_at(tmp_path: Path) -> None:
    made = hourly(tmp_path, [{"at": AT, "x": "2024-01-02 00:00:00"}], [{"at": AT, "x": "01-02-2024 00:00:00"}])
    with pytest.raises(SourceError, match=r"00-1\.jsonl: column 'x' holds '01-02-2024 00:00:00'"):
        made.run()


FORMS = [
    ("01-01-2024 00:10:00", "%d-%m-%Y %H:%M:%S"),
    ("1-1-24 0:10", "%d-%m-%y %H:%M"),
    ("01/01/2024 12:10 AM", "%m/%d/%Y %I:%M %p"),
    ("2024-01-01T00:10:00", "%Y-%m-%dT%H:%M:%S"),
    ("2024-01-01 02:10:00+0200", "%Y-%m-%d %H:%M:%S%z"),
    ("10 past midnight of 2024-01-01", "%M past midnight of %Y-%m-%d"),
    (202401010010, "%Y%m%d%H%M"),
]


@pytest.mark.parametrize(("form", "time_format"), FORMS)
def test_an_event_time_is_read_by_its_format(form: Any, time_format: str, tmp_path: Path) -> None:
    for number, others in enumerate(([], [{"at": None}, {"at": "2024/1/1"}])):
        ten_minutes = {"hour": windows.tumbling("10m")}
        made = hourly(tmp_path / str(number), {"at": form}, *others, source={"time_format": time_format}, windows=ten_minutes)
        (batch,) = made.run().batches
        assert (batch.rows_accepted, batch.rows_quarantined) == (1, len(others))
        assert [each[0].timestamp() for each in made.rows("window_start")] == [AT]


@pytest.mark.parametrize("text", ["01-01-2024 00:10:00", "1-1-24 0:10:00"])
def test_an_event_time_without_a_format_begins_with_the_year(text: str, tmp_path: Path) -> None:
    made = hourly(tmp_path, {"at": text}, source={"event_time": "at"})
    with pytest.raises(SourceError, match=f"column 'at' holds '{text}': which number is the day would be a guess; .* format="):
        made.run()


def test_a_time_of_another_form_than_its_format_goes_to_the_quarantine(tmp_path: Path) -> None:
    made = hourly(tmp_path, {"at": "01-13-2024 00:10:00"}, source={"time_format": "%d-%m-%Y %H:%M:%S"})
    (batch,) = made.run().batches
    assert (batch.rows_accepted, batch.rows_quarantined) == (0, 1)


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2024-01-01", -1),
        ("2024-01-01 00:10:00", -1),
        ("2024-01-01T00:10:00.5", -1),
        ("2024-01-01T00:10:00Z", 0),
        ("2024-01-01T02:10:00+02:00", 0),
        ("2024-01-01 00:10", -1),
    ],
)
def test_a_time_that_begins_with_the_year_needs_no_format(text: str, hour: int, tmp_path: Path) -> None:
    """Without an offset it is in the source's zone."""
    made = hourly(tmp_path, {"at": text}, source={"timezone": "Europe/Vienna"})
    made.run()
    assert [each[0].timestamp() for each in made.rows("window_start")] == [FIRST_HOUR + 3600 * hour]


def test_a_time_that_nobody_gave_a_type_is_still_a_time(tmp_path: Path) -> None:
    made = hourly(tmp_path, {"at": AT, "x": "2024-01-02T03:04:05", "y": {"z": "2024-01-02"}}, where="hour(x) = 3 AND day(y.z) = 2")
    made.run()
    assert made.rows("n") == [(1,)]


def test_an_event_at_no_day_goes_to_the_quarantine(tmp_path: Path) -> None:
    made = hourly(tmp_path, {"at": "infinity"}, source={"event_time": "at"})
    (batch,) = made.run().batches
    assert (batch.rows_accepted, batch.rows_quarantined) == (0, 1)


# DuckDB calls the second of them X_1 and would take "X" for x
@pytest.mark.parametrize("value", ["x", '"X"', "X_1"])
def test_names_that_differ_in_their_capitals_are_not_told_apart(value: str, tmp_path: Path) -> None:
    made = hourly(tmp_path, {"at": AT, "x": 1, "X": 2}, aggregates={"sum": agg.sum(value)})
    with pytest.raises(SourceError, match="'X' has the name of another, but for small and capital letters"):
        made.run()


def test_columns_that_nobody_uses_may_have_such_names(tmp_path: Path) -> None:
    made = hourly(tmp_path, {"at": AT, "x": 1, "X": 2})
    made.run()
    assert made.rows("n") == [(1,)]


def test_a_name_may_end_in_a_number(tmp_path: Path) -> None:
    made = hourly(tmp_path, {"at": AT, "x": 1, "x_1": "01-02-2024"}, source={"unit": "s", "types": {"x_1": "VARCHAR"}}, keys=["x_1"])
    made.run()
    assert made.rows("x_1") == [("01-02-2024",)]
