"""A file that cannot be read as a whole is an error in a sentence, or a row of the quarantine."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin import sources
from muntin.errors import DefinitionError, MuntinError, SourceError
from muntin.jobs.inspect.late import quarantined
from muntin.jobs.state.fingerprint import fingerprint
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly, times
from tests.source_options import grouped

AT = "2024-01-01 00:10:00"


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def nothing(path: Path) -> None:
    path.write_bytes(b"")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def words(path: Path) -> None:
    path.write_text("these are no columns")


def page(path: Path) -> None:
    """Damage in the midst of a file, so that its footer is whole."""
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)


def packed(path: Path) -> None:
    path.write_bytes(gzip.compress(f"at,x\n{AT},1\n".encode() * 1000)[:-20])


BAD: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "an empty file": ("00b.parquet", nothing, "is empty (0 bytes); a Parquet file was expected"),
    "half a file": ("00b.parquet", half, "; a Parquet file was expected"),
    "no Parquet": ("00b.parquet", words, "begins with b'thes'; a Parquet file was expected"),
    "a damaged page": ("00b.parquet", page, "is damaged"),
    "a folder": ("00b.parquet", folder, "is a folder; a Parquet file was expected"),
    "an empty CSV": ("00b.csv", nothing, "is empty (0 bytes); a CSV file was expected"),
    "a folder of CSV": ("00b.csv", folder, "is a folder; a CSV file was expected"),
    "half a packed file": ("00b.csv.gz", packed, "is cut off or damaged"),
    "a folder of JSON": ("00b.jsonl", folder, "is a folder; a file of JSON lines was expected"),
}


def with_bad(tmp_path: Path, what: str, **source: Any) -> Hourly:
    """An hour with a good and a bad file, and a good hour."""
    name, spoil, _ = BAD[what]
    ending = name.removeprefix("00b.")
    case = Hourly(tmp_path, "{start:%H}*", {"format": {"csv.gz": "csv", "jsonl": "json"}.get(ending, ending), **source}, {})
    good = ending.removesuffix(".gz")
    case.write(f"00a.{good}", {"at": times(1, 2), "x": [1, 2]})
    case.write(f"01a.{good}", {"at": times(61), "x": [3]})
    spoil(case.write(f"00b.{good}", {"at": times(3), "x": [4]}).rename(tmp_path / "data" / name))
    return case


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_is_an_error_that_names_it(what: str, tmp_path: Path) -> None:
    name, _, told = BAD[what]
    with pytest.raises(SourceError) as wrong:
        with_bad(tmp_path, what).run(0, 1)
    assert f"{tmp_path}/data/{name} " in str(wrong.value)
    assert told in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize("what", BAD)
def test_or_a_row_of_the_quarantine(what: str, tmp_path: Path) -> None:
    name, _, told = BAD[what]
    case = with_bad(tmp_path, what, on_bad_file="quarantine")
    first, second = case.run(0, 1).batches
    assert (first.rows_read, first.rows_accepted, first.rows_quarantined) == (3, 2, 1)
    assert (second.rows_read, second.rows_accepted) == (1, 1)
    assert case.rows("n") == [(2,), (1,)]
    (row,) = quarantined(case.pipeline, root=case.root).to_pylist()
    assert (Path(row["file"]).name, row["line"], row["position"], row["row"]) == (name, None, None, None)
    assert row["reason"].startswith("the file ")
    assert told in row["reason"]


def test_a_batch_of_bad_files_is_an_empty_batch(tmp_path: Path) -> None:
    case = Hourly(tmp_path, source={"on_bad_file": "quarantine"})
    nothing(case.write("00.parquet", {"at": times(1)}))
    (batch,) = case.run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (1, 0, 1)
    case.write("00.parquet", {"at": times(1, 2)})
    case.run()
    assert (case.rows("n"), len(quarantined(case.pipeline, root=case.root))) == ([(2,)], 0)


# a writer of JSON lines without events writes no byte
def test_an_empty_file_of_json_lines_has_no_rows(tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}*.jsonl")
    nothing(case.write("00.jsonl", {"at": times(1)}))
    case.write("01.jsonl", {"at": times(61)})
    first, second = case.run(0, 1).batches
    assert (first.rows_read, first.rows_quarantined, second.rows_accepted) == (0, 0, 1)
    assert case.run(0, 0).batches[0].rows_read == 0


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_file_with_other_columns(ending: str, tmp_path: Path) -> None:
    other = {"keys": ["k"], "aggregates": {"x": agg.sum("x")}}
    case = Hourly(tmp_path, f"{{start:%H}}*.{ending}", {"on_bad_file": "quarantine"}, other)
    case.write(f"00a.{ending}", {"at": times(1), "k": ["a"], "x": [1]})
    case.write(f"00b.{ending}", {"at": times(2), "k": ["a"], "y": [2]})
    case.write(f"00c.{ending}", {"when": times(3), "k": ["a"], "x": [4]})
    (batch,) = case.run().batches
    assert (batch.rows_accepted, batch.rows_quarantined, case.rows("x")) == (1, 2, [(1,)])
    told = [(Path(row["file"]).stem, row["reason"]) for row in quarantined(case.pipeline, root=case.root).to_pylist()]
    assert told == [
        ("00b", "the file has no column 'x', which the definition uses; it has at, k, y"),
        ("00c", "the file has no column 'at', which the definition uses; it has when, k, x"),
    ]


def test_a_definition_that_no_file_fits_is_an_error_all_the_same(tmp_path: Path) -> None:
    case = Hourly(tmp_path, source={"on_bad_file": "quarantine"}, other={"aggregates": {"n": agg.sum("nobody")}})
    case.write("00.parquet", {"at": times(1)})
    with pytest.raises(DefinitionError, match="nobody"):
        case.run()


def test_a_bad_file_beside_bad_rows(tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}*.csv", {"on_bad_file": "quarantine"})
    case.write("00a.csv", {"at": []}).write_text(f"at,x\n{AT},1\n{AT}\n")
    nothing(case.write("00b.csv", {"at": []}))
    (batch,) = case.run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (3, 1, 2)


def test_neither_makes_other_states() -> None:
    plain = Hourly(Path("/x")).pipeline
    assert fingerprint(Hourly(Path("/x"), source={"on_bad_file": "quarantine", "ready": "_SUCCESS"}).pipeline) == fingerprint(plain)


def test_a_batch_is_read_when_its_files_are_whole(tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}/*.parquet", {"ready": "_SUCCESS"})
    case.write("00/a.parquet", {"at": times(1)})
    with pytest.raises(SourceError, match=r"data/00/_SUCCESS is not there yet.*2024-01-01.*ready='_SUCCESS'"):
        case.run()
    (tmp_path / "data/00/_SUCCESS").touch()
    assert case.run().batches[0].rows_accepted == 1


@pytest.mark.parametrize("said", [{"on_bad_file": "skip"}, {"ready": ""}, {"ready": "../_SUCCESS"}])
def test_what_cannot_be_said_of_files(said: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError, match=next(iter(said))):
        sources.files("{start:%H}.csv", **grouped(event_time="at", **said))


WRITTEN: dict[str, tuple[dict[str, Any], bytes]] = {
    "quotes": ({"quote": "'"}, b"at,x,k\n{AT},'1','a,\nb'\n"),
    "no quotes": ({"quote": "", "delimiter": "|"}, b'at|x|k\n{AT}|1|"a\n'),
    "nulls": ({"null": ["", "NA", "-"]}, b"at,x,k\n{AT},1,NA\n{AT},-,\n"),
    "latin-1": ({"encoding": "latin-1"}, "at,x,k\n{AT},1,grün\n".encode("latin-1")),
    "utf-16": ({"encoding": "utf-16"}, "at,x,k\n{AT},1,grün\n".encode("utf-16")),
    "decimals": ({"decimal": ",", "delimiter": ";"}, b"at;x;k\n{AT};0,25;a\n{AT};0,75;a\n"),
    "no header": ({"header": ["at", "x", "k"]}, b"{AT},1,a\n"),
}
FOUND = {"quotes": "a,\nb", "no quotes": '"a', "nulls": None, "latin-1": "grün", "utf-16": "grün", "decimals": "a", "no header": "a"}


@pytest.mark.parametrize(("bad", "what"), paired([False, True], WRITTEN))
def test_how_csv_may_be_written(what: str, bad: bool, tmp_path: Path) -> None:
    said, content = WRITTEN[what]
    coding = said.get("encoding", "utf-8")
    text = content.decode(coding).replace("{AT}", AT)
    rest = (said.get("delimiter", ",") * 4 + "9\n") if bad else ""
    other = {"aggregates": {"x": agg.sum("x::DOUBLE"), "k": agg.first("k")}}
    case = Hourly(tmp_path, "{start:%H}.csv", said, other)
    case.write("00.csv", {"at": []}).write_bytes((text + rest).encode(coding))
    (batch,) = case.run().batches
    assert (case.rows("x", "k"), batch.rows_quarantined) == ([(1.0, FOUND[what])], int(bad))
    lines = (text + rest).count("\n")
    assert [row["line"] for row in quarantined(case.pipeline, root=case.root).to_pylist()] == ([lines] if bad else [])


def test_each_way_to_write_makes_states_of_its_own() -> None:
    def name(**said: Any) -> str:
        return fingerprint(Hourly(Path("/x"), "{start:%H}.csv", said).pipeline)

    usual = {"quote": '"', "null": "", "encoding": "utf-8", "decimal": "."}
    assert name(**usual) == name()
    assert len({name(), *(name(**said) for said, _ in WRITTEN.values())}) == len(WRITTEN) + 1


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"quote": "''"}, "give one character"),
        ({"null": []}, "give the texts that are null"),
        ({"encoding": "klingon"}, "'klingon' is not possible; give the name of an encoding that Python knows"),
        ({"decimal": ";"}, 'choose "." or ","'),
        ({"header": False}, "give the names"),
        ({"header": ["a", "A"]}, "a name stands twice"),
    ],
)
def test_what_cannot_be_said_of_csv(said: dict[str, Any], told: str) -> None:
    with pytest.raises(MuntinError, match=told):
        sources.files("{start:%H}.csv", **grouped(event_time="at", **said))
