"""The core without the folder of extensions: each module is imported, a pipeline runs, and the core's own tests pass."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.case_counts import at_length

ROOT = Path(__file__).parents[2]
OF_EXTENSIONS = re.compile(
    r"extensions|sinks\.[a-z]|alerts\.to|[Aa]irflow|sources\.(kafka|iceberg|sql)|forget|\"(--)?(ui|plot|timeline)\"|DAEMON|[Ii]ceberg"
    r"|tests\.(alerts|cluster|page|sinks|topics)\b|from muntin import .*\balerts\b"
)
ELSEWHERE = {  # tests of extensions, and of all together
    "airflow", "alerts", "catalogue", "data_contracts", "extensions", "forgetting", "page", "sinks", "sql", "topics", "zygote",
}  # fmt: skip
OF_THE_CHECKOUT = {"docs", "installs", "compose", "cluster", "soak", "speed", "contracts", "nexmark", "simulation", "faults"}
DEFINITION = """
from datetime import UTC, datetime
from muntin import Pipeline, aggregates as agg, sources, windows
source = sources.files("rows-{start:%d}.csv", event_time="at")
shop = Pipeline(name="shop", source=source, schedule="@daily", start=datetime(2024, 1, 1, tzinfo=UTC), keys=["site"],
    windows={"day": windows.tumbling("1d")}, aggregates={"n": agg.count()})
"""
EVERY_MODULE = """
import pkgutil, muntin
from importlib import import_module
every = [each.name for each in pkgutil.walk_packages(muntin.__path__, "muntin.")]
found = [name for name in every if ".templates" not in name and name != "muntin.airflow"]  # of extensions
for name in found: import_module(name)
print(len(found), any("extensions" in name for name in found), muntin.__path__[0])
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package alone, without its extensions."""
    place = tmp_path_factory.mktemp("core")
    left_out = shutil.ignore_patterns("extensions")  # compiled kernels come along
    shutil.copytree(ROOT / "pipelines/muntin", place / "muntin", ignore=left_out, copy_function=shutil.copy2)
    return place


def python(core: Path, *words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    env = os.environ | {"PYTHONPATH": f"{core}:{ROOT}"}
    return subprocess.run([sys.executable, *words], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_every_module_of_the_core_is_imported_without_extensions(core: Path, tmp_path: Path) -> None:
    told = python(core, "-c", EVERY_MODULE, cwd=tmp_path)
    count, any_extension, place = told.stdout.split()
    assert (int(count) > 400, any_extension, place) == (True, "False", str(core / "muntin")), told.stderr


def test_a_pipeline_runs_without_extensions(core: Path, tmp_path: Path) -> None:
    (tmp_path / "flow.py").write_text(DEFINITION)
    (tmp_path / "rows-01.csv").write_text("at,site\n2024-01-01T01:00:00,a\n")
    span = ["--start", "2024-01-01", "--end", "2024-01-02"]
    for words in (["run", "flow.py", *span], ["show", "flow.py", "day"]):
        done = python(core, "-m", "muntin", *words, "--root", "state", cwd=tmp_path)
        assert done.returncode == 0, f"{words}: {done.stderr}"


@at_length
@pytest.mark.timeout(3600)
def test_the_core_s_tests_pass_without_extensions(core: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of an hour; with few random cases, since `make test` tries the others."""
    monkeypatch.setenv("MUNTIN_CORE", "5")
    files = [
        file
        for file in (ROOT / "tests").rglob("test_*.py")
        if not {*file.relative_to(ROOT / "tests").parts} & (ELSEWHERE | OF_THE_CHECKOUT)
    ]
    chosen = [file for file in files if not OF_EXTENSIONS.search(file.read_text(encoding="utf-8"))]
    assert len(chosen) > 200
    marks = "not spark and not airflow and not gx and not install"
    done = python(core, "-m", "pytest", "-q", "-x", "-n", "2", "-p", "no:cacheprovider", "-m", marks, *map(str, chosen), cwd=ROOT)
    assert done.returncode == 0, done.stdout[-4000:]
