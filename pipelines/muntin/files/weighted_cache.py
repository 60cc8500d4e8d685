"""A cache of what a process would make twice: values that together weigh no more than a limit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import wraps
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

K = TypeVar("K")
P = ParamSpec("P")
T = TypeVar("T")


class WeightedCache(Generic[K, T]):
    """Values by their keys, the most recently used.

    `most`: what all values may weigh together; the last one is kept whatever it weighs. `weigh`: a value; by
    default each weighs 1.
    """

    def __init__(self, most: int, weigh: Callable[[T], int] = lambda _: 1) -> None:
        self._most, self._weigh = most, weigh
        self._values, self._weight, self._lock = OrderedDict[K, T](), 0, Lock()

    def get(self, key: K) -> T | None:
        """The value of a key; None where there is none."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: K, value: T) -> T:
        """Keep a value, instead of the one that the key has."""
        with self._lock:
            if key in self._values:
                self._weight -= self._weigh(self._values.pop(key))
            self._values[key] = value
            self._weight += self._weigh(value)
            while self._weight > self._most and len(self._values) > 1:
                self._weight -= self._weigh(self._values.popitem(last=False)[1])
        return value

    def of(self, key: K, make: Callable[[], T]) -> T:
        """The value of a key, made where there is none. An error is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        return self.keep(key, make())

    def __iter__(self) -> Iterator[K]:
        with self._lock:
            return iter([*self._values])

    def cache_clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._weight = 0


def weighted_cache(most: int, weigh: Callable[[Any], int]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A decorator like `lru_cache`, which goes by the weight of results."""

    def cached(function: Callable[P, T]) -> Callable[P, T]:
        results = WeightedCache[Any, T](most, weigh)

        @wraps(function)
        def result(*args: P.args, **kwargs: P.kwargs) -> T:
            return results.of((args, *sorted(kwargs.items())), lambda: function(*args, **kwargs))

        result.cache_clear = results.cache_clear  # type: ignore[attr-defined]
        return result

    return cached
