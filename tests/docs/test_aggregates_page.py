"""The page of the aggregates: its tables are what the code gives, nothing is left out, and its code runs."""

import re
from typing import Any

from docs.catalogue import PAGE, page
from muntin import aggregates as agg


def test_the_tables_are_what_the_code_gives() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "write them anew by python -m docs.catalogue"


def test_names_of_here_are_there() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## What it is called here")[1]
    ours = [row.rsplit("|", 2)[1] for row in table.splitlines() if row.startswith("|")]
    named = {name for cell in ours for name in re.findall(r"(?<![.\w])([a-z_]+)\(", cell)}
    assert len(named) > 20
    assert all(hasattr(agg, name) for name in named)


def test_the_code_runs() -> None:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    assert "agg" in names
