"""The pipelines that a file defines, and the root that it names for each. Airflow is not imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from inspect import getattr_static, signature
from pathlib import Path
from threading import RLock
from traceback import extract_tb
from types import ModuleType
from typing import Any

from muntin.definition.pipeline import Pipeline
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError
from muntin.jobs.state.same_names import check_apart
from muntin.registry import extension
from muntin.tasks.runner import ship_by_value

_GLUE_IS_IN = ("muntin", "muntin.extensions.airflow")
_IMPORTED = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_ARGUMENT = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")
_OTHER_WORDS = {
    "avg": "mean",
    "average": "mean",
    "std": "stddev",
    "quantile": "percentile",
    "nunique": "count_distinct",
    "hopping": "sliding",
    "hop": "sliding",
    "tumble": "tumbling",
    "every": "step",
    "slide": "step",
    "tz": "timezone",
    "time_column": "event_time",
    "timestamp": "event_time",
    "sep": "delimiter",
    "skiprows": "skip_lines",
    "na_values": "null",
    "interval": "schedule",
    "csv": "files",
    "parquet": "files",
    "json": "files",
    "delta": "table",
}
_NONE_IS_LATE = {
    "arrival": "rows are in windows in the order in which they come, so that none is late",
    "progressive_sort": "rows are in windows in the order in which they come, so that none is late",
    "all_time": "its window never closes, so that no row is late",
}
_VALUES = (
    "event_time=sources.at",
    "format=sources.csv",
    "rows=sources.events",
    "limits=Limits",
    "retain=Retain",
    "renamed=Renamed",
)
"""Arguments whose values take arguments of their own."""
_MODULES = ("sources", "windows", "aggregates")
_ONE = RLock()  # a file is run with names of `muntin` replaced, which threads share


@dataclass(frozen=True, slots=True)
class Defined:
    """The pipelines and calls that a file defines.

    Attributes:
        pipelines: all pipelines with a name in the file, also imported pipelines, in the order of their
            names' first assignment; then those of `dags` alone, as a loop makes them.
        dags: (pipeline, root) of each call of `airflow_dag` and `muntin_tasks`; root None: not given.
    """

    pipelines: tuple[Pipeline, ...]
    dags: tuple[tuple[Pipeline, Any], ...]


def run_file(file: Path) -> Defined:
    """Run a definition's file, as Airflow's DAG files are.

    Raises:
        DefinitionError: an error in it, with its line; or two pipelines of one name.
    """
    with _ONE:
        dags: list[tuple[Pipeline, Any]] = []
        names = _executed(file, dags)
    pipelines = {
        id(value): value
        for value in (*names.values(), *(each for each, _ in dags))
        if isinstance(value, Pipeline)
    }
    check_apart(file, pipelines.values())
    return Defined(tuple(pipelines.values()), tuple(dags))


def run_file_once(file: Path) -> Defined:
    """Run a file as `run_file` does, but a file that has not changed since is not run again.

    Raises:
        DefinitionError: an error in it.
        OSError: it is gone.
    """
    facts = file.stat()
    return _run_once(file, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=1024)
def _run_once(file: Path, _written_ns: int, _size: int) -> Defined:
    return run_file(file)


def imported_pipelines() -> set[int]:
    """The ids of pipelines of imported modules: a definition over another's windows imports that one."""
    modules = [module for module in [*sys.modules.values()] if isinstance(module, ModuleType)]
    return {
        id(value) for module in modules for value in [*vars(module).values()] if isinstance(value, Pipeline)
    }


def _executed(file: Path, dags: list[tuple[Pipeline, Any]]) -> dict[str, Any]:
    """The names of a file that was run like an import, its folder first on the path.

    The module does not stay among the imported modules: what Spark's workers need of it travels by value.
    """
    module = ModuleType(f"muntin_definition_{file.stem}")
    module.__file__ = str(file.absolute())
    if (folder := str(file.absolute().parent)) not in sys.path:
        sys.path.insert(0, folder)
    ship_by_value(Path(folder))
    sys.modules[module.__name__] = module
    try:
        with _without_airflow(dags):
            exec(compile(file.read_bytes(), module.__file__, "exec"), vars(module))  # noqa: S102 - a definition is Python, as a DAG file is
    except (Exception, SystemExit) as wrong:
        raise DefinitionError(f"{_place(file, wrong)}: {_words(wrong)}") from wrong
    finally:
        del sys.modules[module.__name__]
    return vars(module)


@contextmanager
def _without_airflow(dags: list[tuple[Pipeline, Any]]) -> Iterator[None]:
    """`from muntin import airflow_dag, forget_dag` gives functions that build nothing: a definition costs no
    import of Airflow.

    `muntin_tasks` builds its tasks: it stands in a DAG of the user's, among tasks that want it, and Airflow
    is imported already.
    """

    def noted(*pipeline: Any, root: Any = None, **_: Any) -> None:  # noqa: ANN401 - as the real function has them
        dags.extend((each, root) for each in pipeline if isinstance(each, Pipeline))

    def noted_and_made(*pipeline: Any, **options: Any) -> Any:  # noqa: ANN401 - as the real function has them
        noted(*pipeline, root=options.get("root"))
        return extension("muntin", "muntin_tasks")(*pipeline, **options)

    glue = {"airflow_dag": noted, "forget_dag": lambda *_, **__: None, "muntin_tasks": noted_and_made}
    modules = [vars(sys.modules[name]) for name in _GLUE_IS_IN if name in sys.modules]
    before = [{name: names[name] for name in glue if name in names} for names in modules]
    for names in modules:
        names.update(glue)
    try:
        yield
    finally:
        for names, was in zip(modules, before, strict=True):
            for name in glue:
                del names[name]
            names.update(was)


def _place(file: Path, wrong: BaseException) -> str:
    """The last line of the file that the error passed."""
    if isinstance(wrong, SyntaxError):
        return f"{file}, line {wrong.lineno}"
    lines = [
        frame.lineno for frame in extract_tb(wrong.__traceback__) if Path(frame.filename) == file.absolute()
    ]
    return f"{file}, line {lines[-1]}" if lines else str(file)


def _words(wrong: BaseException) -> str:
    if isinstance(wrong, DefinitionError):
        return str(wrong)
    return f"{type(wrong).__name__}: {wrong.msg if isinstance(wrong, SyntaxError) else wrong}{_near(wrong)}"


def _near(wrong: BaseException) -> str:
    """The name that was meant, where one of Muntin's was misspelt or is another library's."""
    text = str(wrong)
    if isinstance(wrong, AttributeError):
        return _meant(str(wrong.name), _public(wrong.obj))
    if isinstance(wrong, ImportError):
        return _near_import(wrong, _IMPORTED.search(text))
    if isinstance(wrong, NameError) and wrong.name in ("start", "end", "start_utc", "end_utc"):
        return (
            "; the path of a source is a plain text, without an f before its quotes:"
            ' "data/{start:%Y-%m-%d}.csv"'
        )
    line = extract_tb(wrong.__traceback__)[-1].line or ""
    if isinstance(wrong, NameError) and (home := _home(str(wrong.name))) and f"{wrong.name}(" in line:
        return f"; {home}"
    if isinstance(wrong, NameError) and re.search(rf"\.\w+\([^\"']*\b{wrong.name}\b", line):
        return f'; if {wrong.name} is a column, or SQL over columns, it stands in quotes: "{wrong.name}"'
    match = _ARGUMENT.search(text) if isinstance(wrong, TypeError) and "Did you mean" not in text else None
    arguments = _arguments(match[1]) if match else []
    meant = ""
    if match and arguments:
        meant = (
            _meant(match[2], arguments)
            or _inside(match[2], arguments)
            or f"; it takes {', '.join(arguments)}"
        )
    if match and match[2] in ("grace", "allowed_lateness") and match[1] in _NONE_IS_LATE:
        meant = f"; {_NONE_IS_LATE[match[1]]}: leave {match[2]} out"
    files = "; sources.csv says how files are written: sources.files(path, format=sources.csv())"
    return files if match and match[1] == "csv" and "event_time" in text else meant


def _inside(name: str, arguments: Sequence[str]) -> str:
    """The argument whose value takes an argument; "" if none does."""
    values = ((value, *value.partition("=")[::2]) for value in _VALUES)
    takes = (
        (value, function, "..., " if argument == "event_time" else "")
        for value, argument, function in values
        if argument in arguments
    )
    return next(
        (
            f"; {name} is an argument of {function}: {value}({first}{name}=...)"
            for value, function, first in takes
            if name in _arguments(function.rpartition(".")[2])
        ),
        "",
    )


def _home(name: str) -> str:
    """How a function or value of Muntin's is reached; "" of other names."""
    muntin = sys.modules["muntin"]
    if name in muntin.__all__:
        return f"write from muntin import {name}"
    modules = (each for each in _MODULES if name in getattr(muntin, each).__all__)
    return next((f"it is {each}.{name}" for each in modules), "")


def _near_import(wrong: ImportError, match: re.Match[str] | None) -> str:
    """The name of Muntin's, or the package, that was misspelt."""
    if match:
        return _meant(match[1], _public(sys.modules.get(match[2])))
    from importlib.metadata import packages_distributions

    return did_you_mean(
        str(wrong.name).partition(".")[0], {"muntin", *sys.stdlib_module_names, *packages_distributions()}
    )


def _public(thing: object) -> list[str]:
    """The names of a module or a class that are for users."""
    return [
        name
        for name in dir(thing)
        if not name.startswith("_") and not isinstance(getattr_static(thing, name, None), ModuleType)
    ]


def _meant(name: str, candidates: Sequence[str]) -> str:
    other = _OTHER_WORDS.get(name.lower())
    return f"; it is called {other!r} here" if other in candidates else did_you_mean(name, candidates)


def _arguments(function: str) -> list[str]:
    """The arguments that a function of Muntin's takes, by its name."""
    name = function.split(".", maxsplit=1)[0]
    muntin = sys.modules["muntin"]
    functions = [
        Pipeline,
        *(getattr(muntin, each) for each in ("Limits", "Renamed", "Retain")),
        *(getattr(getattr(muntin, module), name, None) for module in _MODULES),
    ]
    return [
        each
        for candidate in functions
        if callable(candidate) and candidate.__name__ == name
        for each in signature(candidate).parameters
    ]
