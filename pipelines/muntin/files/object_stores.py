"""The clients of buckets, and their errors in words that say what to do."""

from __future__ import annotations

import errno
import os
import re
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from muntin.errors import StorageError
from muntin.files.settings import ASK_S, MOVE_S, client_options, profile, retries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from obstore.store import ObjectStore

_CODE = re.compile(r"<Code>(\w+)</Code>")
_SETTINGS = ("AWS_", "AZURE_", "GOOGLE_")
_REQUEST = "Error performing"
_DENIED = (
    "AccessDenied",
    "Forbidden",
    "SignatureDoesNotMatch",
    "XAdminUserNotFound",
    "ExpiredToken",
    "InvalidToken",
)


def to_ask(bucket: str) -> ObjectStore:
    """The client of a bucket for short questions. `bucket`: an address, as `s3://bucket`."""
    return _store(bucket, ASK_S, _surroundings())


def to_move(bucket: str) -> ObjectStore:
    """The client of a bucket for the content of files."""
    return _store(bucket, MOVE_S, _surroundings())


def _surroundings() -> int:
    """A number for the process and its settings of object stores; another number needs a new client."""
    return hash(
        (os.getpid(), *((name, value) for name, value in os.environ.items() if name.startswith(_SETTINGS)))
    )


@lru_cache(maxsize=64)
def _store(bucket: str, timeout_s: int, _surroundings: int) -> ObjectStore:
    from obstore.store import from_url

    with worded_errors(bucket):
        return from_url(
            bucket,
            config=profile(bucket) or None,
            client_options=client_options(timeout_s),
            retry_config=retries(),
        )  # type: ignore[call-overload, no-any-return]


@contextmanager
def worded_errors(address: str) -> Iterator[None]:
    """Errors of an object store, as errors of a disk or in a sentence.

    The store's own text may hold a key: it is left out.
    """
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError as gone:
        if "NoSuchBucket" in str(gone):
            raise _refused(address, str(gone)) from None
        raise FileNotFoundError(errno.ENOENT, "there is no such file", address) from None
    except (BaseError, ValueError) as wrong:
        raise _refused(address, str(wrong)) from None


def refusal(address: str, text: str) -> StorageError | None:
    """The error for a text of deltalake's that tells of a request which failed; None if it tells of something
    else.
    """
    return _refused(address, text) if _REQUEST in text else None


def _refused(address: str, text: str) -> StorageError:
    return StorageError(
        f"{address}: {problem_of(address, text)}. Nothing was published; mend that and run again"
    )


def problem_of(address: str, text: str) -> str:
    """The problem in the error of a client, and its remedy, without text that may be secret."""
    bucket, match = address.partition("://")[2].partition("/")[0], _CODE.search(text)
    words = re.sub(r"https?://\S+", "", text)  # an address may have any word in it
    code = match[1] if match else ""
    status = re.search(r"(?:status code:?\s*(?:\W+)?|\b)(40[134])\b", text)
    if code == "NoSuchBucket":
        return f"there is no bucket {bucket!r}; make it, or give another address"
    if "169.254.169.254" in text or "Missing" in words or "metadata" in words:
        return (
            "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or those of your"
            " store), or a profile"
        )
    if code.startswith("Invalid") or code in _DENIED or (status and status[1] in ("401", "403")):
        return (
            f"the credentials are refused ({code or (status and status[1])}); give credentials that may list,"
            f" read and write {bucket!r}"
        )
    if "error sending request" in text or "timed out" in text or "operation timed" in text:
        return (
            f"{_endpoint(text)} does not answer; see to the network, or set AWS_ENDPOINT_URL (or that of your"
            " store) to the right address"
        )
    if status:
        return (
            f"the store answers {status[1]}{f' ({code})' if code else ''}; see whether the bucket {bucket!r}"
            " and the endpoint are right"
        )
    return f"the store refuses ({code or ' '.join(text.partition('Debug source')[0].split())[:200]})"


def _endpoint(text: str) -> str:
    match = re.search(r"https?://[^/\s?]+", text)
    return match[0] if match else "the store"
