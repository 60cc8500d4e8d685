"""What is said of a key that no window has, by the type of its column."""

from typing import Any

import pyarrow as pa
import pytest

from muntin.cli.selection import NoSuchKeyError, check_keys

MANY = pa.array([f"{letter}{number:05}" for letter in "ab" for number in range(30_000)])


@pytest.mark.parametrize(
    ("keys", "asked", "words"),
    [
        (pa.array(["north", "south"]), "nrth", "has 'nrth'; there are north, south; did you mean 'north'?"),
        (pa.array(["north", "south"]), "North", "did you mean 'north'"),
        (pa.array(["a", "b"]), "a,b", "of several keys say each, as --key a --key b"),
        (pa.array([1, 12345]), "7", "has '7'; there are 1, 12345"),
        (pa.array([b"\xff\xfe"]), "x", "has 'x'; there are fffe"),
        (pa.array([None, "a"]), "b", "there are a"),
        (pa.nulls(0), "a", "nor any other key: none is published yet"),
        (pa.array([], pa.string()), "a", "nor any other key: none is published yet"),
        (pa.nulls(2), "a", "nor any other key"),
        (MANY, "b0001x", "there are a00000, a00001, a00002, a00003, a00004, ...; did you mean 'b0"),
    ],
)
def test_a_key_that_is_not_there(keys: Any, asked: str, words: str) -> None:
    with pytest.raises(NoSuchKeyError) as told:
        check_keys(pa.table({"k": keys}), {"k": [asked]}, "day")
    assert words in str(told.value)


@pytest.mark.parametrize("asked", [["a"], ["a", "b"], [""], ["a", ""], ["a", "c"]])
def test_a_key_that_is_there(asked: list[str]) -> None:
    check_keys(pa.table({"k": ["a", "b"]}), {"k": asked}, "day")
