"""`muntin new`: a project in an empty folder."""

import keyword
import re
import runpy
import shlex
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json, say_what_was_done
from muntin.cli.working import working
from muntin.definition.extras import is_installed
from muntin.definition.spelling import did_you_mean, many
from muntin.errors import DefinitionError

Folder = Annotated[
    Path | None, typer.Argument(metavar="FOLDER", help="A folder that is new or empty.", show_default=False)
]
Which = Annotated[
    str,
    typer.Option(
        "--template",
        metavar="NAME",
        help="What to begin with; see --list.",
        autocompletion=lambda: [*TEMPLATES],
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="PATH",
        help="Draft the definition from files, a pattern, a Delta table or sqlite:///shop.db#orders.",
        show_default=False,
    ),
]
More = Annotated[list[str] | None, typer.Argument(metavar="PATH...", hidden=True, show_default=False)]
List = Annotated[bool, typer.Option("--list", help="Show the templates.")]
_IMPORTED = ("agg", "dag", "datetime", "read", "sources", "windows")
_JUDGE = "great_expectations"
_SUITES = re.compile("(expectations={.*},)")
_COMMENT = r"# \1  # pip install 'muntin[quality]', then take the first # away"
_HIDDEN = "dot"  # dot.env.example in the package is .env.example in a project
_NO_SUITES = """expectations: great_expectations is not installed, so {} names its suite in a comment.
  pip install 'muntin[quality]', then take the # away: the suite guards what is published."""


@dataclass(frozen=True, slots=True)
class _Template:
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
        _Template(
            "files",
            "sales by the hour and by the day, from a CSV file a day",
            "dags/sales.py",
            "day",
            "2024-05-01",
            "2024-05-04",
        ),
        _Template(
            "flights",
            "delays of the last six hours, of local days and of busy times, from a Parquet file a day",
            "dags/flights.py",
            "last_6_hours",
            "2024-05-01",
            "2024-05-04",
        ),
        _Template(
            "clicks",
            "visits of a web site (sessions), from JSON lines an hour",
            "dags/clicks.py",
            "visit",
            "2024-05-01",
            "2024-05-01T12:00",
        ),
    )
}


def new(  # noqa: C901 - what is refused, in order
    folder: Folder = None,
    more: More = None,
    template: Which = "files",
    draft_from: From = None,
    listed: List = False,
    as_json: opt.Json = False,
) -> None:
    """Make a project in an empty folder.

    A definition, expectations, tests, sample data, and files for Airflow. It runs at once.

    Example:
      muntin new shop
      muntin new visits --template clicks
      muntin new shop --from 'orders/*.csv'
    """
    if listed:
        if as_json:
            return say_json([{"name": each.name, "about": each.about} for each in TEMPLATES.values()])
        return say(
            columns(
                ["template", "what it computes"], [[each.name, each.about] for each in TEMPLATES.values()]
            )
        )
    if folder is None:
        raise typer.BadParameter("name a FOLDER that is new or empty, or say --list")
    if more and draft_from is None:
        raise typer.BadParameter(f"one FOLDER, and files behind --from; {more[0]!r} is one word too many")
    if template not in TEMPLATES:
        raise DefinitionError(
            f"there is no template {template!r}; there are {', '.join(TEMPLATES)}"
            f"{did_you_mean(template, TEMPLATES)}"
        )
    chosen = TEMPLATES[template]
    if folder.exists() and not folder.is_dir():
        raise DefinitionError(f"{folder} is a file; name a folder that is new or empty")
    there = sorted(path.name for path in folder.iterdir() if path.name != ".git") if folder.is_dir() else []
    if there:
        some = ", ".join(there[:3]) + (", ..." if len(there) > 3 else "")  # noqa: PLR2004 - three say enough
        raise DefinitionError(f"{folder} is not empty: {some}; name a folder that is new or empty")
    with working():
        try:
            if draft_from is not None:  # a shell writes a pattern out: its other files are `more`
                chosen = _draft(folder, [draft_from, *(more or [])])
                written = _files_below(folder)
            else:
                written = _write_project(chosen, folder)
        except OSError as wrong:
            raise DefinitionError(f"{wrong.filename or folder}: {wrong.strerror or wrong}") from wrong
    if as_json:
        return say_json(
            {
                "folder": str(folder.absolute()),
                "template": None if draft_from is not None else chosen.name,
                "files": written,
            }
        )
    count = len(written)
    origin = "drafted from files" if draft_from is not None else f"from the template {chosen.name!r}"
    steps = (
        f"cd {shlex.quote(str(folder))}",
        f"muntin check {chosen.file}",
        f"muntin run {chosen.file} --start {chosen.start} --end {chosen.end}",
        f"muntin show {chosen.file} {chosen.window}",
        "pytest" if is_installed("pytest") else "pip install pytest && pytest",
    )
    headline = f"{folder.absolute()}: {many(count, 'file')} {origin}; next:"
    return say_what_was_done(
        "\n".join(
            [
                headline,
                *(f"  {step}" for step in steps),
                *([] if is_installed(_JUDGE) else [_NO_SUITES.format(chosen.file)]),
            ]
        )
    )


def _write_project(template: _Template, folder: Path) -> list[str]:
    """Write a template's files, and its sample data, into a folder; their paths, relative to the folder and
    ascending.

    Without Great Expectations, the definition names its suite in a comment.
    """
    _copy(folder, "shared", template.name)
    _comment_suites(folder / template.file)
    runpy.run_path(str(folder / "sample_data.py"), run_name="__main__")
    return _files_below(folder)


def _draft(folder: Path, given: list[str]) -> _Template:
    """Write a project whose definition is drafted from files."""
    from muntin.cli.draft.definition import drafted
    from muntin.cli.draft.reading import sampled

    name = re.sub(r"\W+", "_", folder.absolute().name.lower(), flags=re.ASCII).strip("_")
    name = f"from_{name}" if not name.isidentifier() or keyword.iskeyword(name) or name in _IMPORTED else name
    draft = drafted(name, sampled(given))
    _copy(folder, "shared")
    for path, text in draft.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    _comment_suites(folder / f"dags/{name}.py")
    return _Template("files", "", f"dags/{name}.py", draft.window, draft.start, draft.end)


def _copy(folder: Path, *parts: str) -> None:
    with as_file(files("muntin").joinpath("templates")) as home:
        for part in parts:
            for path in sorted((home / part).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    to = folder / path.relative_to(home / part)
                    to.parent.mkdir(parents=True, exist_ok=True)
                    to.with_name(to.name.removeprefix(_HIDDEN)).write_bytes(path.read_bytes())


def _comment_suites(definition: Path) -> None:
    if not is_installed(_JUDGE):
        definition.write_text(_SUITES.sub(_COMMENT, definition.read_text(encoding="utf-8")), encoding="utf-8")


def _files_below(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    )
