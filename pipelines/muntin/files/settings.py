"""How an object store is asked: credentials by the ordinary chain, few retries, short waits.

Credentials are searched in the environment (`AWS_*`, `GOOGLE_*`, `AZURE_*`), then in the profile of AWS's own
files, then at the instance. They are never kept, written or reported.
"""

from __future__ import annotations

import configparser
import os
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

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
