"""A broker, a topic, a credential or a column that is not there: one sentence with the address and the mend, within ten seconds."""

import json
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from muntin.cli.main import main
from muntin.errors import DefinitionError, MuntinError
from muntin.extensions.kafka.client import to_ask, to_consume
from tests.kafka_broker import PASSWORD, USER, Broker
from tests.topics.orders import order, pipeline, ran, topic_of

VARIABLE = "AIRFLOW_CONN_SHOP"
MOST_S = 10


def connection(broker: Broker, **changes: str | None) -> str:
    """A connection that the broker takes, but for some changes."""
    extra = {"security.protocol": "SASL_SSL", "ssl.ca.location": str(broker.certificate), **changes}
    login = {"login": USER, "password": changes.get("password", PASSWORD)}
    return json.dumps({"conn_type": "kafka", **login, "extra": {name: each for name, each in extra.items() if each and "." in name}})


def refused(source: object, root: Path) -> str:
    """What a run says, which leaves nothing behind."""
    begin = time.monotonic()
    with pytest.raises(MuntinError) as wrong:
        ran(pipeline(source), str(root), 0, 2)
    assert time.monotonic() - begin < MOST_S
    assert wrong.value.exit_status == (2 if isinstance(wrong.value, DefinitionError) else 3)
    assert "\n" not in str(wrong.value)
    assert not [path for path in root.rglob("*.parquet") if "topics" not in path.parts]  # what is noted stays
    return str(wrong.value)


def test_a_port_on_which_nobody_listens(tmp_path: Path) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{one.getsockname()[1]}"
    said = refused(topic_of(address, "orders"), tmp_path)
    assert said.startswith(f"kafka {address}: the broker does not answer; see to the address, the network")


def test_a_broker_that_takes_connections_and_says_nothing(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert refused(topic_of(address, "orders"), tmp_path).startswith(f"kafka {address}: the broker does not answer")


@pytest.fixture
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker must answer within a second."""
    monkeypatch.setattr("muntin.extensions.kafka.broker.ANSWER_S", 1)


@pytest.mark.usefixtures("in_a_hurry")
def test_a_host_that_is_not_there(tmp_path: Path) -> None:
    said = refused(topic_of("no-such-host.invalid:9092", "orders"), tmp_path)
    assert said.startswith("kafka no-such-host.invalid:9092: there is no such host; mend the address in sources.kafka(...)")


def test_a_topic_that_is_not_there(kafka: Broker, tmp_path: Path) -> None:
    said = refused(topic_of(kafka, "oders"), tmp_path)
    assert said == f"kafka {kafka.address}: there is no topic 'oders'; make it, or mend the name in sources.kafka(...). Nothing was read"


def test_credentials_that_are_taken(kafka: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = kafka.topic()
    kafka.produce(topic, {0: [order(1, 0.5)]})
    monkeypatch.setenv(VARIABLE, connection(kafka))
    report = ran(pipeline(topic_of(kafka.secure, topic, connection="shop")), str(tmp_path), 0, 1)
    assert report.batches[0].rows_accepted == 1
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(PASSWORD.encode() in content or USER.encode() in content for content in written)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"password": "wrong-secret"}, "the credentials of connection='shop' are refused; mend its login and password"),
        ({"ssl.ca.location": None}, "TLS fails"),
        ({"security.protocol": "PLAINTEXT"}, "the broker does not answer"),
        ({"ssl.ca.lokation": "x"}, "No such configuration property"),
    ],
)
def test_credentials_that_are_refused(
    changes: dict[str, str | None], said: str, kafka: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, connection(kafka, **changes))
    told = refused(topic_of(kafka.secure, kafka.topic(), connection="shop"), tmp_path)
    assert told.startswith(f"kafka {kafka.secure}: {said}")
    assert "secret" not in told


def test_a_client_that_is_refused_is_closed_with_its_open_questions(kafka: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is freed by its own thread, as an answer comes in, librdkafka aborts the process."""
    wrong = {"password": "wrong-secret"}
    monkeypatch.setenv(VARIABLE, connection(kafka, **wrong))
    source = topic_of(kafka.secure, kafka.topic(), connection="shop")
    client, _ = to_ask(source)
    refused(source, tmp_path)
    with pytest.raises(RuntimeError, match="closed"):
        client.poll(0)


@pytest.mark.parametrize("text", [None, "{no json", '{"extra": 5}'])
def test_a_connection_that_is_not_there_or_cannot_be_read(text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if text is not None:
        monkeypatch.setenv(VARIABLE, text)
    assert VARIABLE in refused(topic_of("127.0.0.1:1", "orders", connection="shop"), tmp_path)


def test_a_connection_may_be_a_uri(kafka: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = kafka.topic()
    monkeypatch.setenv(VARIABLE, f"kafka://{USER}:{PASSWORD}@/?security.protocol=SASL_SSL&ssl.ca.location={kafka.certificate}")
    assert ran(pipeline(topic_of(kafka.secure, topic, connection="shop")), str(tmp_path), 0, 1).batches[0].rows_read == 0


def test_a_column_that_is_not_there(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.produce(topic, {0: [order(1, 0.5)]})
    with pytest.raises(DefinitionError, match=r"keys: no column 'shopp' in the source; .* did you mean"):
        ran(pipeline(topic_of(kafka, topic), keys=["shopp"]), str(tmp_path), 0, 1)
    with pytest.raises(DefinitionError, match=r"event_time: no column 'att' in the messages; there are amount, shop, at, kafka_key"):
        topic_of(kafka, topic, event_time="att")


def test_workers_that_do_not_reach_the_broker_say_so_once(kafka: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = kafka.topic()
    kafka.produce(topic, {0: [order(1, 0.5)]})
    source = topic_of(kafka, topic)
    monkeypatch.setattr("muntin.extensions.kafka.content._SILENCE_S", 1.0)
    monkeypatch.setattr("muntin.extensions.kafka.content.to_consume", lambda _: to_consume(replace(source, broker="127.0.0.1:1")))
    assert refused(source, tmp_path).startswith(f"kafka {kafka.address}: the broker does not answer")


def test_an_interval_that_is_not_over(kafka: Broker, tmp_path: Path) -> None:
    topic, years = kafka.topic(), 24 * 365 * 100
    with pytest.raises(MuntinError, match="is not over, and its messages are still to come; run it after"):
        ran(pipeline(topic_of(kafka, topic)), str(tmp_path), years, years + 1)


@pytest.mark.usefixtures("in_a_hurry")
def test_the_command_line_says_it_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "orders.py"
    file.write_text(
        "from datetime import UTC, datetime\n"
        "from muntin import Pipeline, aggregates, sources, windows\n"
        "orders = Pipeline(name='orders', keys=[], schedule='1h', start=datetime(2024, 1, 1, tzinfo=UTC),\n"
        "    source=sources.kafka('127.0.0.1:1', 'orders', value='text', event_time='kafka_timestamp'),\n"
        "    windows={'hour': windows.tumbling('1h')}, aggregates={'n': aggregates.count()})\n",
        encoding="utf-8",
    )
    hours = ["--start", "2024-01-01", "--end", "2024-01-02"]
    for command in (["check", str(file)], ["run", str(file), *hours], ["plan", str(file), *hours]):
        assert main([*command, "--root", str(tmp_path / "state")]) == 3
        assert capsys.readouterr().err.strip().splitlines()[-1].startswith("error (kafka): kafka 127.0.0.1:1: the broker does not answer")
    assert not any((tmp_path / "state").rglob("*.parquet"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"value": "xml"}, "value: 'xml' is not possible"),
        ({"columns": None}, "columns: say which fields"),
        ({"columns": {"kafka_key": "VARCHAR"}}, "columns: 'kafka_key' is not possible"),
        ({"columns": {"a": "INT", "A": "INT"}}, "columns: 'a' is not possible"),
        ({"value": "text"}, "columns: a value that is 'text' has no fields"),
        ({"value": "avro"}, 'value="avro" needs registry='),
        ({"value": "avro", "schema": "{"}, "is no JSON"),
        ({"value": "protobuf", "registry": "http://registry:8081"}, 'value="protobuf" needs schema='),
        ({"registry": "registry:8081"}, "is no address of a schema registry"),
        ({"registry": "http://me:secret@registry:8081"}, "registry: the address holds a password"),
        ({"key": "json"}, "key: 'json' is not possible"),
        ({"unit": "ms", "time_format": "%Y"}, "is for text and unit="),
        ({"time_format": "yyyy"}, "is no format of strptime"),
    ],
)
def test_a_definition_that_cannot_be(settings: dict[str, object], said: str) -> None:
    with pytest.raises(DefinitionError) as wrong:
        topic_of("broker:9092", "orders", **settings)
    assert said in str(wrong.value)
    assert "secret" not in str(wrong.value)


@pytest.mark.parametrize("broker", ["broker", "kafka://broker:9092", "me:secret@broker:9092", "", "a:1,b"])
def test_an_address_that_cannot_be(broker: str) -> None:
    with pytest.raises(DefinitionError, match="is no address of a broker") as wrong:
        topic_of(broker, "orders")
    assert "secret" not in str(wrong.value)
