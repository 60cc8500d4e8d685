"""How processes share the tests: a file stays together, and so do all files that ask for one server, which starts once for a run."""

import re
from collections import defaultdict
from functools import cache
from itertools import groupby
from math import fsum
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests import durations

SERVERS = ("spark", "kafka", "postgres", "maria", "redis", "object_store")
FIXTURES = {"database": "postgres", "bucket": "object_store", "s3_bucket": "object_store"}
"""Fixture -> the server behind it, where the name does not say it."""
ASKS = re.compile(rf"^(?:async )?def \w+\([^)]*?\b({'|'.join([*SERVERS, *FIXTURES])})\b", re.MULTILINE)


@cache
def group_of(file: str) -> str:
    """What the tests of a file share with other files: the first of the servers that they ask for, or nothing but the file."""
    path = durations.ROOT / file
    asked = {FIXTURES.get(name, name) for name in ASKS.findall(path.read_text(encoding="utf-8"))}
    return next((server for server in SERVERS if server in asked), file)


class Together(LoadScopeScheduling):
    """Hands out groups of files."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.partition("::")[0])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Called where several processes share the tests."""
    config.option.loadscopereorder = False
    return Together(config, log)


def longest_first(items: list[pytest.Item], which: str) -> list[pytest.Item]:
    """The same tests, the longest groups first, so that no process is left alone with a long group at the end."""
    groups = defaultdict[str, list[pytest.Item]](list)
    for path, of_file in groupby(items, key=lambda item: item.path):
        groups[group_of(durations.name_of(path))] += of_file
    return [item for group in sorted(groups.values(), key=lambda group: -long_it_takes(group, which)) for item in group]


def long_it_takes(group: list[pytest.Item], which: str) -> float:
    """Seconds of all files of a group."""
    files: set[Path] = {item.path for item in group}
    return fsum(durations.seconds(file, which) for file in files)  # in whatever order: each process has to sort alike
