"""Instants in the clock that the user asks for."""

from typing import TYPE_CHECKING, Annotated

import typer

from muntin.errors import DefinitionError
from muntin.windows.clock import zone

if TYPE_CHECKING:
    import pyarrow as pa


def _known(text: str) -> str:
    try:
        return zone(text).name
    except DefinitionError as wrong:
        raise typer.BadParameter(str(wrong).removeprefix("timezone: ")) from None


Timezone = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        parser=_known,
        metavar="ZONE",
        help=(
            "Show instants by the clock of this zone, as Europe/Berlin; UTC unless said. --from and --to stay"
            " in UTC."
        ),
    ),
]


def in_zone(table: "pa.Table", name: str | None) -> "pa.Table":
    """The instants shown by the clock of a zone; columns of times without a zone stay as they are.

    None: all columns stay.
    """
    import pyarrow as pa

    for at, field in enumerate(table.schema) if name else ():
        if pa.types.is_timestamp(field.type) and field.type.tz:
            table = table.set_column(
                at, field.name, table[field.name].cast(pa.timestamp(field.type.unit, name))
            )
    return table
