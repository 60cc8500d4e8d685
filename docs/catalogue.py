"""The tables of `docs/aggregates.md`, from the code and the table of aggregates: `python -m docs.catalogue` writes them anew."""

import inspect
import re
from pathlib import Path
from sys import modules

import pyarrow as pa

from muntin import aggregates as agg
from muntin.laws.states import finished, lifted
from tests.catalogue.aggregates import CARRYING, ROWS, Row
from tests.catalogue.columns import COLUMNS, fixed

PAGE = Path(__file__).parent / "aggregates.md"
BEGIN, END = "<!-- the catalogue, by python -m docs.catalogue -->\n", "<!-- end of the catalogue -->\n"

SOURCE = [fixed(at) | {"time": at * 1_000_000} for at in range(100)]
"""A hundred rows, a second apart."""


def tables() -> str:
    """A table with a part for each family, in the order of the table of aggregates; of each aggregate its first row."""
    families: dict[str, list[str]] = {}
    for row in _examples():
        families.setdefault(getattr(agg, row.name).__module__, []).append(_row(row))
    head = "| aggregate | what | example | result | right to |\n"
    head += "| --- | --- | --- | --- | --- |\n"
    parts = (f"| **{_title(module)}** | | | | |\n{''.join(rows)}" for module, rows in families.items())
    return head + "".join(parts)


def _examples() -> list[Row]:
    first: dict[str, Row] = {}
    for row in (*ROWS, *CARRYING):
        first.setdefault(row.name, row)
    return list(first.values())


def _title(module: str) -> str:
    """What the family's module says of itself, as far as the first full stop or colon."""
    return re.split(r"[.:;](?=\s|$)", inspect.cleandoc(modules[module].__doc__ or "").replace("\n", " "))[0]


def _row(row: Row) -> str:
    aggregate = row.made()
    states = lifted(aggregate, [SOURCE], COLUMNS)
    cells = [
        f"`{_signature(row.name)}`",
        _summary(row.name),
        f"`{row.call}`",
        _type(finished(aggregate, states).type),
        row.right.says,
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _type(kind: pa.DataType) -> str:
    if pa.types.is_map(kind):
        return f"map of {kind.key_type} to {_type(kind.item_type)}"
    return str(kind).replace("item: ", "").replace("<", "&lt;")


def _signature(name: str) -> str:
    """Names and defaults; `where`, `unit` and `comment` are everybody's."""
    found = inspect.signature(getattr(agg, name)).parameters.values()
    shown, starred = [], False
    for each in (each for each in found if each.name not in ("where", "about")):
        starred |= each.kind is each.VAR_POSITIONAL
        shown += ["*"] if each.kind is each.KEYWORD_ONLY and not starred else []
        starred |= each.kind is each.KEYWORD_ONLY
        default = "" if each.default is each.empty else f"={each.default!r}"
        shown.append(f"{'*' if each.kind is each.VAR_POSITIONAL else ''}{each.name}{default}")
    return f"{name}({', '.join(shown)})"


def _summary(name: str) -> str:
    """The first paragraph of the docstring."""
    return " ".join((inspect.getdoc(getattr(agg, name)) or "").split("\n\n")[0].split())


def page() -> str:
    """The page with tables made anew between its marks."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}\n{tables()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
