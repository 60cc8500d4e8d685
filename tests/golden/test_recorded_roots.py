"""States and windows of fifty roots are those recorded, to the last bit: versions and names of files are digests of content.

`roots.json` has them, and the versions of the libraries that wrote them: names follow a library that writes or computes otherwise.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.case_counts import at_length, some
from tests.golden.recorded_roots import RECORD, digests, made_with, recorded

ROOTS = recorded()
ADVICE = """these files are not as recorded: a bit of a state, of a window or of the definition's name is another.
A change that only moves code has to leave them as they are. Where they are meant to change, or a library of another version writes
them (recorded with {0}, here {1}), `python -m tests.golden.recorded_roots` records them anew, and the commit says why."""


def name_of(root: Any) -> str:
    return f"{root['source']}-{'-'.join(root['windows'])}-{root['aggregates'][0]}"


def check(root: Any, folder: Path) -> None:
    recorded_with, here = json.loads(RECORD.read_text(encoding="utf-8"))["made_with"], made_with()
    if recorded_with["machine"] != here["machine"]:
        pytest.skip(f"recorded on {recorded_with['machine']}: another processor may round otherwise")
    now = digests(root, folder)
    assert now == root["digests"], ADVICE.format(recorded_with, here)


@pytest.mark.parametrize("root", some(ROOTS), ids=name_of)
def test_a_tenth_of_the_roots(root: Any, tmp_path: Path) -> None:
    check(root, tmp_path)


@at_length
@pytest.mark.parametrize("root", ROOTS, ids=name_of)
def test_every_root(root: Any, tmp_path: Path) -> None:
    check(root, tmp_path)
