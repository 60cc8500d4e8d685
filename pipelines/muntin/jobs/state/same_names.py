"""Pipelines of one name: they would share a state and a DAG, and the last to run would win."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from muntin.definition.pipeline import Pipeline
from muntin.errors import DefinitionError

_INSPECTED = 1_000  # files
_OF_DAGS = ("airflow_dag", "muntin_tasks")
_WHY = (
    "a name is that of one state and one DAG, so that one of them would take the other's place: give one"
    " another name"
)


def check_apart(file: Path, pipelines: Iterable[Pipeline]) -> None:
    """Refuse a file with two pipelines of one name, upper and lower case alike, or with the earlier name of
    another.

    Raises:
        DefinitionError: it has such pipelines.
    """
    by_name: dict[str, Pipeline] = {}
    for each in pipelines:
        if (other := by_name.setdefault(each.name.lower(), each)) is not each and other != each:
            raise DefinitionError(f"{file} defines two pipelines of the name {each.name!r}; {_WHY}")
    for each in by_name.values():
        if each.renamed.pipeline and each.renamed.pipeline.lower() in by_name:
            raise DefinitionError(
                f"{file}: renamed= of {each.name!r}: {each.renamed.pipeline!r} is a pipeline of this file;"
                " leave it out"
            )


def check_alone(file: Path, name: str) -> None:
    """Refuse a pipeline whose name another file of the folder `dags` gives to a pipeline, too. Files are
    read; a file that computes names is run.

    Hidden folders are passed over: what syncs a repository keeps earlier commits there. So are modules that
    are imported: the file may have its pipeline from there.

    Raises:
        DefinitionError: there is such a file.
    """
    dags = next((folder for folder in file.absolute().parents if folder.name == "dags"), None)
    imported = {getattr(module, "__file__", None) for module in [*sys.modules.values()]}
    quoted = re.compile(rf"""["']{re.escape(name)}["']""".encode(), re.IGNORECASE)
    for other in _files(dags) if dags else ():
        same = other.samefile(file) if file.exists() else other == file
        if not same and str(other) not in imported and _defines(other, quoted, name.lower()):
            raise DefinitionError(f"{file} and {other} each define a pipeline of the name {name!r}; {_WHY}")


def _files(dags: Path) -> Iterable[Path]:
    paths = (
        file
        for file in sorted(dags.rglob("*.py"))
        if not any(part.startswith(".") for part in file.relative_to(dags).parts)
    )
    return islice(paths, _INSPECTED)


def _defines(file: Path, quoted: re.Pattern[bytes], name: str) -> bool:
    """Whether a call of `Pipeline` in a file has this name, as a text or as a variable with a text; or
    whether a name comes to it that the file computes, or gives to a function of another file.
    """
    try:
        text = file.read_bytes()
        is_said = quoted.search(text) is not None
        nodes = [*ast.walk(ast.parse(text))] if is_said or b"Pipeline" in text else []
    except (OSError, SyntaxError, ValueError):
        return False
    variables = {
        target.id: node.value
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = [(_last(node.func), node) for node in nodes if isinstance(node, ast.Call)]
    names = [_name_in(call, variables).lower() for function, call in calls if function == "Pipeline"]
    makes_dags = any(function in _OF_DAGS for function, _ in calls)
    computes = "" in names or (is_said and makes_dags and not names)
    return name in names or (computes and _comes_to(file, name))


def _comes_to(file: Path, name: str) -> bool:
    """Whether a file, when run, makes a pipeline of this name. A file that fails makes none."""
    from muntin.jobs.state.definition_files import imported_pipelines, run_file_once

    with suppress(DefinitionError, OSError):
        pipelines = run_file_once(file).pipelines
        return name in {each.name.lower() for each in pipelines if id(each) not in imported_pipelines()}
    return False


def _last(function: ast.expr) -> str:
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _name_in(call: ast.Call, variables: Mapping[str, ast.expr]) -> str:
    values = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "name")]
    values = [variables.get(each.id, each) if isinstance(each, ast.Name) else each for each in values]
    return next((str(each.value) for each in values if isinstance(each, ast.Constant)), "")
