"""The address of brokers, as settings of librdkafka; and their secrets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from muntin.files.connections import CONNECTION
from muntin.sinks.addresses import VARIABLE, variable
from muntin.sinks.errors import SinkError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.sinks.delivery import Reach

_SECRETS = ("password", "secret", "sasl.oauthbearer.config", "ssl.key.pem")


def settings_of(address: str, reach: Reach) -> dict[str, Any]:
    """The settings of librdkafka that reach some brokers."""
    settings: Mapping[str, Any]
    if address.startswith(VARIABLE):
        text = variable(address)
        settings = _object(text, address) if text.startswith("{") else {"bootstrap.servers": text}
    elif CONNECTION.fullmatch(address):
        connection = reach.connection(address)
        if connection.kind != "kafka":
            raise SinkError(f"the connection {address!r} is of type {connection.kind}; make it one of type kafka")
        settings = connection.extra
    else:
        settings = {"bootstrap.servers": address}
    if not settings.get("bootstrap.servers"):
        raise SinkError(f'{address} names no brokers; give {{"bootstrap.servers": "broker:9092"}}')
    return {name: value for name, value in settings.items() if not name.startswith(("group.", "auto.offset", "enable.auto"))}


def _object(text: str, place: str) -> Mapping[str, Any]:
    try:
        return json.loads(text)
    except ValueError:
        raise SinkError(f"{place} holds neither brokers nor JSON") from None


def secrets_of(settings: Mapping[str, Any]) -> list[str]:
    """The secrets among settings, which no text may repeat."""
    return [str(value) for name, value in settings.items() if any(word in name for word in _SECRETS)]
