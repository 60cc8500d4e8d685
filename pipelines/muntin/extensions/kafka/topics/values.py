"""Messages become rows: the fields of their values in the types that the definition says, and what is no row,
with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from muntin.extensions.kafka.topics.json_fields import with_fields
from muntin.extensions.kafka.topics.texts import decoded_texts, texts

if TYPE_CHECKING:
    import numpy as np

    from muntin.extensions.kafka.source import KafkaSource


@dataclass(frozen=True, slots=True)
class Odd:
    """A message that is no row.

    Attributes:
        number: in its range, from 0.
        offset: in its partition.
        reason: why.
        column: that it is about; None: the whole message.
        text: the value as it is; a byte that is no UTF-8 by its number.
    """

    number: int
    offset: int
    reason: str
    column: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Decoded:
    """The rows of a range.

    Attributes:
        rows: the rows that can be read: the fields, `kafka_key`, `kafka_partition`, `kafka_offset` and
            `kafka_timestamp`.
        number: of each of these rows in its range, from 0.
        offset: of each of these rows.
        odd: the messages that are no rows.
    """

    rows: pa.Table
    number: np.ndarray
    offset: np.ndarray
    odd: tuple[Odd, ...]


def decoded(source: KafkaSource, messages: pa.Table) -> Decoded:
    """The rows of messages. `messages`: as `MESSAGES` has them, in order."""
    faults: dict[int, tuple[str, str | None]] = {}
    table = messages.append_column("muntin_number", pa.array(range(len(messages)), pa.int64()))
    if source.key == "text":
        keys, wrong = texts(table["kafka_key"])
        faults |= {number: (f"the key: {why}", "kafka_key") for number, why in wrong.items()}
        table = table.set_column(table.schema.get_field_index("kafka_key"), "kafka_key", keys)
    if source.value != "raw":
        values, wrong = decoded_texts(source, table["value"])
        faults |= {number: (f"no {source.value}: {why}", None) for number, why in wrong.items()}
        table = table.set_column(table.schema.get_field_index("value"), "value", values)
    if source.fields:
        table, more = with_fields(source, _good(table, [*faults]))
        faults = more | faults
    else:
        table = _good(table.rename_columns({"value": "kafka_value"}), [*faults])
    odd = tuple(_odd(messages, number, *why) for number, why in sorted(faults.items()))
    number = table["muntin_number"].to_numpy()
    return Decoded(table.drop_columns(["muntin_number"]), number, table["kafka_offset"].to_numpy(), odd)


def _odd(messages: pa.Table, number: int, why: str, column: str | None) -> Odd:
    value = messages["value"][number].as_py()
    text = None if value is None else value.decode(errors="backslashreplace")
    return Odd(number, messages["kafka_offset"][number].as_py(), why, column, text)


def _good(table: pa.Table, bad: list[int]) -> pa.Table:
    if not bad:
        return table
    keep = [True] * len(table)
    for number in bad:
        keep[number] = False
    return table.filter(pa.array(keep))
