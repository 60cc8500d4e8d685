"""A fingerprint of functions. It changes when their code or what they close over changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from hashlib import sha256
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_PLAIN = (bool, int, float, str, bytes, type(None))
_OURS = "muntin."


@dataclass(frozen=True, slots=True)
class _Path:
    """The way from a function to a value that it holds.

    Attributes:
        by_name: whether functions of Muntin count by name.
        ids: of the objects on the way.
    """

    by_name: bool
    ids: tuple[int, ...] = ()


def mark(*functions: Any, ours_by_name: bool = False) -> str:  # noqa: ANN401 - functions, methods, classes: anything that can be called
    """Twelve hexadecimal digits that change with the functions: their code, constants, defaults, closures and
    plain global values.

    A function that they only call counts by name.

    >>> mark(lambda x: x + 1) == mark(lambda x: x + 1), mark(lambda x: x + 1) == mark(lambda x: x + 2)
    (True, False)

    `functions`: anything that can be called. `ours_by_name`: whether a function of Muntin counts by its name,
    its defaults and what it closes over, and not by its byte code. Byte code differs between versions of
    Python. Such a function gets another name when its results change.
    """
    return sha256(
        repr([_content(function, _Path(ours_by_name)) for function in functions]).encode()
    ).hexdigest()[:12]


def _content(value: Any, path: _Path) -> Any:  # noqa: ANN401, PLR0911 - a function holds values of any kind
    """A value as something that has the same `repr` in every process. A value inside itself counts once."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if id(value) in path.ids:
        return "itself"
    path = _Path(path.by_name, (*path.ids, id(value)))
    if isinstance(value, partial):
        return (
            "partial",
            _content(value.func, path),
            _content(value.args, path),
            _content(value.keywords, path),
        )
    if isinstance(value, MethodType):
        return _content(value.__func__, path), _content(value.__self__, path)
    if isinstance(value, FunctionType):
        return _function(value, path)
    if isinstance(value, list | tuple):
        return [_content(each, path) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(repr(_content(each, path)) for each in value)
    if isinstance(value, dict):
        return [(_content(key, path), _content(each, path)) for key, each in value.items()]
    return _object(value, path)


def _function(function: FunctionType, path: _Path) -> Any:  # noqa: ANN401 - as above
    held = [
        function.__defaults__,
        function.__kwdefaults__,
        [_enclosed(cell) for cell in function.__closure__ or ()],
    ]
    if path.by_name and (function.__module__ or "").startswith(_OURS):
        return function.__qualname__, _content(held, path)
    return _code(function.__code__), _content([*held, dict(_globals(function))], path)


def _object(value: Any, path: _Path) -> Any:  # noqa: ANN401 - as above
    """The name of a class, a module or a built-in function. For any other object, its class and its plain
    attributes.

    Other attributes do not count: a logger, for example, holds the loggers of the whole process.
    """
    name = getattr(value, "__qualname__", type(value).__qualname__)
    if isinstance(value, type | ModuleType):
        return name, value.__name__
    if is_dataclass(value):
        return name, [_content(getattr(value, each.name), path) for each in fields(value)]
    return name, [(key, _plain(each)) for key, each in getattr(value, "__dict__", {}).items()]


def _plain(value: Any) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return repr(value) if isinstance(value, _PLAIN) else type(value).__qualname__


def _enclosed(cell: CellType) -> Any:  # noqa: ANN401 - as above
    """The value of a cell; None while the cell is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _globals(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The plain global values that the code may read, the code of inner functions too."""
    for name in sorted(_names(function.__code__)):
        value = function.__globals__.get(name)
        if not name.startswith("__") and value is not None and isinstance(value, (*_PLAIN, tuple, frozenset)):
            yield name, value


def _names(code: CodeType) -> set[str]:
    return {*code.co_names}.union(*(_names(each) for each in code.co_consts if isinstance(each, CodeType)))


def _code(code: CodeType) -> tuple[Any, ...]:
    constants = [_code(each) if isinstance(each, CodeType) else _constant(each) for each in code.co_consts]
    return code.co_code, code.co_names, constants


def _constant(value: Any) -> str:  # noqa: ANN401 - code holds constants of any kind
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
