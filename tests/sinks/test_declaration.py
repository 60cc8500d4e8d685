"""What a definition may say about sinks; it holds no secret, and it is no part of states and results."""

import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, sinks, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.jobs.state.fingerprint import derivation, fingerprint
from tests.storage.three_batches import Small

PLAIN = Small(Path("nowhere")).pipeline


def to_lake(changes: Any, version: int) -> None:
    """A sink of the user's."""


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://muntin:geheim@db/warehouse", "which must not stand in code"),
        ("postgresql://db/warehouse?password=geheim", "which must not stand in code"),
        ("host=db password = geheim", "which must not stand in code"),
        ("mysql://muntin:geheim@db/warehouse", "mysql is not known"),
        ("jdbc:oracle:thin:geheim@db", "neither postgresql://"),
        ("postgresql://geheim@[::1/x", "cannot be read"),
        ("", "give an address"),
        (None, "give an address"),
    ],
)
def test_an_address_that_cannot_be(address: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words) as told:
        sinks.postgres(address, table="day")
    assert "geheim" not in str(told.value)


@pytest.mark.parametrize(
    "address",
    ["warehouse", "env:WAREHOUSE", "postgresql://muntin@db:5432/warehouse", "jdbc:postgresql://db/warehouse", "host=db dbname=warehouse"],
)
def test_an_address_without_a_secret(address: str) -> None:
    assert sinks.postgres(address, table="reports.day").address == address.removeprefix("jdbc:")


STORES = {"mysql": lambda address: sinks.mysql(address, table="day"), "redis": lambda address: sinks.redis(address, "day")}


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("{}://muntin:geheim@db/0", "which must not stand in code"),
        ("{}://db/0?password=geheim", "which must not stand in code"),
        ("oracle://muntin:geheim@db/0", "the address is neither one as"),
        ("{}://geheim@[::1/x", "the address is neither one as"),
        ("{}://db:geheim/0", "the address is neither one as"),
        ("", "give an address"),
        (None, "give an address"),
    ],
)
def test_an_address_of_a_store_that_cannot_be(kind: str, address: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words) as told:
        STORES[kind](address and address.format(kind))
    assert "geheim" not in str(told.value)


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("address", ["shop", "env:SHOP", "{}://muntin@db:77/0", "{}://db/0?ssl_ca=a"])
def test_an_address_of_a_store_without_a_secret(kind: str, address: str) -> None:
    assert STORES[kind](address.format(kind)).address == address.format(kind)


@pytest.mark.parametrize("table", ["", "a.b", "a`b", " a", "t" * 65, 7])
def test_a_table_of_mysql_that_cannot_be(table: Any) -> None:
    with pytest.raises(DefinitionError, match="is not the name of a table"):
        sinks.mysql("shop", table=table)


@pytest.mark.parametrize("prefix", ["", "a/b", "a*", "a b", "p" * 201, 7])
def test_a_prefix_that_cannot_be(prefix: Any) -> None:
    with pytest.raises(DefinitionError, match="is no prefix of keys"):
        sinks.redis("cache", prefix)


@pytest.mark.parametrize("expires", ["-1d", "0s", "soon"])
def test_an_expiry_that_cannot_be(expires: str) -> None:
    for made in (lambda: sinks.redis("cache", "day", expires=expires), lambda: sinks.mysql("shop", table="day", expires=expires)):
        with pytest.raises(DefinitionError, match="expires"):
            made()


@pytest.mark.parametrize("table", ["", "a.b.c", 'a"b', 7])
def test_a_table_that_cannot_be(table: Any) -> None:
    with pytest.raises(DefinitionError, match="is not the name of a table"):
        sinks.postgres("warehouse", table=table)


OURS = ["muntin_ledger", "MUNTIN_LEDGER", "Muntin_Rows", "muntin_0123456789abcdef_new", "muntin_0123456789ABCDEF_old"]


@pytest.mark.parametrize("table", OURS)
def test_a_table_that_is_our_own_cannot_be_a_target(table: str) -> None:
    """Its rows would be those of the ledger; `--anew` would empty that."""
    schemas: list[str] = ["", "reports.", "Muntin."]
    for made in (lambda: sinks.mysql("shop", table=table), *(partial(sinks.postgres, "shop", table=each + table) for each in schemas)):
        with pytest.raises(DefinitionError, match="is the name of a table of Muntin's own, which all sinks share"):
            made()
    assert sinks.postgres("shop", table="muntin_ledger.day").table == "muntin_ledger.day"
    assert sinks.mysql("shop", table="muntin_day").table == "muntin_day"


@pytest.mark.parametrize("address", ["user:geheim@broker:9092", "broker:9092/geheim", "sasl://geheim", None])
def test_brokers_that_cannot_be(address: Any) -> None:
    with pytest.raises(DefinitionError, match="neither brokers nor a name") as told:
        sinks.kafka(address, "topic")
    assert "geheim" not in str(told.value)


@pytest.mark.parametrize(
    "made",
    [
        lambda **more: sinks.postgres("w", table="t", **more),
        lambda **more: sinks.kafka("b:9092", "t", **more),
        lambda **more: sinks.redis("c", "t", **more),
        lambda **more: sinks.mysql("m", table="t", **more),
    ],
)
def test_a_choice_that_is_not_known(made: Any) -> None:
    with pytest.raises(DefinitionError, match="on_unsupported: 'drop' is not known; write one of quarantine, replace, stop"):
        made(on_unsupported="drop")


@pytest.mark.parametrize("write", [lambda _rows, _version: None, None, "to_lake"])
def test_a_function_without_a_name(write: Any) -> None:
    with pytest.raises(DefinitionError, match="give a function that has a name"):
        sinks.spark(write)


@pytest.mark.parametrize(
    ("to", "words"),
    [
        (["warehouse"], "is not a list of sinks"),
        ("warehouse", "is not a list of sinks"),
        ([sinks.postgres("warehouse", table="day")], "say which window goes there, as window=...; there are hours, visits"),
        (
            [sinks.postgres("warehouse", table="day", window="hour")],
            "no window 'hour'; there are hours, visits; did you mean 'hours'",
        ),
        ([sinks.kafka("b:9092", "t", window=name) for name in ("hours", "visits")], "stands 2 times; each window needs a place of its own"),
    ],
)
def test_sinks_that_do_not_fit(to: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        replace(PLAIN, to=to)


def test_a_result_with_a_name_that_changes_need() -> None:
    named = replace(PLAIN, aggregates={"change": agg.count()})
    with pytest.raises(DefinitionError, match="changes have a column 'change' of their own"):
        replace(named, to=sinks.postgres("warehouse", table="hours", window="hours"))


def with_sinks() -> Pipeline:
    made = [sinks.postgres("warehouse", table="hours"), sinks.kafka("b:9092", "hours"), sinks.spark(to_lake)]
    return replace(PLAIN, windows={"hours": windows.tumbling("1h")}, to=made)


def test_the_only_window_need_not_be_named() -> None:
    assert [sink.window for sink in with_sinks().to] == ["hours"] * 3
    alone = sinks.postgres("warehouse", table="hours", window="hours")
    assert replace(PLAIN, to=alone).to == (alone,)


def test_sinks_are_no_part_of_states_and_results() -> None:
    plain, sending = replace(with_sinks(), to=()), with_sinks()
    assert fingerprint(plain) == fingerprint(sending)
    assert derivation(plain, "hours") == derivation(sending, "hours")


def test_tasks_of_spark_carry_no_function_of_the_user() -> None:
    carried = pickle.loads(pickle.dumps(with_sinks()))  # noqa: S301 - our own bytes
    assert [sink.name for sink in carried.to] == [sink.name for sink in with_sinks().to]
    assert carried.to[2].write is None


def test_a_definition_imports_nothing_that_sends() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from muntin import sinks; sinks.postgres('w', table='t'); sinks.kafka('b:9092', 't'); "
        "sinks.redis('c', 't'); sinks.mysql('m', table='t'); "
        "packages = ('psycopg', 'pymysql', 'redis', 'confluent_kafka', 'pyspark', 'deltalake', 'pyarrow'); "
        "print([name for name in packages if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
