"""The core, each extra alone, and all, each in a fresh environment: what the README says it can, or the extra that is missing by name."""

import json
import subprocess
import tomllib
from collections.abc import Iterable
from functools import cache, cached_property
from importlib.metadata import packages_distributions
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.case_counts import at_length, long
from tests.installs.install import ROOT, UV, Place

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
ALIASES = {"gx"}  # of one other extra
RANGE = ("--start", "2024-05-01", "--end", "2024-05-04")
SALES = "dags/sales.py"
WHOLE = {"", "quality", "all"}
"""Extras with which a run differs. With each other extra nothing is tried but what it brings; all is tried at length."""
EVERY_MODULE = """
import importlib, json, pkgutil, muntin
missing = {}
for module in pkgutil.walk_packages(muntin.__path__, "muntin.", onerror=lambda _: None):
    if not module.name.startswith("muntin.templates") and not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as wrong:
            missing[module.name] = wrong.name.partition(".")[0]
print(json.dumps(missing))
"""


@cache
def extras_of(extra: str) -> frozenset[str]:
    """An extra, and those that it brings with it."""
    inner = {name for each in map(Requirement, EXTRAS[extra]) if each.name == PROJECT["name"] for name in each.extras}
    return frozenset({extra}).union(*(extras_of(name) for name in inner))


class Shop:
    """A new project in an environment with one extra, or none, or all; its folder has a space in its name."""

    def __init__(self, place: Place, extra: str, folder: Path) -> None:
        self.place, self.folder, self.whole = place, folder / "my shop", long() or extra in WHOLE
        self.extras = extras_of(extra) if extra else frozenset()
        place.install(f"muntin[{extra}]" if extra else "muntin")
        self.new = self.fine("muntin", "new", "my shop", cwd=folder)

    @cached_property
    def run(self) -> str:
        """What the run of the whole range prints."""
        return self.fine("muntin", "run", SALES, *RANGE)

    def fine(self, *words: str, cwd: Path | None = None, java: bool = False) -> str:
        """What a program prints that must succeed."""
        done = self.place.call(*words, cwd=cwd or self.folder, java=java)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *words: str) -> str:
        """The last line of a command that must be refused as an incomplete installation."""
        done = self.place.call(*words, cwd=self.folder)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr.splitlines()[-1]


ALONE = [pytest.param(extra, marks=at_length) for extra in sorted(EXTRAS.keys() - ALIASES - {"dev"})]


@pytest.fixture(scope="module", params=[pytest.param("", id="core"), *ALONE])
def shop(place: Place, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Shop:
    return Shop(place, request.param, tmp_path_factory.mktemp("shops"))


def test_each_extra_alone_is_tried() -> None:
    assert all([*map(str, EXTRAS[alias])] in [[f"muntin[{other}]"] for other in EXTRAS] for alias in ALIASES)


def test_it_is_complete_and_each_module_lacks_at_most_what_other_extras_declare(shop: Shop) -> None:
    shop.fine(UV, "pip", "check")
    missing = json.loads(shop.fine("python", "-c", EVERY_MODULE).splitlines()[-1])  # Airflow logs on stdout
    mine, others = declared(shop.extras), declared(EXTRAS.keys() - shop.extras - {"dev"})
    names = {package: {*map(canonicalize_name, of)} for package, of in packages_distributions().items()}
    assert {module: name for module, name in missing.items() if not others & names.get(name, set())} == {}
    assert {module: name for module, name in missing.items() if mine & names[name]} == {}


def declared(extras: Iterable[str]) -> set[str]:
    """The packages that extras name, other extras of this project left out."""
    return {Requirement(line).name for extra in extras for line in EXTRAS[extra]} - {PROJECT["name"]}


def test_the_help(shop: Shop) -> None:
    assert not shop.whole or "Windowed aggregation" in shop.fine("muntin", "--help")


def test_a_new_project_says_what_its_suite_needs(shop: Shop) -> None:
    line = next(line.strip() for line in (shop.folder / SALES).read_text().splitlines() if "expectations=" in line)
    judged = "quality" in shop.extras
    assert line.startswith("#") != judged
    assert ("pip install 'muntin[quality]'" in shop.new, "pip install 'muntin[quality]'" in line) == (not judged, not judged)
    assert "cd 'my shop'" in shop.new


def test_check_run_and_show_without_java(shop: Shop) -> None:
    judged = "quality" in shop.extras
    checked = shop.fine("muntin", "check", SALES)
    assert ("2 windows, 3 aggregates" in checked, "1 suite" in checked) == (True, judged)
    if not shop.whole:
        return
    assert "3 batches: 55 rows read, 0 quarantined, 0 late" in shop.run
    assert ("expectations: window 'day' passed" in shop.run) == judged
    shown = shop.fine("muntin", "show", SALES, "day", "--format", "csv")
    assert "north,2024-05-01T00:00:00+00:00,2024-05-02T00:00:00+00:00,10,144.50,19.50," in shown


def test_a_plot(shop: Shop) -> None:
    plot = ("muntin", "show", "--plot", SALES, "day", "revenue", "--out", "revenue.svg")
    if "plot" in shop.extras:
        assert shop.run
        shop.fine(*plot)
        assert "<svg" in (shop.folder / "revenue.svg").read_text()
    elif shop.whole:
        assert shop.refused(*plot) == missing("matplotlib", "plot")


def test_the_page(shop: Shop) -> None:
    words = ("muntin", "ui", SALES)
    if "page" in shop.extras:
        assert b"sales" in first_answer(words, shop)
    elif shop.whole or "airflow" in shop.extras:
        assert shop.refused(*words) == (missing("matplotlib", "plot") if "airflow" in shop.extras else missing("fastapi", "page"))


def first_answer(words: tuple[str, ...], shop: Shop) -> bytes:
    """What the address that a program prints first answers."""
    environment, browser = shop.place.variables(java=False), build_opener(HTTPCookieProcessor())
    with subprocess.Popen(words, cwd=shop.folder, env=environment, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout
            with browser.open(running.stdout.readline().strip(), timeout=60) as answer:
                return answer.read()
        finally:
            running.terminate()


def test_spark_gives_the_same_windows(shop: Shop) -> None:
    if shop.extras == {"spark"}:
        assert shop.run
        shop.fine("muntin", "run", SALES, *RANGE, "--root", "by-spark", "--spark", "local[1]", java=True)
        here, there = (shop.fine("muntin", "show", SALES, "day", *more, "--format", "csv") for more in ((), ("--root", "by-spark")))
        assert here == there
    elif "spark" not in shop.extras and shop.whole:
        assert shop.refused("muntin", "run", SALES, *RANGE, "--spark", "sc://127.0.0.1:1") == missing("pyspark", "spark")


def test_a_state_in_an_object_store_needs_its_extra(shop: Shop) -> None:
    if "s3" not in shop.extras and shop.whole:
        assert shop.refused("muntin", "show", SALES, "day", "--root", "s3://bucket/state") == missing("obstore", "s3")


def test_airflow_reads_the_definition(shop: Shop) -> None:
    if "airflow" in shop.extras:
        shop.fine("python", SALES)
    elif shop.whole:
        done = shop.place.call("python", SALES, cwd=shop.folder)
        assert done.stderr.splitlines()[-1].endswith(missing("airflow", "airflow").removeprefix("error (installation): "))


def missing(package: str, extra: str) -> str:
    return f"error (installation): {package} is not installed: pip install 'muntin[{extra}]'"
