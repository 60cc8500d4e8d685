"""Which tests a run takes: `make check` the quick files, `make test` all but what is long, `make test-long` what is long.

A test is long that carries `@at_length` (tests/case_counts.py) or stands in tests/at_length.py. `MUNTIN_CORE=300 make test-long`
runs all tests, with every case. What has passed in `make test-long` is written down for the tree of files that it ran on, and is
not run again on the same tree.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import case_counts, durations, touched
from tests.at_length import LONG

PASSED = durations.ROOT / "build/test-long"
NAMED = frozenset(name for names in LONG.values() for name in names)
FILES = frozenset(name for name in NAMED if "::" not in name)
CORES = 2
OWN_PROCESS = "MUNTIN_AIRFLOW_TESTS"
"""Set for the tests in tests/airflow/inside."""


class Run:
    """What holds for the whole run: the file in which it notes what passes, and what has failed meanwhile."""

    note: Path | None = None
    failed = frozenset[str]()


def options(parser: pytest.Parser) -> None:
    """What the Makefile asks for."""
    parser.addoption("--quick", action="store_true", help="files of tests that take no longer than tests/durations.py says")
    parser.addoption("--long", action="store_true", help="what is left out without it; what has passed on this tree is not run again")
    parser.addoption("--touched", metavar="REV", help="with --long: tests of what has changed since REV (tests/touched.py)")


def begin(config: pytest.Config) -> None:
    """Before tests are read: the seed of the run; of `make test-long`, where it notes what passes, and what it will take."""
    if not config.getoption("--long"):
        return case_counts.draw()
    tree = tree_of_files()
    case_counts.draw(int(tree[:6], 16) if tree else None)
    if tree:
        Run.note = PASSED / f"{tree}-{case_counts.count()}-{case_counts.seed()}.txt"
        os.environ["MUNTIN_PASSED"] = str(Run.note)
    asked = [durations.ROOT / argument.partition("::")[0] for argument in config.args]
    files = [path for path in durations.files() if any(path.is_relative_to(each) for each in asked) and not is_left_out(path, config)]
    seconds = sum(durations.seconds(path, "long") for path in files)
    print(
        f"make test-long: about {seconds:,.0f} seconds of a processor, {seconds / 60 / CORES:,.0f} minutes on two that do nothing else; "
        f"{len(passed())} tests have passed on this tree and are not run again",
        file=sys.stderr,
    )
    return None


def passed() -> frozenset[str]:
    """Tests that have passed on this tree, with this seed and as many cases."""
    note = Path(os.environ.get("MUNTIN_PASSED", ""))
    return frozenset(note.read_text(encoding="utf-8").splitlines() if note.is_file() else ())


def note(report: pytest.TestReport) -> None:
    """Note a test whose every phase has passed."""
    if Run.note is None:
        return
    if not report.passed:
        Run.failed |= {report.nodeid}
    elif report.when == "teardown" and report.nodeid not in Run.failed:
        with Run.note.open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")


def said_at_the_end() -> str:
    """How to try the same cases again."""
    return f"cases were drawn with MUNTIN_SEED={case_counts.seed()} and MUNTIN_CORE={case_counts.count()}"


def is_long(item: pytest.Item) -> bool:
    """Whether only `make test-long` runs a test."""
    names = {durations.name_of(item.path), item.nodeid.partition("[")[0], item.nodeid}
    return item.get_closest_marker("at_length") is not None or not NAMED.isdisjoint(names)


def is_left_out(path: Path, config: pytest.Config) -> bool:
    """Whether a run takes no test of a file, so that it need not be read."""
    if not (path.name.startswith("test_") and path.suffix == ".py"):
        return False
    if config.getoption("--long"):
        since = config.getoption("--touched")
        return since is not None and path not in touched.files(since)
    return durations.name_of(path) in FILES or (config.getoption("--quick") and not durations.is_quick(path))


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the run is not for; what is named with `::`, or runs in a process of its own for another test, always runs."""
    if any("::" in argument for argument in config.args) or OWN_PROCESS in os.environ:
        return
    long, done = config.getoption("--long"), passed()
    every = long and case_counts.long()
    taken = [item for item in items if item.nodeid not in done and (every or is_long(item) == long)]
    if len(taken) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in set(taken)])
        items[:] = taken


def tree_of_files() -> str:
    """The name that git gives to the content of all files of the checkout; nothing without git."""
    PASSED.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "GIT_INDEX_FILE": str(PASSED / "index")}

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=durations.ROOT, env=env, check=True, capture_output=True, text=True).stdout.strip()

    try:
        git("add", "--all")
        return git("write-tree")
    except (OSError, subprocess.CalledProcessError):
        return ""
