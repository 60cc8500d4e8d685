"""`ask_within` of limits: what may be said, and how long is waited for the answer."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muntin import Limits
from muntin.errors import DefinitionError
from tests.storage.three_batches import Small

HOUR_US = 3_600_000_000


@pytest.mark.parametrize(("within", "us"), [(None, None), ("4h", 4 * HOUR_US), (1, 1)])
def test_how_long_is_waited(tmp_path: Path, within: Any, us: int | None) -> None:
    asking = replaced(tmp_path, limits=Limits(ask_within=within), on_revision="ask")
    assert (asking.ask_within_us, asking.guarded) == (us, tuple(asking.windows))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"limits": {"ask_within": "0s"}}, "ask_within.*longer than 0"),
        ({"limits": {"ask_within": "soon"}}, "ask_within.*'soon' is not a duration"),
        ({"limits": {"ask_within": "4h"}}, "nothing is ever held; give one of them"),
        ({"on_revision": "asks"}, "on_revision: 'asks' is not possible; choose from 'publish', 'ask'"),
        ({"on_failure": "ask"}, r"on_failure is an argument of Limits: limits=Limits\(ask_within="),
    ],
)
def test_refused(tmp_path: Path, given: dict[str, Any], says: str) -> None:
    with pytest.raises(DefinitionError, match=says):
        replaced(tmp_path, **given)


def replaced(folder: Path, **given: Any) -> Any:
    """A pipeline with other arguments; `limits` may be a dict."""
    limits = given.get("limits")
    made = {"limits": Limits(**limits)} if isinstance(limits, dict) else {}
    return replace(Small(folder).pipeline, **given | made)
