"""A name that a module does not have, and the version."""

from importlib.metadata import version

import pytest

import muntin
from muntin import aggregates as agg
from muntin import windows


def test_a_missing_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'muntin\.windows' has no attribute 'slidin'"):
        windows.slidin  # type: ignore[attr-defined]  # noqa: B018 - its error is looked at
    assert not hasattr(agg, "summ")


def test_the_version_is_that_of_the_distribution() -> None:
    assert muntin.__version__ == version("muntin")
