"""From a file to the pipeline that it defines."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from pipelines.definition.pipeline import Pipeline
from pipelines.definition.spelling import did_you_mean
from pipelines.errors import DefinitionError

_GLUE = "airflow_dag"
_IMPORTED = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_ARGUMENT = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")


def load_pipeline(file: Path, name: str | None = None) -> Pipeline:
    """Run a definition's file and find the pipeline in it.

    Args:
        file: a Python file, as Airflow's DAG files are.
        name: which, if the file holds several.

    Raises:
        DefinitionError: no such file, an error in it, no pipeline, or several and no name.
    """
    if not file.is_file():
        raise DefinitionError(f"there is no file {file}; give the Python file that defines the pipeline, as dags/flights.py")
    found = {id(value): value for value in _executed(file).values() if isinstance(value, Pipeline)}
    known = {pipeline.name: pipeline for pipeline in found.values()}
    if not known:
        raise DefinitionError(f"{file} holds no Pipeline; assign one to a name, as flights = Pipeline(name=...)")
    if name is None and len(known) > 1:
        known = {each.name: each for each in known.values() if id(each) not in _imported()} or known
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name in known:
        return known[name]
    asked = f"there is no {name!r}{did_you_mean(name, known)}" if name else "say which with --pipeline NAME"
    raise DefinitionError(f"{file} holds {', '.join(sorted(known))}; {asked}")


def _imported() -> set[int]:
    """Pipelines of modules that were imported: a definition over another's windows imports that one."""
    modules = [module for module in [*sys.modules.values()] if isinstance(module, ModuleType)]
    return {id(value) for module in modules for value in [*vars(module).values()] if isinstance(value, Pipeline)}


def _executed(file: Path) -> dict[str, Any]:
    """The names of a file that was run like an import, its folder first on the path.

    The module does not stay among the imported ones: what Spark's workers need of it travels by value.
    """
    module = ModuleType(f"muntin_definition_{file.stem}")
    module.__file__ = str(file.absolute())
    if (folder := str(file.absolute().parent)) not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[module.__name__] = module
    try:
        with _without_airflow():
            exec(compile(file.read_bytes(), module.__file__, "exec"), vars(module))  # noqa: S102 - a definition is Python, as a DAG file is
    except (Exception, SystemExit) as wrong:
        raise DefinitionError(f"{_place(file, wrong)}: {_words(wrong)}") from wrong
    finally:
        del sys.modules[module.__name__]
    return vars(module)


@contextmanager
def _without_airflow() -> Iterator[None]:
    """`from pipelines import airflow_dag` gives a function that builds nothing: a definition costs no import of Airflow."""
    names = vars(sys.modules["pipelines"])
    before = names.get(_GLUE)
    names[_GLUE] = lambda *_, **__: None
    try:
        yield
    finally:
        del names[_GLUE]
        if before is not None:
            names[_GLUE] = before


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
    modules = (sys.modules["pipelines"], *(getattr(sys.modules["pipelines"], each) for each in ("sources", "windows", "aggregates")))
    return [each for module in modules if callable(made := vars(module).get(name)) for each in signature(made).parameters]
