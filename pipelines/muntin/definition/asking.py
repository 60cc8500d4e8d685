"""Asking: whether a person may publish windows that failed their suite, and how long Airflow waits for the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from muntin.definition.checks import check_choice
from muntin.definition.durations import Duration, positive
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Mapping

OnFailure = Literal["hold", "ask"]
PUBLISH_DESPITE = "muntin publish FILE --despite {} --reason WHY"
"""The command that publishes what a suite holds, with the name of its verdict."""
DAY = "1d"
"""So long Airflow waits for an answer unless the definition says: as long as an unanswered run takes one of the DAG's active runs."""


def ask_within_us(on_failure: OnFailure, within: Duration | None, expectations: Mapping[str, Any]) -> int | None:
    """How long to wait for an answer, in microseconds; None: nobody is asked.

    Raises:
        DefinitionError: no such choice, no duration, or a question that can never be asked.
    """
    check_choice("on_failure", on_failure, get_args(OnFailure))
    if on_failure == "ask" and not expectations:
        raise DefinitionError('on_failure="ask": there are no expectations, so no suite can fail; give expectations, or leave it out')
    if on_failure != "ask" and within is not None:
        raise DefinitionError(f'ask_within={within!r}: nobody is asked; say on_failure="ask", too, or leave it out')
    return positive(DAY if within is None else within, "ask_within") if on_failure == "ask" else None
