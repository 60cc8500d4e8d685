"""What `show` writes to stdout and into files, in each format; the newest windows; --quiet."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin.cli.main import main
from tests.cli.conftest import RANGE, Muntin, Project


def table_of(form: str, content: bytes) -> list[tuple[str, int]]:
    """Key and total of each window, in whatever format."""
    match form:
        case "csv":
            rows = list(csv.DictReader(io.StringIO(content.decode())))
        case "json":
            rows = json.loads(content)
        case "parquet":
            rows = pq.read_table(io.BytesIO(content)).to_pylist()
        case "arrow":
            rows = pa.ipc.open_file(io.BytesIO(content)).read_all().to_pylist()
    return [(row["sensor"], int(row["total"])) for row in rows]


FORMATS = ("csv", "json", "parquet", "arrow")


@pytest.mark.parametrize("form", FORMATS)
def test_stdout_and_a_file_have_the_same_bytes(ran: Project, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, form: str):
    out = tmp_path / f"windows.{form}"
    assert main(ran.arguments("show", "quarter", "--out", str(out))) == 0
    capfdbinary.readouterr()
    assert main(ran.arguments("show", "quarter", "--format", form)) == 0
    printed = capfdbinary.readouterr().out
    assert printed == out.read_bytes()
    assert table_of(form, printed) == [("ä", 1), ("ä", 3), ("ö", 2)]


def test_a_format_by_name_goes_before_the_ending(muntin: Muntin, ran: Project, tmp_path: Path):
    out = tmp_path / "windows.txt"
    assert muntin(*ran.arguments("show", "quarter", "--out", str(out), "--format", "csv")).status == 0
    assert table_of("csv", out.read_bytes())[0] == ("ä", 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "parqet"], "there is no format 'parqet'; there are parquet, csv, json, arrow; did you mean 'parquet'?"),
        (["--format", "csv", "--json"], "exclude each other"),
        (["--out", "windows.xlsx"], "end it in .parquet, .csv, .json, .arrow, or name a --format"),
        (["--out", "no/such/folder/windows.arrow"], "--out no/such/folder/windows.arrow: No such file"),
    ],
)
def test_what_cannot_be_written_is_told(muntin: Muntin, ran: Project, arguments: list[str], words: str):
    told = muntin(*ran.arguments("show", "quarter", *arguments))
    assert told.status == 2
    assert words in " ".join(told.err.split())


# quarter   [00, 06)   [06, 12)   ...   next day [00, 06)
#           ä 1        ö 2                       ä 3
@pytest.mark.parametrize(("last", "found"), [("1", [("ä", 3)]), ("2", [("ä", 3), ("ö", 2)]), ("9", [("ä", 1), ("ä", 3), ("ö", 2)])])
def test_the_last_windows_in_the_order_of_the_table(muntin: Muntin, ran: Project, last: str, found: list[tuple[str, int]]):
    told = muntin(*ran.arguments("show", "quarter", "--last", last, "--format", "csv"))
    assert table_of("csv", told.out.encode()) == found


def in_a_terminal(*arguments: str, **environment: str) -> tuple[int, str]:
    """Exit status, and what the command printed on a terminal that is its stdout and stderr."""
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "muntin", *arguments]
    plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm", "COLUMNS": "100"}
    child = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=plain | environment)
    os.close(theirs)
    printed = b""
    while chunk := _read(ours):
        printed += chunk
    os.close(ours)
    return child.wait(), printed.decode()


def _read(end: int) -> bytes:
    try:
        return os.read(end, 65536)
    except OSError:  # the other end is closed
        return b""


def test_a_terminal_gets_no_binary(ran: Project):
    status, printed = in_a_terminal(*ran.arguments("show", "quarter", "--format", "parquet"))
    assert (status, "PAR1" in printed) == (2, False)
    assert "--format parquet is not for a terminal" in printed


@pytest.mark.parametrize(("environment", "colours"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_on_a_terminal_alone(muntin: Muntin, ran: Project, environment: dict[str, str], colours: bool):
    status, printed = in_a_terminal(*ran.arguments("show", "--timeline", "quarter"), **environment)
    assert status == 0
    assert ("\x1b[34m" in printed) == colours
    assert "\x1b" not in muntin(*ran.arguments("show", "--timeline", "quarter")).out


class TestQuiet:
    """--quiet, anywhere."""

    @pytest.mark.usefixtures("here")
    def test_a_run_says_nothing(self, muntin: Muntin, project: Project) -> None:
        told = muntin(*project.arguments("run", *RANGE, "--quiet"))
        assert (told.status, told.out, told.err) == (0, "", "")
        assert "3 windows" in muntin(*project.arguments("show", "quarter")).out

    def test_results_that_were_asked_for_stay(self, muntin: Muntin, ran: Project) -> None:
        told = muntin("--quiet", *ran.arguments("show", "quarter", "--format", "csv"))
        assert (told.err, table_of("csv", told.out.encode())[0]) == ("", ("ä", 1))
        assert "would remove" in muntin("--quiet", *ran.arguments("maintain", "--dry-run")).out
        assert json.loads(muntin("--quiet", *ran.arguments("maintain", "--json")).out)["removed"] == []

    def test_errors_stay(self, muntin: Muntin, ran: Project) -> None:
        told = muntin(*ran.arguments("show", "month"), "--quiet")
        assert (told.status, told.out) == (2, "")
        assert "no window 'month'" in told.err

    def test_what_was_swept_is_not_said(self, muntin: Muntin, ran: Project) -> None:
        told = muntin(*ran.arguments("maintain"), "--quiet")
        assert (told.status, told.out, told.err) == (0, "", "")
