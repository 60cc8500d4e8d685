"""A broker of Kafka for tests: one process, without ZooKeeper, from the jars that `setup/kafka.sh` fetches."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.servers import free_port, wait_for

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

JARS = Path(__file__).parents[1] / "build/kafka"
PATIENCE_S = 120
USER, PASSWORD = "muntin-tests", "not-a-secret-of-anybody"
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
_LOUD = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
_JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{plain},SASL_SSL://127.0.0.1:{secure},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL_SSL://127.0.0.1:{secure}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_ssl.plain.sasl.jaas.config={jaas} user_{user}="{password}";
ssl.keystore.type=PEM
ssl.keystore.location={folder}/server.pem
log.dirs={folder}/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.cleaner.min.cleanable.ratio=0.0
log.cleaner.backoff.ms=100
log.retention.check.interval.ms=200
log.message.timestamp.after.max.ms=9223372036854775807
"""
Row = tuple[str | None, bytes | None, int]
"""A message: key, value, and milliseconds since 1970."""


@dataclass(frozen=True)
class Broker:
    """Its addresses: without and with credentials; and the certificate by which it is known."""

    address: str
    secure: str
    certificate: Path

    def topic(self, partitions: int = 1, **settings: str) -> str:
        """The name of a new topic, whose messages stay unless the settings say otherwise."""
        name = f"topic-{uuid4().hex[:12]}"
        self._make(name, partitions, {key.replace("_", "."): value for key, value in settings.items()})
        return name

    def again(self, topic: str) -> None:
        """Remove a topic and make another of its name, once the broker has let the first go."""
        from confluent_kafka import KafkaError, KafkaException

        self.drop(topic)
        for _ in range(1000):
            try:
                return self._make(topic, 1, {})
            except KafkaException as wrong:
                if wrong.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
        raise AssertionError(topic)

    def _make(self, name: str, partitions: int, settings: Mapping[str, str]) -> None:
        from confluent_kafka.admin import NewTopic

        admin = self._admin()  # held until the answer is there
        admin.create_topics([NewTopic(name, partitions, 1, config={"retention.ms": "-1", **settings})])[name].result()
        _until_told(admin, name)

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions."""
        from confluent_kafka.admin import NewPartitions

        admin = self._admin()
        admin.create_partitions([NewPartitions(topic, partitions)])[topic].result()

    def remove_before(self, topic: str, offsets: Mapping[int, int]) -> None:
        """What retention does: the messages before these offsets go."""
        from confluent_kafka import TopicPartition

        admin = self._admin()
        for done in admin.delete_records([TopicPartition(topic, *each) for each in offsets.items()]).values():
            done.result()

    def drop(self, topic: str) -> None:
        """Remove a topic."""
        admin = self._admin()
        admin.delete_topics([topic])[topic].result()

    def produce(self, topic: str, rows: Mapping[int, Sequence[Row]]) -> None:
        """Append messages to partitions, in order."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.address, "linger.ms": 5, "queue.buffering.max.messages": 2_000_000})
        for partition, messages in rows.items():
            for key, value, at_ms in messages:
                producer.produce(topic, value, key, partition, timestamp=at_ms)
        assert producer.flush(PATIENCE_S) == 0

    def in_transaction(self, topic: str, rows: Sequence[Row], *, commit: bool = True) -> None:
        """Append messages to partition 0 in one transaction, which leaves a mark of its own behind them."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.address, "transactional.id": uuid4().hex})
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        for key, value, at_ms in rows:
            producer.produce(topic, value, key, 0, timestamp=at_ms)
        producer.flush(PATIENCE_S)
        (producer.commit_transaction if commit else producer.abort_transaction)(PATIENCE_S)

    def _admin(self):
        from confluent_kafka.admin import AdminClient

        return AdminClient({"bootstrap.servers": self.address})


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """The broker, started once."""
    if not (JARS / "whole").exists():
        pytest.skip("no Kafka: bash setup/kafka.sh fetches it where Maven is")
    with started(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@contextmanager
def started(folder: Path) -> Iterator[Broker]:
    """A broker that keeps its messages in a folder."""
    plain, secure, controller = (free_port() for _ in range(3))
    certificate = certified(folder)
    jaas = f'{_JAAS} username="{USER}" password="{PASSWORD}"'
    named = {"plain": plain, "secure": secure, "controller": controller, "jaas": jaas, "folder": folder}
    settings = folder / "server.properties"
    settings.write_text(_SETTINGS.format(user=USER, password=PASSWORD, **named), encoding="utf-8")
    java = [f"{os.environ['JAVA_HOME']}/bin/java" if "JAVA_HOME" in os.environ else "java", "-Xmx384m", *_QUICK, _LOUD, "-cp", f"{JARS}/*"]
    subprocess.run([*java, "kafka.tools.StorageTool", "format", "-t", uuid4().hex[:22], "-c", settings], check=True, capture_output=True)
    log = (folder / "log").open("wb")
    with log, subprocess.Popen([*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log) as running:
        try:
            wait_for(plain, seconds=PATIENCE_S)
            yield Broker(f"127.0.0.1:{plain}", f"127.0.0.1:{secure}", certificate)
        finally:
            running.kill()


def certified(folder: Path) -> Path:
    """A key and a certificate for 127.0.0.1, for a server in one file, and the certificate alone."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate, *names]
    subprocess.run(made, check=True, capture_output=True)
    (folder / "server.pem").write_bytes(key.read_bytes() + certificate.read_bytes())
    return certificate


def _until_told(admin: "AdminClient", topic: str) -> None:
    """Ask for a new topic until the broker tells of it: on a busy machine that is some moments after it was made."""
    from confluent_kafka import KafkaError, KafkaException, TopicCollection

    for _ in range(1000):
        try:
            admin.describe_topics(TopicCollection([topic]))[topic].result()
        except KafkaException as wrong:
            if wrong.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
        else:
            return
    raise AssertionError(topic)
