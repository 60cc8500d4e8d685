"""Work beside a command that forgets: it removes files that a reader may hold still, and
nothing is damaged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from muntin.errors import ConflictError, MuntinError, StateError
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.forgotten import forgotten
from muntin.jobs.state.forgotten_log import newest_number
from muntin.store.store import again_after

Done = TypeVar("Done")
_TRIES, _FIRST_S = 8, 0.1


class _BesideError(Exception):
    """An error that may be due to keys that are forgotten meanwhile."""


def beside_forgetting(bound: Bound, work: Callable[[], Done]) -> Done:
    """Do something that reads a state; again where it failed while keys were forgotten.

    Args:
        bound: the pipeline state.
        work: begins anew each time, from what tables hold then.

    Raises:
        Exception: what `work` raised, where no key was forgotten meanwhile, or it failed every time.
    """

    def tried() -> Done:
        before = newest_number(bound.home)
        try:
            return work()
        except Exception as wrong:
            if isinstance(wrong, ConflictError) or (
                not isinstance(wrong, StateError) and isinstance(wrong, MuntinError)
            ):
                raise
            if newest_number(bound.home) == before and not forgotten(bound.home).open:
                raise
            raise _BesideError from wrong

    return again_after(_BesideError, _TRIES, _of, first_s=_FIRST_S)(tried)


def _of(last: BaseException | None) -> Exception:
    """The error that the last attempt met."""
    return (
        last.__cause__ if last and isinstance(last.__cause__, Exception) else StateError("nothing was tried")
    )
