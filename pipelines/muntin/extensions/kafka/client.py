"""Clients of a broker: short waits, no retries for minutes, and errors in one sentence with the address and
the mend.

The settings of a connection: in the environment, as Airflow has connections. No error of this module
repeats a value.

A connection of type kafka has settings of librdkafka in its extra:
https://docs.confluent.io/platform/current/clients/librdkafka/html/md_CONFIGURATION.html
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from muntin.definition.extras import need
from muntin.errors import BrokerError
from muntin.extensions.kafka.source import KafkaSource
from muntin.files.connections import connection_of_environment, variable_of
from muntin.sources.per_thread import of_this_thread

REGISTRY = "registry."
"""Begins the names of settings that are for the schema registry."""


def settings(connection: str | None) -> dict[str, str]:
    """Name -> value of the settings of a connection; none without one."""
    if connection is None:
        return {}
    mend = (
        f'connection={connection!r} names it: set it to a connection of type kafka, as {{"conn_type":'
        ' "kafka", "login": "...", "password": "...", "extra": {"security.protocol": "SASL_SSL"}}'
    )
    airflow_connection = connection_of_environment(connection, BrokerError, mend)
    return of_parts(airflow_connection.login, airflow_connection.password, airflow_connection.extra)


def of_parts(login: str | None, password: str | None, extra: Mapping[str, Any]) -> dict[str, str]:
    """The settings that a connection stands for.

    >>> of_parts("me", "secret", {"security.protocol": "SASL_SSL"})  # doctest: +NORMALIZE_WHITESPACE
    {'security.protocol': 'SASL_SSL', 'sasl.username': 'me', 'sasl.password': 'secret', 'sasl.mechanism':
    'PLAIN'}
    """
    client_settings = {
        str(name): (str(value).lower() if isinstance(value, bool) else str(value))
        for name, value in extra.items()
    }
    if login and password:
        theirs = {"sasl.username": login, "sasl.password": password}
        client_settings = {**client_settings, **theirs}
        if not {"sasl.mechanism", "sasl.mechanisms"} & set(client_settings):
            client_settings["sasl.mechanism"] = "PLAIN"
        client_settings.setdefault("security.protocol", "SASL_SSL")
    return client_settings


ANSWER_S = 6
"""Seconds until a question must be answered."""
_LOOK_S = 0.02
_AGAIN_S = 0.2
_LED_ELSEWHERE = (
    "NOT_LEADER_FOR_PARTITION",
    "LEADER_NOT_AVAILABLE",
    "FENCED_LEADER_EPOCH",
    "UNKNOWN_LEADER_EPOCH",
    "KAFKA_STORAGE_ERROR",
)
_FINAL = ("_AUTHENTICATION", "_SSL")
_WAITS = {
    "socket.timeout.ms": "5000",
    "socket.connection.setup.timeout.ms": "4000",
    "reconnect.backoff.ms": "100",
    "reconnect.backoff.max.ms": "1000",
    "log_level": "0",
    "client.id": "muntin",
}
Found = TypeVar("Found")
_SILENT = logging.getLogger("muntin.kafka")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


# What makes a reading exact, whatever a connection says: no group, no commit of offsets, no jump to another
# offset, whole transactions.
_EXACT = {
    "group.id": "muntin",
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
    "enable.partition.eof": "true",
    "fetch.wait.max.ms": "100",
    "queued.max.messages.kbytes": "65536",
    "allow.auto.create.topics": "false",
}


@dataclass
class ErrorLog:
    """Messages of librdkafka that are no answers: why it cannot connect.

    The first message of each code is kept.
    """

    codes: dict[str, str] = field(default_factory=dict)

    def __call__(self, error: Any) -> None:  # noqa: ANN401 - a KafkaError
        self.codes.setdefault(error.name(), error.str())


def to_ask(source: KafkaSource) -> tuple[Any, ErrorLog]:
    """Admin client (one a thread) and its error log."""
    need("confluent_kafka")
    from confluent_kafka.admin import AdminClient

    which = client_key(source)
    thread_clients = of_this_thread("admin client")
    if thread_clients.get("which") != which:
        error_log = ErrorLog()
        thread_clients.update(
            asking=(_made(source, AdminClient, {"error_cb": error_log}), error_log), which=which
        )
    client, error_log = thread_clients["asking"]
    error_log.codes.clear()
    return client, error_log


def client_key(source: KafkaSource) -> tuple[object, ...]:
    """The key of a thread's clients: the process, the broker, and the credentials."""
    return (
        os.getpid(),
        source.broker,
        source.connection,
        source.connection and os.environ.get(variable_of(source.connection)),
    )


def to_consume(source: KafkaSource, how: Mapping[str, str] | None = None) -> tuple[Any, ErrorLog]:
    """A client that reads messages, and its error log. `how`: more settings. Raises as `to_ask`."""
    need("confluent_kafka")
    from confluent_kafka import Consumer

    error_log = ErrorLog()
    return _made(source, Consumer, {**_EXACT, **(how or {}), "error_cb": error_log}), error_log


def _made(source: KafkaSource, client: Any, more: dict[str, Any]) -> Any:  # noqa: ANN401 - of a package that is not always installed
    from confluent_kafka import KafkaException

    theirs = {
        name: value
        for name, value in settings(source.connection).items()
        if not name.startswith((REGISTRY, "bootstrap.servers"))
    }
    try:
        return client({**_WAITS, **theirs, "bootstrap.servers": source.broker, **more}, logger=_SILENT)
    except (KafkaException, ValueError, TypeError) as wrong:
        said = wrong.args[0].str() if isinstance(wrong, KafkaException) else type(wrong).__name__
        shown = (
            said
            if not any(value and value in said for name, value in theirs.items() if "password" in name)
            else "a setting is wrong"
        )
        raise BrokerError(
            f"kafka {source.broker}: {shown}; mend the extra of the connection {source.connection!r}"
        ) from None


def until_led(ask: Callable[[], Found]) -> Found:
    """The answer to a question, asked again while partitions change their leaders, as after a broker was
    restarted.
    """
    from confluent_kafka import KafkaException

    end_s = time.monotonic() + ANSWER_S / 2
    while True:
        try:
            return ask()
        except KafkaException as wrong:
            if wrong.args[0].name() not in _LED_ELSEWHERE or time.monotonic() > end_s:
                raise
            time.sleep(_AGAIN_S)


def answer(client: Any, error_log: ErrorLog, future: Any) -> Any:  # noqa: ANN401 - of a package that is not always installed
    """The answer to a question; an error as soon as the broker refuses, whereas librdkafka would ask again
    and again.
    """
    from confluent_kafka import KafkaError, KafkaException

    while not future.done():
        client.poll(_LOOK_S)
        if refused := next((code for code in _FINAL if code in error_log.codes), None):
            raise KafkaException(KafkaError(getattr(KafkaError, refused)))
    return future.result()


@contextmanager
def worded(source: KafkaSource, client: Any, error_log: ErrorLog) -> Iterator[None]:  # noqa: ANN401 - as above
    """Errors of a client as a `BrokerError`: what is wrong, and the mend."""
    from confluent_kafka import KafkaException

    try:
        yield
    except KafkaException as wrong:
        # and close it: freed later, while an answer comes in, it would let librdkafka abort the process
        with client:
            client.poll(0)  # which calls `error_log`
        of_this_thread("admin client").clear()
        raise broker_error(source, wrong.args[0].name(), error_log, wrong.args[0].str()) from None


def broker_error(source: KafkaSource, code: str, error_log: ErrorLog, said: str = "") -> BrokerError:
    """The error for a code of librdkafka's, or for what it reported before: a broker that is not reached
    times out.
    """
    text_of_code = {code: said, **error_log.codes}
    name = next((each for each in _PROBLEMS if each in text_of_code), "")
    problem = _PROBLEMS.get(name, "it answers " + " ".join((said or code).split())[:200])
    where = {"broker": source.broker, "topic": source.topic, "connection": source.connection}
    return BrokerError(f"kafka {source.broker}: {problem.format(**where)}. Nothing was read")


_REFUSED = "the credentials of connection={connection!r} are refused; mend its login and password"
_SILENT_BROKER = (
    "the broker does not answer; see to the address, the network, and whether it wants TLS"
    " (connection={connection!r})"
)
_PROBLEMS = {
    "UNKNOWN_TOPIC_OR_PART": "there is no topic {topic!r}; make it, or mend the name in sources.kafka(...)",
    "UNKNOWN_TOPIC_ID": "the topic {topic!r} is gone; make it, or mend the name in sources.kafka(...)",
    "INVALID_TOPIC_EXCEPTION": "{topic!r} cannot be the name of a topic; mend it in sources.kafka(...)",
    "TOPIC_AUTHORIZATION_FAILED": (
        "connection={connection!r} may not read the topic {topic!r}; let it READ and DESCRIBE the topic"
    ),
    "SASL_AUTHENTICATION_FAILED": _REFUSED,
    "_AUTHENTICATION": _REFUSED,
    "_SSL": (
        "TLS fails, as its certificate is not known or it has none; mend ssl.ca.location or security.protocol"
        " of {connection!r}"
    ),
    "_RESOLVE": "there is no such host; mend the address in sources.kafka(...)",
    "_TRANSPORT": _SILENT_BROKER,
    "_ALL_BROKERS_DOWN": _SILENT_BROKER,
    "_TIMED_OUT": "the broker does not answer in time; see to the address and the network",
}
"""Code -> problem and mend; the most specific code comes first."""
