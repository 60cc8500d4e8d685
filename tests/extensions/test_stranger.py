"""The extension of `docs/extensions.md`, installed as a distribution of its own: a sink and a command, beside ours."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installs.install import CACHED

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/extensions.md").read_text(encoding="utf-8")
DEFINITION = """
from datetime import UTC, datetime
from muntin import Pipeline, aggregates as agg, sinks, sources, windows
source = sources.files("rows-{start:%d}.csv", event_time="at")
shop = Pipeline(name="shop", source=source, schedule="@daily", start=datetime(2024, 1, 1, tzinfo=UTC), keys=["site"],
    windows={"day": windows.tumbling("1d")}, aggregates={"n": agg.count()}, to=[sinks.journal("windows.jsonl")])
"""


def block(kind: str) -> str:
    (code,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return str(code)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the distribution, as an installer leaves it: its module, and what it says of itself."""
    place = tmp_path_factory.mktemp("stranger")
    (place / "source").mkdir()
    view = '"show.journal" = "muntin_journal:show"\n"commands.journal"'
    (place / "source/pyproject.toml").write_text(block("toml").replace('"commands.journal"', view))
    (place / "source/muntin_journal.py").write_text(block("python"))
    words = ["pip", "install", "--quiet", "--no-deps", "--python", sys.executable, "--target", place / "installed", place / "source"]
    subprocess.run(["bash", "-c", CACHED, "uv", *words], check=True)
    return place


def muntin(place: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    env = os.environ | {"PYTHONPATH": str(place / "installed")}
    return subprocess.run([sys.executable, "-m", "muntin", *words], cwd=place, env=env, capture_output=True, text=True, check=False)


def test_the_extension_is_fifty_lines() -> None:
    assert len(block("python").splitlines()) + len(block("toml").splitlines()) <= 65


def test_a_stranger_s_sink_gets_windows_and_its_command_counts_them(installed: Path) -> None:
    (installed / "flow.py").write_text(DEFINITION)
    (installed / "rows-01.csv").write_text("at,site\n2024-01-01T01:00:00,a\n2024-01-01T02:00:00,b\n")
    ran = muntin(installed, "run", "flow.py", "--root", "state", "--start", "2024-01-01", "--end", "2024-01-02")
    assert (ran.returncode, "journal windows.jsonl" in ran.stdout) == (0, True), ran.stderr + ran.stdout
    lines = (installed / "windows.jsonl").read_text().splitlines()
    assert len(lines) == 2
    assert all('"window": "day"' in line for line in lines)
    counted = muntin(installed, "journal", "windows.jsonl")
    assert (counted.stdout, counted.returncode) == ("2 changes\n", 0), counted.stderr
    assert muntin(installed, "show", "windows.jsonl", "--journal").stdout == counted.stdout


def test_a_stranger_s_source_gives_rows_and_waits(installed: Path) -> None:
    (installed / "installed/muntin_counted.py").write_text(block("py"))
    info = next((installed / "installed").glob("muntin_journal*.dist-info/entry_points.txt"))
    info.write_text(info.read_text() + "sources.counted = muntin_counted:counted\n")
    source = 'sources.files("rows-{start:%d}.csv", event_time="at")'
    flow = (
        DEFINITION.replace(source, 'sources.counted("hours.txt")')
        .replace("@daily", "@hourly")
        .replace('keys=["site"],', "")
        .replace('"1d"', '"1h"')
    )
    (installed / "counted.py").write_text(flow.replace(', to=[sinks.journal("windows.jsonl")]', ""))
    (installed / "hours.txt").write_text("2024-01-01T00:00:00+00:00 2\n2024-01-01T01:00:00+00:00 3\n")
    ran = muntin(installed, "run", "counted.py", "--root", "counted", "--end", "2024-01-01T03:00")
    assert ran.returncode == 0, ran.stderr + ran.stdout
    assert "gives None: the rows are not there yet" in ran.stdout
    shown = muntin(installed, "show", "counted.py", "day", "--root", "counted").stdout
    assert [line.split()[4] for line in shown.splitlines() if line.startswith("2024")] == ["2", "3"], shown


def test_its_names_are_proposed_beside_ours(installed: Path) -> None:
    assert "journal" in muntin(installed, "--help").stdout
    (installed / "wrong.py").write_text(DEFINITION.replace("sinks.journal", "sinks.jurnal"))
    checked = muntin(installed, "check", "wrong.py")
    assert (checked.returncode, "journal" in checked.stderr) == (2, True), checked.stderr


def test_an_extension_that_cannot_be_loaded_leaves_the_other_commands(installed: Path) -> None:
    info = next((installed / "installed").glob("muntin_journal*.dist-info/entry_points.txt"))
    info.write_text(info.read_text().replace("commands.journal", "commands.gone = muntin_gone:gone\ncommands.journal", 1))
    words = "commands.gone of muntin-journal cannot be loaded: No module named 'muntin_gone'"
    helped, run, asked = muntin(installed, "--help"), muntin(installed, "check", "flow.py"), muntin(installed, "gone")
    assert (helped.returncode, "maintain" in helped.stdout, words in helped.stderr) == (0, True, True), helped.stderr
    assert (run.returncode, run.stderr) == (0, "")
    assert (asked.returncode, words in asked.stderr) == (2, True), asked.stderr
