"""show, plot, late and status on a project whose two days are published."""

import csv
import io
import json

import pytest

from tests.cli.conftest import Muntin, Project


def rows(muntin: Muntin, project: Project, *more: str) -> list[tuple[str, str, int]]:
    """Key, start and total of the windows shown."""
    told = muntin(*project.arguments("show", "quarter", "--json", *more))
    assert told.status == 0, told.err
    return [(row["sensor"], row["window_start"][5:13], row["total"]) for row in json.loads(told.out)["rows"]]


A1, A2, O1 = ("ä", "01-01T00", 1), ("ä", "01-02T00", 3), ("ö", "01-01T06", 2)


def test_show_in_json(muntin: Muntin, ran: Project):
    assert rows(muntin, ran) == [A1, A2, O1]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (["--key", "ä"], [A1, A2]),
        (["--key", "sensor=ö", "--key", "x"], [O1]),
        (["--key", "sensor="], []),
        (["--from", "2020-01-01T06:00"], [A2, O1]),
        (["--to", "2020-01-01T06:00"], [A1]),
        (["--from", "2020-01-01T07:00+01:00", "--to", "2020-01-02"], [O1]),
        (["--limit", "1"], [A1]),
    ],
)
def test_show_selects(muntin: Muntin, ran: Project, asked: list[str], found: list[tuple[str, str, int]]):
    assert rows(muntin, ran, *asked) == found


def test_show_as_a_table(muntin: Muntin, ran: Project):
    told = muntin(*ran.arguments("show", "quarter", "--limit", "2"))
    lines = told.out.splitlines()
    assert lines[0].split() == ["sensor", "window_start", "window_end", "readings", "total", "least", "who", "batch"]
    assert lines[1].split() == ["ä", "2020-01-01", "00:00", "2020-01-01", "06:00", "1", "1", "1", "ä", "2020-01-01", "00:00"]
    assert lines[-1] == "3 windows; 1 more, --limit 0 shows all; instants in UTC"


def test_show_as_csv(muntin: Muntin, ran: Project):
    told = muntin(*ran.arguments("show", "quarter", "--csv"))
    found = list(csv.DictReader(io.StringIO(told.out)))
    assert [row["total"] for row in found] == ["1", "3", "2"]
    assert found[0]["window_end"] == "2020-01-01T06:00:00+00:00"


def test_show_what_is_not_closed_yet(muntin: Muntin, ran: Project):
    told = muntin(*ran.arguments("show", "visit", "--provisional", "--json"))
    assert {"provisional", "batch"} <= set(json.loads(told.out)["rows"][0])


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["show", "month"], 2, "no window 'month'"),
        (["show", "quarter", "--key", "colour=red"], 2, "no key column 'colour'; there are sensor"),
        (["show", "--plot", "quarter", "speed"], 2, "no aggregate 'speed'"),
        (["show", "--plot", "quarter", "who"], 2, "only numbers can be drawn"),
        (["show", "--plot", "quarter", "total", "--key", "nobody"], 3, "no window of 'quarter' to draw"),
        (["show", "--plot", "quarter", "total", "--out", "a/folder/that/is/not/there.png"], 2, "--out"),
        (["show", "--late", "month"], 2, "no window 'month'"),
    ],
)
def test_what_is_not_there_is_told(muntin: Muntin, ran: Project, arguments: list[str], status: int, words: str):
    told = muntin(*ran.arguments(*arguments))
    assert (told.status, told.out) == (status, "")
    assert words in told.err


def test_status_before_the_first_run_is_no_error(muntin: Muntin, project: Project):
    told = muntin(*project.arguments("status"))
    assert (told.status, told.out) == (0, f"sensors: nothing was run yet; its state will be {project.root}/sensors\n")
    assert json.loads(muntin(*project.arguments("status", "--json")).out) == []
    assert muntin("status", "--root", project.root).out == f"no state below {project.root}: nothing was run yet\n"


@pytest.mark.parametrize("command", [["show", "quarter"], ["show", "--late"], ["show", "--plot", "quarter", "total"], ["maintain"]])
def test_a_root_without_the_state_is_told(muntin: Muntin, project: Project, command: list[str]):
    told = muntin(*project.arguments(*command))
    assert told.status == 3
    assert "error (state): there is no" in told.err


def test_plot_draws_a_line_a_key(muntin: Muntin, ran: Project, tmp_path):
    out = tmp_path / "plot.png"
    told = muntin(*ran.arguments("show", "--plot", "quarter", "total", "least", "--out", str(out)))
    assert told.out == f"{out}: 2 lines over 3 windows\n"
    assert out.read_bytes().startswith(b"\x89PNG")


def test_late_rows_by_batch_and_by_state(muntin: Muntin, ran: Project):
    told = json.loads(muntin(*ran.arguments("show", "--late", "quarter", "--states", "--json")).out)
    assert told["batches"] == [
        {"window": "quarter", "batch": "2020-01-02T00:00:00+00:00", "in_time": 1, "correcting": 0, "late": 1, "missed": 1}
    ]
    (state,) = told["states"]["quarter"]
    assert (state["sensor"], state["rows"], state["windows"]) == ("ä", 1, 1)
    assert state["frame"] == "2020-01-01T02:00:00+00:00"  # frames of two hours, shared with the sessions


def test_late_sessions_are_judged_as_chains(muntin: Muntin, ran: Project):
    told = json.loads(muntin(*ran.arguments("show", "--late", "visit", "--states", "--json")).out)
    assert [state["sensor"] for state in told["states"]["visit"]] == ["ä"]


def test_late_for_people(muntin: Muntin, ran: Project):
    lines = muntin(*ran.arguments("show", "--late", "quarter", "--states")).out.splitlines()
    assert lines[1].split() == ["quarter", "2020-01-02", "00:00", "1", "0", "1", "1"]
    assert "quarter: 1 late state" in lines


def test_status_with_the_definition(muntin: Muntin, ran: Project):
    (told,) = json.loads(muntin(*ran.arguments("status", "--json")).out)
    assert (told["pipeline"], told["batches"], told["rows_quarantined"]) == ("sensors", 2, 1)
    assert (told["waiting"], told["missing"], told["staged"]) == ([], [], [])
    quarter = told["windows"][0]
    assert quarter["window"] == "quarter"
    assert (quarter["first"][:10], quarter["last"][:10], quarter["batches"], quarter["windows"]) == ("2020-01-01", "2020-01-02", 2, 3)
    assert (quarter["published_to"], quarter["watermark"]) == ("2020-01-02T06:00:00+00:00", "2020-01-03T00:00:00+00:00")
    assert (quarter["rows_late"], quarter["windows_missed"], quarter["unpublished"]) == (1, 1, 0)
    assert quarter["open_since"] is None


def test_status_of_everything_below_a_root(muntin: Muntin, ran: Project):
    (told,) = json.loads(muntin("status", "--root", ran.root, "--json").out)
    assert [window["window"] for window in told["windows"]] == ["quarter", "visit"]
    assert told["waiting"] is None
    assert "sensors (" in muntin("status", "--root", ran.root).out


def test_quarantine(muntin: Muntin, ran: Project):
    told = muntin(*ran.arguments("show", "--quarantine"))
    lines = told.out.splitlines()
    assert lines[0].split() == ["batch", "(UTC)", "file", "line", "reason", "row"]
    assert lines[1].split()[:4] == ["2020-01-02", "00:00", f"{ran.folder}/2020-01-02.csv", "4"]
    assert "event time is null" in lines[1]
    assert lines[-2:] == ["reason              rows", "event time is null     1"]


def test_quarantine_in_json(muntin: Muntin, ran: Project):
    told = json.loads(muntin(*ran.arguments("show", "--quarantine", "--json", "--from", "2020-01-02", "--last", "1")).out)
    assert (told["total"], told["reasons"]) == (1, [{"reason": "event time is null", "rows": 1}])
    (row,) = told["rows"]
    assert (row["line"], row["position"], row["column"], row["event_time"]) == (4, 2, "at", None)


def test_no_row_in_the_quarantine_of_a_batch(muntin: Muntin, ran: Project):
    told = muntin(*ran.arguments("show", "--quarantine", "--to", "2020-01-02"))
    assert (told.status, told.out.strip()) == (0, "there is no row in the quarantine")


def test_what_a_retry_would_read(muntin: Muntin, ran: Project):
    told = json.loads(muntin(*ran.arguments("show", "--quarantine", "--retry", "--dry-run", "--json")).out)
    assert [batch["reason"] for batch in told["batches"]] == ["1 row in the quarantine"]
