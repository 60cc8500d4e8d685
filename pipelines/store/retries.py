"""Trying again after another run came first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from pipelines.errors import ConflictError

if TYPE_CHECKING:
    from tenacity import RetryCallState

_FIRST_S, _LONGEST_S = 0.02, 2.0


def after_conflicts(tries: int, given_up: str) -> Retrying:
    """Attempts, as tenacity has them, until one meets no ConflictError.

    Between two lies a random time, twice as long on average at each: runs that met once do not meet again and again
    (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).

    Args:
        tries: the largest number of attempts.
        given_up: the message of the last error.

    Raises:
        ConflictError: all attempts met one.
    """

    def give_up(state: RetryCallState) -> NoReturn:
        raise ConflictError(given_up) from (state.outcome.exception() if state.outcome else None)

    return Retrying(
        stop=stop_after_attempt(tries),
        wait=wait_random_exponential(multiplier=_FIRST_S, max=_LONGEST_S),
        retry=retry_if_exception_type(ConflictError),
        retry_error_callback=give_up,
    )
