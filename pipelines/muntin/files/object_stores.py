"""The clients of buckets, what they tell of a file, and their errors in words that say what to do.

Few retries, short waits. Credentials are searched by the ordinary chain: in the environment (`AWS_*`,
`GOOGLE_*`, `AZURE_*`), then in the profile of AWS's own files, then at the instance. They are never kept,
written or reported.
"""

from __future__ import annotations

import configparser
import errno
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from stat import S_IFREG
from typing import TYPE_CHECKING, Any

from muntin.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from obstore.store import ObjectStore


@dataclass(frozen=True, slots=True)
class ObjectStat:
    """Facts of a file in a store, named as `os.stat_result` has them.

    `st_ino` is the ETag: another content, another ETag.
    """

    st_size: int
    st_mtime_ns: int
    st_ino: str
    st_mode: int = S_IFREG

    @property
    def st_mtime(self) -> float:
        return self.st_mtime_ns / 1e9


def stat_in(meta: object) -> ObjectStat:
    """The facts that a store gives of a file."""
    written: datetime = meta["last_modified"]  # type: ignore[index]
    tag = meta["e_tag"] or ""  # type: ignore[index]
    if tag and not tag.endswith('"'):  # a listing of Azure has it bare
        tag = f'"{tag}"'
    whole = int(written.timestamp()) * 10**9 + written.microsecond * 1000
    return ObjectStat(meta["size"], whole, tag)  # type: ignore[index]


ASK_S, MOVE_S = 3, 120
"""Seconds until a question, and until the content of a file, must be answered."""
_CONNECT_S, _RETRIES, _RETRY_S = 2, 4, 5
_BY_PROFILE = {
    "aws_access_key_id": "AWS_ACCESS_KEY_ID",
    "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
    "aws_session_token": "AWS_SESSION_TOKEN",
    "region": "AWS_REGION",
    "endpoint_url": "AWS_ENDPOINT_URL",
}


def client_options(timeout_s: int) -> dict[str, Any]:
    """The options of the HTTP client. An endpoint `http://...` is taken at its word."""
    return {"connect_timeout": f"{_CONNECT_S}s", "timeout": f"{timeout_s}s", "allow_http": True}


def retries() -> dict[str, Any]:
    """How often a request is tried again, and for how long at most."""
    waits = {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2}
    return {"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_S), "backoff": waits}


def table_options(address: str) -> dict[str, str]:
    """The settings of a Delta table at an address, as deltalake takes them."""
    shared = {"connect_timeout": f"{_CONNECT_S}s", "timeout": f"{MOVE_S}s", "allow_http": "true"}
    return {**shared, "max_retries": str(_RETRIES), "retry_timeout": f"{_RETRY_S}s", **profile(address)}


def profile(address: str) -> dict[str, str]:
    """The settings in AWS's files under the profile of `AWS_PROFILE`, else `default`; none where the
    environment has credentials.

    https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
    """
    if not address.startswith("s3") or "AWS_ACCESS_KEY_ID" in os.environ:
        return {}
    settings = _profile(os.environ.get("AWS_PROFILE", "default"), *_files())
    return {name: value for name, value in settings.items() if name not in os.environ}


def _files() -> tuple[str, str]:
    folder = Path.home() / ".aws"
    named = os.environ.get("AWS_SHARED_CREDENTIALS_FILE"), os.environ.get("AWS_CONFIG_FILE")
    return named[0] or str(folder / "credentials"), named[1] or str(folder / "config")


@lru_cache(maxsize=8)
def _profile(name: str, credentials: str, config: str) -> Mapping[str, str]:
    settings: dict[str, str] = {}
    for file, section in ((config, name if name == "default" else f"profile {name}"), (credentials, name)):
        parser = configparser.RawConfigParser()
        parser.read(file, encoding="utf-8")
        if parser.has_section(section):
            settings |= {
                _BY_PROFILE[key]: value for key, value in parser.items(section) if key in _BY_PROFILE
            }
    return settings


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
    bucket = address.partition("://")[2].partition("/")[0]
    match = _CODE.search(text)
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
        endpoint = re.search(r"https?://[^/\s?]+", text)
        return (
            f"{endpoint[0] if endpoint else 'the store'} does not answer; see to the network, or set"
            " AWS_ENDPOINT_URL (or that of your store) to the right address"
        )
    if status:
        return (
            f"the store answers {status[1]}{f' ({code})' if code else ''}; see whether the bucket {bucket!r}"
            " and the endpoint are right"
        )
    return f"the store refuses ({code or ' '.join(text.partition('Debug source')[0].split())[:200]})"
