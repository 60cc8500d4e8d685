"""Whole files of text are gone through for their types once in a run, and unpacked once, however often they are asked about."""

import gzip
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from muntin import aggregates as agg
from muntin import read
from muntin.sources import casts
from muntin.sources.casts import tells_instant
from muntin.sources.reading import column_types
from muntin.sources.sessions import plain_text
from muntin.sources.sessions.plain_text import answered_once
from tests.end_to_end.hourly import Hourly

LINES = {
    "csv": "at,x\n" + "".join(f"2024-01-01T00:10:{n:02}Z,{n}.5\n" for n in range(60)),
    "jsonl": "".join(f'{{"at": "2024-01-01T00:10:{n:02}Z", "x": {n}.5}}\n' for n in range(60)),
}


def told(tmp_path: Path, form: str) -> list[Any]:
    path = tmp_path / "data" / f"00.{form}"
    path.parent.mkdir()
    text = LINES[form.removesuffix(".gz")].encode()
    path.write_bytes(gzip.compress(text) if form.endswith(".gz") else text)
    hours = Hourly(tmp_path, f"{{start:%H}}.{form}", other={"aggregates": {"n": agg.count(), "x": agg.sum("x")}})
    hours.run()
    return read(hours.pipeline, "hour", root=hours.root).select(["n", "x"]).to_pylist()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_run_guesses_the_types_of_a_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    guesses, described = Counter[str](), column_types.described

    def counted(session: duckdb.DuckDBPyConnection, query: str) -> dict[str, str]:
        guesses[query] += "sample_size = -1" in query
        return described(session, query)

    monkeypatch.setattr(column_types, "described", counted)
    assert told(tmp_path, form) == [{"n": 60, "x": 1800.0}]
    assert guesses.total() == 1


@pytest.mark.parametrize("form", ["csv.gz", "jsonl.gz"])
def test_a_run_unpacks_a_large_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    unpacked, parts = Counter[str](), plain_text.parts

    def counted(path: str, encoding: str) -> Any:
        unpacked[path] += 1
        return parts(path, encoding)

    monkeypatch.setattr(plain_text, "parts", counted)
    monkeypatch.setattr(plain_text, "KEPT_BYTES", 100)
    assert told(tmp_path, form) == [{"n": 60, "x": 1800.0}]
    assert unpacked.total() == 1


def test_a_file_that_was_written_is_asked_about_anew(tmp_path: Path) -> None:
    path = tmp_path / "a"

    def size() -> int:
        return answered_once("size", [str(path)], lambda: path.stat().st_size)

    with pytest.raises(FileNotFoundError):
        size()
    path.write_text("one")
    assert size() == 3
    path.write_text("three")
    assert size() == 5


def asked() -> list[str]:
    """SQL for whether a text tells an instant, and for whether it says more than an instant has."""
    return [tells_instant("t"), casts._is_no_time("t", "TIMESTAMPTZ", cut=False), casts._is_no_time("t", "TIMESTAMPTZ", cut=True)]


def test_the_usual_form_of_an_instant_admits_no_text_that_the_rule_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    dice, texts = Random(7), set[str]()
    for _ in range(30_000):
        text = list("2024-01-02T10:00:00Z")
        for _ in range(dice.randint(1, 3)):
            at = dice.randrange(len(text))
            text[at : at + dice.randint(0, 1)] = dice.choice(["", *"0123456789- T:.Z+N", ".1234567"])
        texts.add("".join(text))
    usual, odd = asked(), "try_cast(t AS TIMESTAMPTZ) IS NOT NULL"
    monkeypatch.setattr(casts, "_USUAL", "")
    rule = asked()
    with duckdb.connect() as session:
        session.execute("CREATE TABLE texts AS SELECT unnest(?) AS t", [sorted(texts)])
        for fast, slow in zip(usual, rule, strict=True):
            assert session.execute(f"SELECT t FROM texts WHERE {odd} AND ({fast}) <> ({slow})").fetchall() == []
        (agreed,) = session.execute(f"SELECT count(*) FROM texts WHERE {odd} AND {rule[0]}").fetchall()
    assert agreed[0] > 500
