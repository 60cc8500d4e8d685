"""Tables of PostgreSQL that somebody made, altered or built on: nothing of theirs is lost, and no value of ours."""

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from tests.sinks.places import Table
from tests.sinks.shop import Shop, differences
from tests.storage.three_batches import START

D12 = pa.decimal128(12, 4)


@pytest.fixture
def shop(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("WAREHOUSE", database)
    shop = Shop(tmp_path, Table(database).sink())
    shop.write(0, pa.int64(), {"a": 1, "bb": 2})
    return shop


@pytest.mark.parametrize(
    ("kinds", "altered"),
    [
        ("k text, v bigint", ()),
        ("k varchar(2), v smallint", ()),
        ("k varchar(1), v smallint", ("column k was character varying(1), and the windows have text",)),
        ("k text, v boolean", ("column v was boolean, and the windows have bigint",)),
        ("k char(1), v date", ("column k was character(1), and", "column v was date, and")),
    ],
)
def test_columns_of_somebody_are_altered_where_they_would_lose_a_value(
    shop: Shop, database: str, kinds: str, altered: tuple[str, ...]
) -> None:
    made = f"CREATE TABLE t ({kinds}, window_start timestamptz, window_end timestamptz, UNIQUE (k, window_start, window_end))"
    Table(database).damage(made)
    sent = shop.ran(0)
    assert (sent.failed, differences(shop.published(), Table(database).held())) == ("", [])
    assert [words in sent.line for words in altered] == [True] * len(altered)
    assert ("all windows" in sent.line) == bool(altered)


def test_a_column_that_cannot_be_altered_is_named_with_both_types(shop: Shop, database: str) -> None:
    shop.ran(0)
    Table(database).damage("CREATE VIEW on_top AS SELECT v FROM t")
    shop.write(1, D12, {"a": Decimal("1.2345")})
    sent = shop.ran(1)
    assert sent.blocked
    assert "column v of table t is bigint, the windows have numeric(23,4), values would be lost, and it cannot be altered (" in sent.failed
    assert differences({("a", START): 1, ("bb", START): 2}, Table(database).held()) == []
    Table(database).damage("DROP VIEW on_top")
    assert (shop.sent().failed, differences(shop.published(), Table(database).held())) == ("", [])


def test_rows_of_somebody_in_a_table_that_was_made_again_stay(shop: Shop, database: str) -> None:
    shop.ran(0)
    Table(database).damage("DROP TABLE t; CREATE TABLE t AS SELECT 'ours' k, now() window_start, 1 v")
    sent = shop.sent()
    assert sent.blocked
    assert "has rows that Muntin did not write" in sent.failed
    assert list(Table(database).held().values()) == [1]


def test_a_check_of_somebody_leaves_one_window_out(shop: Shop, database: str) -> None:
    shop.ran(0)
    Table(database).damage("ALTER TABLE t ADD CONSTRAINT small CHECK (v < 5)")
    shop.write(1, pa.int64(), {"a": 3, "b": 7})
    sent = shop.ran(1)
    ((misfit),) = sent.misfits
    assert (misfit.column, "small" in misfit.why) == ("v", True)
    assert [key for (key, start), *_ in differences(shop.published(), Table(database).held())] == ["b"]


def test_a_server_that_is_down_is_no_error_of_data(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE", "postgresql://muntin@127.0.0.1:9/nowhere")
    sent = shop.ran(0)
    assert (bool(sent.failed), sent.needs_a_person) == (True, False)
