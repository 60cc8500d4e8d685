"""Trying again after somebody else came first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from muntin.errors import ConflictError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenacity import RetryCallState

_FIRST_S, _LONGEST_S = 0.02, 2.0


def again_after(
    met: type[Exception],
    tries: int,
    given_up: Callable[[BaseException | None], Exception],
    *,
    first_s: float = _FIRST_S,
) -> Retrying:
    """Attempts, as tenacity has them, until one does not raise `met`.

    Between two lies a random time, twice as long on average at each: runs that met once do not meet again and
    again (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).

    Args:
        met: the error after which to try again.
        tries: the largest number of attempts.
        given_up: makes the error to raise, of the last `met`.
        first_s: seconds; the longest first wait.
    """

    def give_up(state: RetryCallState) -> NoReturn:
        last = state.outcome.exception() if state.outcome else None
        raise given_up(last) from last

    return Retrying(
        stop=stop_after_attempt(tries),
        wait=wait_random_exponential(multiplier=first_s, max=_LONGEST_S),
        retry=retry_if_exception_type(met),
        retry_error_callback=give_up,
    )


def after_conflicts(tries: int, given_up: str) -> Retrying:
    """Attempts, until one meets no ConflictError. After the last a ConflictError says `given_up`."""
    return again_after(ConflictError, tries, lambda _: ConflictError(given_up))
