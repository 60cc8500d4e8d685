"""Terminal, files, page and logs, with keys and names of files that would do something there: all of it stands as text."""

import csv
import io
import json
import logging
import os
import pty
import re
from collections.abc import Iterator
from pathlib import Path
from unicodedata import category
from xml.etree import ElementTree as ET

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from muntin.cli.main import main
from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.extensions.airflow.log_lines import accumulated, validated
from muntin.extensions.page.app import page_app
from muntin.extensions.page.installation import Installation
from muntin.jobs.published.staged_windows import Staged
from muntin.jobs.records.reports import Accumulated, Counts, ReadFile
from tests.alerts.made import check, report
from tests.case_counts import paired
from tests.end_to_end.hourly import hour, times

UNSEEN = {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}
ESCAPE, NUL, NONE_SUCH, TURNED = "\x1b]0;owned\x07\x1b[2J", "\x00", "\ufffe", "\u202e"
KEYS = [
    f"{ESCAPE}{NUL}{NONE_SUCH}{TURNED}\r\n\x9b31m\x7f\u2028end",
    "<script>alert(1)</script>",
    "<!channel> <http://evil.example|click> <@U123456> @everyone @here",
    "[text](http://evil.example) ![x](http://evil.example/x.png)",
    "=HYPERLINK(1)",
    "+1",
    "-1",
    "@SUM(1)",
    "\t=1",
    "_of_matplotlib",
    "$x_1$ \\frac{",
]
FILE = f"00 {ESCAPE}\r\n  error: forged <b>.parquet"
DEFINITION = """
from datetime import UTC, datetime

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

shown = Pipeline(
    name="shown",
    source=sources.files("data/{start:%H}*.parquet", event_time="at"),
    schedule="1h",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    keys=["k"],
    windows={"hour": windows.tumbling("1h")},
    aggregates={"n": agg.count(), "least": agg.min("k")},
)
"""
RANGE = ["--start", hour(0).isoformat(), "--end", hour(1).isoformat()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has run, with a row in quarantine for each key."""
    folder = tmp_path_factory.mktemp("shown")
    for name in ("dags", "data"):
        (folder / name).mkdir()
    (folder / "dags/shown.py").write_text(DEFINITION, encoding="utf-8")
    rows = [(at, key) for key in KEYS for at in (times(1)[0], None)]
    pq.write_table(
        pa.table({"at": pa.array([at for at, _ in rows], pa.timestamp("us", "UTC")), "k": [key for _, key in rows]}), folder / "data" / FILE
    )
    assert main([*command(folder, "run"), *RANGE, "--quiet"]) == 0
    return folder


def command(folder: Path, name: str, *more: str) -> list[str]:
    return [name, str(folder / "dags/shown.py"), *more, "--root", str(folder / "state")]


def unseen(text: str) -> list[str]:
    """The characters of a text that do something, but for the ends of lines."""
    return [each for each in text if each not in "\n\N{ZERO WIDTH NON-JOINER}" and category(each) in UNSEEN]


# The terminal


@pytest.mark.parametrize(
    "asked",
    [
        ("show", "hour"),
        ("show", "hour", "--json"),
        ("explain", "hour", "--key", KEYS[2], "--at", hour(0.5).isoformat()),
        ("explain", "hour", "--key", "\x1b[2J", "--at", hour(0.5).isoformat()),
        ("plan", *RANGE),
        ("plan", *RANGE, "--json"),
        ("show", "--quarantine"),
        ("show", "--quarantine", "--json"),
        ("show", "--timeline", "hour"),
        ("show", "--changes", "hour", "--since", "-1"),
        ("show", "--late"),
        ("status",),
        ("doctor",),
        ("check",),
    ],
    ids=" ".join,
)
def test_the_terminal(folder: Path, asked: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    name, *more = asked
    place = [] if name == "check" else ["--root", str(folder / "state")]
    main([name, str(folder / "dags/shown.py"), *more, *place])
    told = capfd.readouterr()
    assert unseen(told.out + told.err) == []
    assert not re.search(r"^  error: forged", told.out, re.MULTILINE)


def test_a_name_of_a_file_is_no_line_of_an_error(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / FILE).write_text("damaged")
    (tmp_path / "shown.py").write_text(DEFINITION.replace('"data/', f'"{tmp_path}/data/'), encoding="utf-8")
    assert main(["run", str(tmp_path / "shown.py"), "--root", str(tmp_path / "state"), *RANGE]) == 3
    told = capfd.readouterr().err
    assert unseen(told) == []
    assert not re.search(r"^error: forged", told, re.MULTILINE)


def test_json_has_the_keys_as_they_are(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(command(folder, "show", "hour", "--json"))
    assert {row["k"] for row in json.loads(capfd.readouterr().out)["rows"]} == {*KEYS}


def test_csv_on_a_terminal_is_printable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", terminal)
        main(command(folder, "show", "hour", "--csv"))
    shown = os.read(ours, 65536).decode().replace("\r\n", "\n")
    os.close(ours)
    assert "HYPERLINK" in shown
    assert unseen(shown) == []


# Files


def test_no_cell_of_csv_is_a_formula(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "windows.csv"
    assert main(command(folder, "show", "hour", "--out", str(out))) == 0
    found = [row["k"] for row in csv.DictReader(io.StringIO(out.read_bytes().decode(), newline=""))]
    assert not [key for key in found if key.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    assert {key.removeprefix("'") for key in found} == {*KEYS}


@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "html"])
def test_pictures(folder: Path, ending: str, tmp_path: Path) -> None:
    out = tmp_path / f"lines.{ending}"
    assert main(command(folder, "show", "--plot", "hour", "n", "--out", str(out))) == 0
    if ending == "svg":
        ET.fromstring(out.read_bytes())  # noqa: S314 - our own
    if ending in {"svg", "html"}:
        text = out.read_text(encoding="utf-8")
        assert unseen(text) == []
        assert "<script>alert" not in text


# The page


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    installation = Installation(lambda: {"shown": folder / "dags/shown.py"}, folder / "state", folder)
    with TestClient(page_app(installation, enter=lambda: None, may_see=lambda *_: True, clock=lambda: 0)) as found:
        yield found


@pytest.mark.parametrize(
    ("key", "tab"), paired(range(len(KEYS)), ["timeline", "windows", "results", "batches", "plan", "quarantine", "suites"])
)
def test_the_page(client: TestClient, tab: str, key: int) -> None:
    asked = {"window": "hour", "f0": KEYS[key], "from": hour(0).isoformat(), "to": hour(1).isoformat()}
    answer = client.get(f"/pipeline/shown/{tab}", params=asked if tab != "quarantine" else {})
    assert answer.status_code == 200
    assert unseen(answer.text) == []
    assert "<script>alert" not in answer.text


def test_an_error_of_the_page(client: TestClient) -> None:
    answer = client.get("/pipeline/shown/windows", params={"window": "<script>alert\x1b\x00"})
    assert answer.status_code == 400
    assert unseen(answer.text) == []
    assert "<script>alert" not in answer.text


# Logs, which Airflow's UI shows


def test_logs(caplog: pytest.LogCaptureFixture) -> None:
    interval = Interval(0, 1)
    files = (ReadFile(f"/data/{FILE}", 1, 1, 1),)
    with caplog.at_level(logging.INFO, "muntin"):
        for line in accumulated(Accumulated(interval, "v", Counts(1, 1), 0, files), changed=False):
            logging.getLogger("muntin").info(line)
        for line in validated([report(check(failing_rows=[{"k": key} for key in KEYS], error=None))], Staged("", [], [])):
            logging.getLogger("muntin").info("%s", line)
        logging.getLogger("muntin").warning("%s: %s", KEYS[0], SourceError(FILE))
    assert "HYPERLINK" in caplog.text
    assert unseen("\n".join(record.getMessage() for record in caplog.records)) == []
    assert all("\n" not in record.getMessage() for record in caplog.records[:-1])


def test_errors() -> None:
    assert unseen(str(SourceError("; ".join(KEYS)))) == []
