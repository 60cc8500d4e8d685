"""An old name is refused with a line that works."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

import pytest

import muntin
from muntin import aggregates as agg
from muntin import sinks, sources, windows
from muntin.errors import DefinitionError
from muntin.old_names import NAMES


@pytest.mark.parametrize("old", NAMES)
def test_an_old_name_is_refused_with_a_line_that_works(old: str) -> None:
    module, _, name = old.partition(".")
    with pytest.raises(DefinitionError) as refused:
        getattr(import_module(f"muntin.{module}"), name)
    line = str(refused.value).partition("is an old name; write ")[2]
    names: dict[str, Any] = {"agg": agg, "windows": windows, "sinks": sinks, "sources": sources}
    exec(line, names)  # noqa: S102 - a line of our own table
    assert name not in import_module(f"muntin.{module}").__all__


def test_an_import_of_an_old_name_says_the_new_name() -> None:
    with pytest.raises(DefinitionError, match=r'muntin.aggregates.top_n is an old name; write agg.max\("x", n=3\)'):
        exec("from muntin.aggregates import top_n")  # noqa: S102 - as a user writes it


def test_another_missing_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'muntin\.windows' has no attribute 'slidin'"):
        windows.slidin  # type: ignore[attr-defined]  # noqa: B018 - its error is looked at
    assert not hasattr(agg, "summ")


def test_the_version_is_that_of_the_distribution() -> None:
    assert muntin.__version__ == version("muntin")
