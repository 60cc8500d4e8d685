"""What Python functions do, as a short text: another text, another state."""

from __future__ import annotations

from hashlib import sha256
from types import CodeType
from typing import Any

_PLAIN = (bool, int, float, str, bytes, tuple, type(None))


def mark(*functions: Any) -> str:  # noqa: ANN401 - functions, methods, classes, whatever can be called
    """Twelve letters that differ when the functions' code, constants, defaults or plain enclosed values do.

    What they call is told by name alone: change that, and the mark stays.

    >>> mark(lambda x: x + 1) == mark(lambda x: x + 1), mark(lambda x: x + 1) == mark(lambda x: x + 2)
    (True, False)
    """
    return sha256(repr([_facts(function) for function in functions]).encode()).hexdigest()[:12]


def _facts(function: Any) -> Any:  # noqa: ANN401 - as above
    code = getattr(function, "__code__", None)
    if code is None:
        return getattr(function, "__qualname__", type(function).__qualname__)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return _code(code), [_plain(value) for value in (function.__defaults__ or ())], [_plain(value) for value in cells]


def _plain(value: Any) -> Any:  # noqa: ANN401 - as above
    if callable(value):
        return _facts(value)
    return repr(value) if isinstance(value, _PLAIN) else type(value).__qualname__


def _code(code: CodeType) -> tuple[Any, ...]:
    constants = [_code(each) if isinstance(each, CodeType) else _constant(each) for each in code.co_consts]
    return code.co_code, code.co_names, constants


def _constant(value: Any) -> str:  # noqa: ANN401 - as above
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
