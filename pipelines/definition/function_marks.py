"""What Python functions do, as a short text: another text, another state."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import sha256
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN = (bool, int, float, str, bytes, type(None))


def mark(*functions: Any) -> str:  # noqa: ANN401 - functions, methods, classes, whatever can be called
    """Twelve letters that differ when the functions' code does, or constants, defaults, plain enclosed or global values.

    Functions that they call are told by name alone, unless they are enclosed: change those, and the mark stays.

    >>> mark(lambda x: x + 1) == mark(lambda x: x + 1), mark(lambda x: x + 1) == mark(lambda x: x + 2)
    (True, False)
    """
    return sha256(repr([_told(function, ()) for function in functions]).encode()).hexdigest()[:12]


def _told(value: Any, within: tuple[int, ...]) -> Any:  # noqa: ANN401, PLR0911 - whatever functions hold on to, kind by kind
    """A value as something whose `repr` is the same in every process; what encloses itself is told once."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if id(value) in within:
        return "itself"
    within = (*within, id(value))
    if isinstance(value, partial):
        return "partial", _told(value.func, within), _told(value.args, within), _told(value.keywords, within)
    if isinstance(value, MethodType):
        return _told(value.__func__, within), _told(value.__self__, within)
    if isinstance(value, FunctionType):
        held = [_enclosed(cell) for cell in value.__closure__ or ()]
        return _code(value.__code__), _told([value.__defaults__, value.__kwdefaults__, held, dict(_globals(value))], within)
    if isinstance(value, list | tuple):
        return [_told(each, within) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(repr(_told(each, within)) for each in value)
    if isinstance(value, dict):
        return [(_told(key, within), _told(each, within)) for key, each in value.items()]
    return _object(value, within)


def _object(value: Any, within: tuple[int, ...]) -> Any:  # noqa: ANN401 - as above
    """The name of a class, a module, a built-in function; of any other object its class and what is plain of its attributes,
    since the rest, as a logger, may hold on to the whole process.
    """
    name = getattr(value, "__qualname__", type(value).__qualname__)
    if isinstance(value, type | ModuleType):
        return name, value.__name__
    if is_dataclass(value):
        return name, [_told(getattr(value, each.name), within) for each in fields(value)]
    return name, [(key, _plain(each)) for key, each in getattr(value, "__dict__", {}).items()]


def _plain(value: Any) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return repr(value) if isinstance(value, _PLAIN) else type(value).__qualname__


def _enclosed(cell: CellType) -> Any:  # noqa: ANN401 - as above
    """What a cell holds, which may be nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _globals(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The plain values that the function's code, inner functions' too, may read from its module."""
    for name in sorted(_names(function.__code__)):
        value = function.__globals__.get(name)
        if not name.startswith("__") and value is not None and isinstance(value, (*_PLAIN, tuple, frozenset)):
            yield name, value


def _names(code: CodeType) -> set[str]:
    return {*code.co_names}.union(*(_names(each) for each in code.co_consts if isinstance(each, CodeType)))


def _code(code: CodeType) -> tuple[Any, ...]:
    constants = [_code(each) if isinstance(each, CodeType) else _constant(each) for each in code.co_consts]
    return code.co_code, code.co_names, constants


def _constant(value: Any) -> str:  # noqa: ANN401 - what code objects hold
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
