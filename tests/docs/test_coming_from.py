"""The tables of docs/coming-from.md name what there is."""

import re
from dataclasses import fields
from inspect import signature
from pathlib import Path

import pytest

import muntin
from muntin import Pipeline, aggregates, sources, windows

PAGE = Path(__file__).parents[2] / "docs/coming-from.md"
ROWS = [line.split(" | ")[:2] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ") and " | " in line]
MADE = [getattr(part, name) for part in (windows, sources) for name in dir(part) if name.islower() and callable(getattr(part, name))]
PARAMETERS = {name for each in MADE for name in signature(each).parameters}
KNOWN = {*dir(muntin), *dir(aggregates), *dir(windows), *dir(sources), *(each.name for each in fields(Pipeline)), *PARAMETERS}


@pytest.mark.parametrize("here", [here for _, here in ROWS if re.search("`[a-z_]+[(`=]", here)])
def test_each_name_is_there(here: str) -> None:
    assert {*re.findall("`(?:agg[.]|windows[.]|sources[.])?([a-z_]+)[(`=]", here)} <= KNOWN
