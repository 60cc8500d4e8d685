"""Keys: codes in the keys' own order, buckets that stay the same for good, null a key like any other."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.states import keys
from muntin.states.keys import BUCKETS, buckets, key_codes

KEYS = {
    "text": pa.array(["", "a", "ü✓", "JFK", "a\x00b", None]),
    "int": pa.array([0, 1, -1, 2**63 - 1, -(2**63), None]),
    "small": pa.array([0, 1, -1, 100, None], pa.int8()),
    "flag": pa.array([False, True, None]),
    "float": pa.array([0.0, 1.5, float("inf"), float("nan"), None]),
    "day": pa.array([date(1970, 1, 1), date(2024, 2, 29), None]),
    "moment": pa.array([datetime(1970, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC), None], pa.timestamp("us", tz="UTC")),
    "money": pa.array([Decimal("1.50"), Decimal("-1.50"), None], pa.decimal128(20, 2)),
}
GOLDEN = {
    "text": [526, 228, 882, 150, 586, 431],
    "int": [0, 637, 484, 82, 718, 431],
    "small": [0, 637, 484, 237, 431],
    "flag": [0, 637, 431],
    "float": [0, 796, 695, 675, 431],
    "day": [887, 881, 431],
    "moment": [0, 472, 431],
    "money": [701, 687, 431],
    "two": [700, 184, 130],
}


@pytest.mark.parametrize("kind", KEYS)
def test_a_change_of_the_hash_would_orphan_every_checkpoint(kind: str) -> None:
    assert buckets([KEYS[kind]], len(KEYS[kind])).tolist() == GOLDEN[kind]


@given(texts=st.lists(st.text(), max_size=20))
def test_many_texts_are_hashed_as_few_are(texts: list[str]) -> None:
    column = pa.array([*texts, *KEYS["text"].to_pylist()])
    few = buckets([column], len(column)).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_FEW", -1)
        many = buckets([column], len(column)).tolist()
    assert few == many
    assert many[len(texts) :] == GOLDEN["text"]


def test_two_keys_mix_in_order() -> None:
    left, right = pa.array(["a", "b", None]), pa.array([1, 2, None])
    assert buckets([left, right], 3).tolist() == GOLDEN["two"]
    assert buckets([right, left], 3).tolist() != GOLDEN["two"]
    assert buckets([], 2).tolist() == [0, 0]


@pytest.mark.parametrize("kind", KEYS)
def test_a_bucket_is_of_the_value_not_of_its_neighbours(kind: str) -> None:
    column = KEYS[kind]
    alone = [int(buckets([column.slice(at, 1)], 1)[0]) for at in range(len(column))]
    turned = buckets([column.take(pa.array(range(len(column))[::-1]))], len(column)).tolist()
    assert alone == turned[::-1] == GOLDEN[kind]


def test_buckets_are_spread() -> None:
    found = np.bincount(buckets([pa.array([f"key{n}" for n in range(100_000)])], 100_000), minlength=BUCKETS)
    assert found.min() > 50
    assert found.max() < 160


@pytest.mark.parametrize("kind", KEYS)
def test_codes_are_ordered_as_the_keys_are_null_last(kind: str) -> None:
    keys = KEYS[kind]
    codes = key_codes([keys], len(keys)).tolist()
    known = [(value, code) for value, code in zip(keys.to_pylist(), codes, strict=True) if str(value) not in ("None", "nan")]
    assert [code for _, code in sorted(known)] == sorted(code for _, code in known)
    assert max(codes) == codes[keys.to_pylist().index(None)]
    assert len(set(codes)) == len(keys)


def test_codes_of_many_wide_columns_do_not_overflow() -> None:
    wide = pa.array([0, 2**31 - 2, 5])
    codes = key_codes([wide, wide, wide, wide], 3)
    assert codes.argsort().tolist() == [0, 2, 1]


def test_no_key_columns_is_one_key_and_no_rows_none() -> None:
    assert key_codes([], 3).tolist() == [0, 0, 0]
    assert key_codes([pa.array([], pa.string())], 0).tolist() == []
