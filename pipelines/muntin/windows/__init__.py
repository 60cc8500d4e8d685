"""Kinds of windows: parameters, checks, and the assigner that turns sorted frames into ranges."""

from typing import TYPE_CHECKING, Any

from muntin.old_names import no_such_name
from muntin.windows.adjacent.between import between
from muntin.windows.adjacent.while_same import while_same
from muntin.windows.adjacent.while_true import while_
from muntin.windows.all_time import all_time
from muntin.windows.arrival.policies import by_count, by_delta, by_punctuation, by_time, keep
from muntin.windows.arrival.progressive_sort import progressive_sort
from muntin.windows.arrival.window import arrival
from muntin.windows.cumulating import cumulating
from muntin.windows.given import given
from muntin.windows.session import session
from muntin.windows.sliding import sliding
from muntin.windows.trailing import trailing
from muntin.windows.tumbling import tumbling
from muntin.windows.unique_sliding import unique_sliding

__all__ = [
    "all_time",
    "arrival",
    "between",
    "by_count",
    "by_delta",
    "by_punctuation",
    "by_time",
    "cumulating",
    "given",
    "keep",
    "progressive_sort",
    "session",
    "sliding",
    "trailing",
    "tumbling",
    "unique_sliding",
    "while_",
    "while_same",
]

if not TYPE_CHECKING:  # mypy would take each misspelt name for a name of this module

    def __getattr__(name: str) -> Any:  # noqa: ANN401 - nothing is returned
        raise no_such_name(__name__, name)
