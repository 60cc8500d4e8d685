"""Results that a process keeps: as many as together weigh no more than a limit, the most recently used
results.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import update_wrapper
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Kept(Generic[P, T]):
    """A pure function of values that can be keys, whose results are kept.

    A pipeline may have thousands of windows, each with a small ledger, or a few with a large one: a limit of
    their number would be too small for some callers, or too large for the rest.
    """

    def __init__(
        self, do: Callable[P, T], most: int, weigh: Callable[[T], int], newest: int | None = None
    ) -> None:
        """`most`: what all results may weigh together; the last one is kept whatever it weighs.

        `newest`: how many results with one first argument are kept, where newer ones take the place of older
            ones; None: all.
        """
        update_wrapper(self, do)
        self._do, self._most, self._weigh, self._newest = do, most, weigh, newest
        self._lock, self._found, self._weight = Lock(), OrderedDict[tuple[Any, ...], T](), 0
        self._alike = dict[object, list[tuple[Any, ...]]]()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """The result, which may be an earlier one."""
        key: tuple[Any, ...] = (args, *sorted(kwargs.items()))
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        result = self._do(*args, **kwargs)
        with self._lock:
            self._keep(key, result)
        return result

    def _keep(self, key: tuple[Any, ...], result: T) -> None:
        if key in self._found:
            return
        self._found[key] = result
        self._weight += self._weigh(result)
        if self._newest is not None:
            alike = self._alike.setdefault(key[0][0], [])
            alike.append(key)
            if len(alike) > self._newest:
                self._forget(alike[0])
        while self._weight > self._most and len(self._found) > 1:
            self._forget(next(iter(self._found)))

    def _forget(self, key: tuple[Any, ...]) -> None:
        self._weight -= self._weigh(self._found.pop(key))
        if self._newest is not None:
            alike = self._alike[key[0][0]]
            alike.remove(key)
            if not alike:
                del self._alike[key[0][0]]

    def cache_clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._found.clear()
            self._alike.clear()
            self._weight = 0


def kept(
    most: int, weigh: Callable[[Any], int], newest: int | None = None
) -> Callable[[Callable[P, T]], Kept[P, T]]:
    """Keep the results of a function; see `Kept`."""
    return lambda do: Kept(do, most, weigh, newest)
