"""Servers over TLS: whoever names the certificate of who signed for the server reaches it, and nobody else sends a word in the clear."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import sinks
from tests import maria_server, redis_server
from tests.kafka_broker import certified
from tests.sinks.shop import Sent, Shop

Sending = Callable[[str], Sent]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certified(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def redis(certificate: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not (found := redis_server.program()):
        pytest.skip("no Redis: bash setup/stores.sh fetches it where apt-get or brew may")
    with redis_server.started(found, tmp_path_factory.mktemp("redis"), str(certificate.with_name("server.pem"))) as address:
        yield address


@pytest.fixture(scope="module", params=[True, False], ids=["TLS", "no TLS"])
def maria(request: pytest.FixtureRequest, certificate: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, bool]]:
    """The address of an empty database, and whether its server speaks TLS."""
    if not (found := maria_server.program()):
        pytest.skip("no MariaDB: bash setup/stores.sh fetches it where apt-get or brew may")
    both = certificate.with_name("server.pem")
    settings = ["--require-secure-transport=ON", f"--ssl-cert={both}", f"--ssl-key={both}"] if request.param else ["--skip-ssl"]
    with maria_server.started(found, tmp_path_factory.mktemp("maria"), *settings) as address:
        tls: dict[str, Any] = {"ssl_ca": str(certificate)} if request.param else {}
        with maria_server.connected(address, **tls) as connection:
            connection.cursor().execute("CREATE DATABASE IF NOT EXISTS shop")
        yield f"{address}/shop", request.param


def sending(folder: Path, sink: Any, monkeypatch: pytest.MonkeyPatch) -> Sending:
    """Publish a window, and send it to an address."""
    shop = Shop(folder, sink)
    shop.write(0, pa.int64(), {"a": 1})
    shop.run(0)

    def sent(address: str) -> Sent:
        monkeypatch.setenv("STORE", address)
        return shop.sent()

    return sent


def test_redis(redis: str, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = sending(tmp_path, sinks.redis("env:STORE", "t"), monkeypatch)
    assert "certificate verify failed" in sent(redis).failed
    assert sent(redis.replace("rediss:", "redis:")).failed
    first, second = (sent(f"{redis}?ssl_ca_certs={certificate}") for _ in range(2))
    assert [(each.failed, each.rows) for each in (first, second)] == [("", 1), ("", 0)]


def test_mysql(maria: tuple[str, bool], certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (address, secure), sent = maria, sending(tmp_path, sinks.mysql("env:STORE", table="t"), monkeypatch)
    asked = f"{address}?ssl_ca={certificate}"
    if secure:
        assert "certificate verify failed" in sent(f"{address}?ssl_verify_cert=true").failed
        assert [(each.failed, each.rows) for each in (sent(asked), sent(asked))] == [("", 1), ("", 0)]
    else:
        for more in ("", "&ssl_disabled=false"):
            assert "SSL" in sent(asked + more).failed  # not a word in the clear
        assert sent(address).failed == ""
