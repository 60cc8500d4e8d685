"""The fields of a message of Protobuf as plain values, each as it is:

Protobuf's own JSON cuts 32-bit floats to their shortest text.
"""

from __future__ import annotations

from collections.abc import MutableMapping, MutableSequence
from typing import TYPE_CHECKING, Any

from google.protobuf.json_format import MessageToDict

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor
    from google.protobuf.message import Message

_GIVEN = "google.protobuf."
_WRAPPERS = tuple(
    f"{_GIVEN}{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)


def fields_of(message: Message) -> dict[str, Any]:
    """Name -> value of the fields: enums by name, times as texts; a field that a message may lack is there
    only where it is set.
    """
    there = {field.name for field, _ in message.ListFields()}
    fields = [field for field in message.DESCRIPTOR.fields if field.name in there or not field.has_presence]
    return {field.name: _whole(field, getattr(message, field.name)) for field in fields}


def _whole(field: FieldDescriptor, value: Any) -> Any:  # noqa: ANN401 - whatever the field holds
    if isinstance(value, MutableMapping):
        of = field.message_type.fields_by_name["value"]
        return {
            (str(key).lower() if isinstance(key, bool) else str(key)): _one(of, value[key]) for key in value
        }
    return [_one(field, each) for each in value] if isinstance(value, MutableSequence) else _one(field, value)


def _one(field: FieldDescriptor, value: Any) -> Any:  # noqa: ANN401 - as above
    if field.enum_type is not None:
        enum_value = field.enum_type.values_by_number.get(value)
        return value if enum_value is None else enum_value.name
    kind = field.message_type
    if kind is None:
        return value
    if kind.full_name in _WRAPPERS:
        return value.value
    return MessageToDict(value) if kind.full_name.startswith(_GIVEN) else fields_of(value)
