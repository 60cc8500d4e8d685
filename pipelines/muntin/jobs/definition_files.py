"""From a file to the pipelines that it defines, and to the root that it names for each. Airflow is not imported."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from pathlib import Path
from threading import RLock
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any

from muntin.definition.pipeline import Pipeline
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterator

_GLUE, _GLUE_IS_IN = "airflow_dag", ("muntin", "muntin.airflow")
_IMPORTED = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_ARGUMENT = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")
_ONE = RLock()  # a file is run with names of `muntin` replaced, which threads share


@dataclass(frozen=True, slots=True)
class Defined:
    """What a file defines.

    Attributes:
        pipelines: all that have a name in the file, also imported ones; in the order of their names' first assignment.
        dags: (pipeline, root) of each call of `airflow_dag`; root None: not said.
    """

    pipelines: tuple[Pipeline, ...]
    dags: tuple[tuple[Pipeline, Any], ...]


def run_file(file: Path) -> Defined:
    """Run a definition's file, as Airflow's DAG files are.

    Raises:
        DefinitionError: an error in it, with its line.
    """
    with _ONE:
        dags: list[tuple[Pipeline, Any]] = []
        names = _executed(file, dags)
    found = {id(value): value for value in names.values() if isinstance(value, Pipeline)}
    return Defined(tuple(found.values()), tuple(dags))


def run_file_once(file: Path) -> Defined:
    """As `run_file`, but a file that has not changed since is not run again.

    Raises:
        DefinitionError: an error in it.
        OSError: it is gone.
    """
    facts = file.stat()
    return _run_once(file, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=1024)
def _run_once(file: Path, _written_ns: int, _size: int) -> Defined:
    return run_file(file)


def _executed(file: Path, dags: list[tuple[Pipeline, Any]]) -> dict[str, Any]:
    """The names of a file that was run like an import, its folder first on the path.

    The module does not stay among the imported ones: what Spark's workers need of it travels by value.
    """
    module = ModuleType(f"muntin_definition_{file.stem}")
    module.__file__ = str(file.absolute())
    if (folder := str(file.absolute().parent)) not in sys.path:
        sys.path.insert(0, folder)
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
    """`from muntin import airflow_dag` gives a function that builds nothing: a definition costs no import of Airflow."""

    def noted(*pipeline: Any, root: Any = None, **_: Any) -> None:  # noqa: ANN401 - as the real function has them
        dags.extend((each, root) for each in pipeline if isinstance(each, Pipeline))

    modules = [vars(sys.modules[name]) for name in _GLUE_IS_IN if name in sys.modules]
    before = [names.get(_GLUE) for names in modules]
    for names in modules:
        names[_GLUE] = noted
    try:
        yield
    finally:
        for names, was in zip(modules, before, strict=True):
            del names[_GLUE]
            if was is not None:
                names[_GLUE] = was


def _place(file: Path, wrong: BaseException) -> str:
    """The last line of the file that the error passed."""
    if isinstance(wrong, SyntaxError):
        return f"{file}, line {wrong.lineno}"
    lines = [frame.lineno for frame in extract_tb(wrong.__traceback__) if Path(frame.filename) == file.absolute()]
    return f"{file}, line {lines[-1]}" if lines else str(file)


def _words(wrong: BaseException) -> str:
    if isinstance(wrong, DefinitionError):
        return str(wrong)
    return f"{type(wrong).__name__}: {wrong.msg if isinstance(wrong, SyntaxError) else wrong}{_near(wrong)}"


def _near(wrong: BaseException) -> str:
    """The name that was meant, where one of Muntin's was misspelt."""
    if isinstance(wrong, AttributeError):
        return did_you_mean(str(wrong.name), dir(wrong.obj))
    if isinstance(wrong, ImportError) and (found := _IMPORTED.search(str(wrong))):
        return did_you_mean(found[1], dir(sys.modules.get(found[2])))
    found = _ARGUMENT.search(str(wrong)) if isinstance(wrong, TypeError) and "Did you mean" not in str(wrong) else None
    return did_you_mean(found[2], _arguments(found[1])) if found else ""


def _arguments(function: str) -> list[str]:
    """The arguments that a function of Muntin's takes, by its name."""
    name = function.split(".", maxsplit=1)[0]
    muntin = sys.modules["muntin"]
    found = [Pipeline, *(getattr(getattr(muntin, module), name, None) for module in ("sources", "windows", "aggregates"))]
    return [each for made in found if callable(made) and made.__name__ == name for each in signature(made).parameters]
