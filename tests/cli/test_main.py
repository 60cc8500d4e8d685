"""The entry point: help, usage, start-up."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from muntin.cli.failure import explained
from muntin.cli.main import names
from muntin.old_names import COMMANDS as OLD
from tests.cli.conftest import RANGE, Muntin, Project

NAMES = names()
HEAVY = ("pyspark", "deltalake", "pyarrow", "duckdb", "numba", "numpy", "pandas", "matplotlib", "great_expectations", "airflow")


def test_the_installed_command_shows_its_help():
    program = Path(sys.executable).with_name("muntin")
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    assert all((f"\n  {name} " in done.stdout) == ("--" not in name) for name in NAMES)
    assert done.stderr == ""


def test_starting_up_imports_nothing_heavy():
    words = f"import sys, muntin.cli.main; print(sorted(set({HEAVY}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_interrupt_while_modules_load_ends_the_process_at_once():
    words = [sys.executable, "-X", "importtime", "-m", "muntin", "--help"]
    started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stderr is not None
    loaded = next(line for line in started.stderr if line.split()[-1] == "typer")  # the first that the command asks for
    started.send_signal(signal.SIGINT)
    out, rest = started.communicate(timeout=60)
    assert (started.returncode, out) == (-signal.SIGINT, ""), loaded
    assert "Traceback" not in rest


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_an_example(muntin: Muntin, name: str):
    told = muntin(*name.split(), "--help")
    assert told.status == 0
    assert f"Example:\n    muntin {name}" in told.out


@pytest.mark.parametrize("name", [name for name in NAMES if " " in name])
def test_the_help_of_a_command_names_its_forms(muntin: Muntin, name: str):
    assert f"  muntin {name}  " in muntin(name.split(maxsplit=1)[0], "--help").out


def test_the_option_of_a_form_stands_anywhere(muntin: Muntin, ran: Project):
    file, root = ran.file, ("--root", ran.root)
    lines = [
        ["show", "--late", file, "quarter", *root],
        ["show", file, *root, "quarter", "--late"],
        ["--late", "show", *root, file, "quarter"],
    ]
    [told] = {muntin(*line).out for line in lines}
    assert "too late" in told


def test_two_forms_at_once_are_refused(muntin: Muntin):
    told = muntin("show", "x.py", "--late", "--plot", "--changes")
    assert (told.status, "--late and --changes and --plot exclude each other" in told.err) == (2, True), told


@pytest.mark.parametrize("name", OLD)
def test_a_command_that_is_gone_names_the_new_line(muntin: Muntin, name: str):
    told = muntin(name, "x.py")
    new = told.err.partition(f"muntin {name} is gone: write muntin ")[2].split(" FILE")[0].split(" --since")[0].strip()
    assert (told.status, new in NAMES) == (2, True), told


def test_alone_it_shows_its_help(muntin: Muntin):
    assert muntin().out == muntin("--help").out


def test_the_version(muntin: Muntin):
    assert muntin("--version").out.startswith("muntin 0.")


@pytest.mark.parametrize(
    "arguments",
    [
        ["runn"],
        ["run"],
        ["maintain", "--superseded"],
        ["run", "x.py", "--start", "tomorrow", "--end", "2020-01-02"],
        ["maintain", "--older-than", "a while"],
        ["show", "x.py", "w", "--json", "--csv"],
    ],
)
def test_wrong_usage_is_told_on_stderr(muntin: Muntin, arguments: list[str]):
    told = muntin(*arguments)
    assert told.status == 2
    assert told.err.startswith("error (usage): ")
    assert "--help" in told.err or "exclude" in told.err
    assert "--json" in arguments or told.out == ""


def test_an_interrupt_is_told(muntin: Muntin, project: Project, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("muntin.jobs.inspect.plan.plan", interrupted)
    told = muntin(*project.arguments("plan", *RANGE))
    assert (told.status, told.out) == (130, "")
    assert told.err.splitlines()[-1] == "interrupted; run it again, nothing is half done"


@pytest.mark.parametrize(("words", "found"), [("muntin sho", "show"), ("muntin show --timez", "--timezone")])
def test_a_shell_completes_commands_and_options(words: str, found: str) -> None:
    asked = {"_MUNTIN_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run([sys.executable, "-m", "muntin"], env=os.environ | asked, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [found]


def test_a_right_that_is_missing_is_named_with_its_file() -> None:
    said = explained(PermissionError(13, "Permission denied", "/data/lake/2024.csv"))
    assert said == "/data/lake/2024.csv: Permission denied; let the user that runs this command read and write it, and run again"
