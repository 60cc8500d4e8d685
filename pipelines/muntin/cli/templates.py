"""The projects that `muntin new` makes: files of the package, and what they are about."""

from __future__ import annotations

import re
import runpy
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from muntin.definition.extras import is_installed

if TYPE_CHECKING:
    from pathlib import Path

JUDGE = "great_expectations"
_SUITES = re.compile("(expectations={.*},)")
_COMMENT = r"# \1  # pip install 'muntin[quality]', then take the first # away"
_HIDDEN = "dot"  # dot.env.example in the package is .env.example in a project


@dataclass(frozen=True, slots=True)
class Template:
    """A project to begin with.

    Attributes:
        name: of the template, and of its folder in the package.
        about: what it computes, in a line.
        file: of the definition.
        window: the window to show first.
        start, end: the range that the sample data covers.
    """

    name: str
    about: str
    file: str
    window: str
    start: str
    end: str


TEMPLATES = {
    each.name: each
    for each in (
        Template("files", "sales by the hour and by the day, from a CSV file a day", "dags/sales.py", "day", "2024-05-01", "2024-05-04"),
        Template(
            "flights",
            "delays of the last six hours, of local days and of busy times, from a Parquet file a day",
            "dags/flights.py",
            "last_6_hours",
            "2024-05-01",
            "2024-05-04",
        ),
        Template(
            "clicks",
            "visits of a web site (sessions), from JSON lines an hour",
            "dags/clicks.py",
            "visit",
            "2024-05-01",
            "2024-05-01T12:00",
        ),
    )
}


def write_project(template: Template, folder: Path) -> list[str]:
    """Write a template's files, and its sample data, into a folder; their paths, relative to the folder and ascending.

    Without Great Expectations, the definition names its suite in a comment.
    """
    with as_file(files("muntin").joinpath("templates")) as home:
        for part in ("shared", template.name):
            for path in sorted((home / part).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    _copy(path, folder / path.relative_to(home / part))
    if not is_installed(JUDGE):
        definition = folder / template.file
        definition.write_text(_SUITES.sub(_COMMENT, definition.read_text(encoding="utf-8")), encoding="utf-8")
    runpy.run_path(str(folder / "sample_data.py"), run_name="__main__")
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)


def _copy(path: Path, to: Path) -> None:
    """A file under its name in a project."""
    to.parent.mkdir(parents=True, exist_ok=True)
    to.with_name(to.name.removeprefix(_HIDDEN)).write_bytes(path.read_bytes())
