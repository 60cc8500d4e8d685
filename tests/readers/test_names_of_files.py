"""Names of files are names: whatever characters they have, a listed file is read itself, once, and no other in its stead."""

import glob
import gzip
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import StorageError
from muntin.files.paths import options_of, path_of, table_address
from muntin.jobs.inspect.late import quarantined
from muntin.sources.source import Source
from muntin.tasks import Local
from tests.case_counts import paired, some
from tests.end_to_end.hourly import START, hour

ODD = [
    *("a*b", "a?b", "a[b]c", "a[bc", "a]b", "[!a]x", "[]", "a{b,c}d", "a**b", "*", "?", "a*", "[a-z]*"),
    *(
        "a b",
        " ",
        "a'b",
        'a"b',
        "a#b",
        "a%20b",
        "a%b",
        "a=b",
        "x=1",
        "a&b",
        "a+b",
        "a;b",
        "a:b",
        "a,b",
        "a|b",
        "a~b",
        "~",
        "a^b",
        "$HOME",
        "-a",
        "é",
    ),
    *("a\\b", "a\\*b", "a\\[b", "\\*", "*\\"),
]
LIKE = ["ab", "aXb", "abc", "acc", "axb", "bx", "a20b", "b", "z"]
"""Names that patterns among `ODD` would find, too."""
ENDINGS = ["parquet", "csv", "jsonl", "csv.gz", "jsonl.gz", "csv.zst"]


def content(number: int, ending: str) -> bytes:
    """A file of one row."""
    at = "2024-01-01 00:10:00"
    if ending == "parquet":
        out = pa.BufferOutputStream()
        pq.write_table(pa.table({"at": [hour(0.5)], "x": [number]}), out)
        return out.getvalue().to_pybytes()
    text = f"at,x\n{at},{number}\n" if ending.startswith("csv") else f'{{"at": "{at}", "x": {number}}}\n'
    packs = {"gz": gzip.compress, "zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True)}
    return packs.get(ending.rpartition(".")[2], bytes)(text.encode())


def pipeline(source: Source) -> Pipeline:
    return Pipeline(
        name="names",
        source=source,
        schedule="1h",
        start=START,
        windows={"hour": windows.tumbling("1h")},
        aggregates={"n": agg.count(), "x": agg.collect("x")},
    )


def numbers(source: Source, root: Path) -> list[int]:
    """The numbers that are read, each as often as it is read."""
    each = pipeline(source)
    run(each, root=root, start=START, end=hour(1), spark=Local(1))
    return [number for row in read(each, "hour", root=root).to_pylist() for number in sorted(row["x"])]


@pytest.mark.parametrize(("where", "ending"), paired(["file", "folder"], ENDINGS))
def test_listed_is_read(roots: str, tmp_path: Path, where: str, ending: str) -> None:
    names = [*ODD, *LIKE]
    for number, name in enumerate(names):
        path = path_of(roots, "data", "00", f"{name}.{ending}" if where == "file" else f"{name}/part.{ending}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(number, ending))
    pattern = f"*.{ending}" if where == "file" else f"*/part.{ending}"
    source = sources.files(f"{roots}/data/{{start:%H}}/{pattern}", event_time="at")
    assert numbers(source, tmp_path / "state") == [*range(len(names))]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_bad_row_is_told_with_its_file(roots: str, tmp_path: Path, ending: str) -> None:
    for number, name in enumerate(ODD):
        bad = b"2024-01-01 00:10:00,1,too many\n" if ending == "csv" else b"no JSON\n"
        path_of(roots, "data", "00").mkdir(parents=True, exist_ok=True)
        path_of(roots, "data", "00", f"{name}.{ending}").write_bytes(content(number, ending) + bad)
    source = sources.files(f"{roots}/data/{{start:%H}}/*.{ending}", event_time="at")
    assert numbers(source, tmp_path / "state") == [*range(len(ODD))]
    refused = quarantined(pipeline(source), root=tmp_path / "state").to_pylist()
    assert {row["file"] for row in refused} == {f"{roots}/data/00/{name}.{ending}" for name in ODD}


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_folders_give_columns(roots: str, tmp_path: Path, ending: str) -> None:
    values = [name for name in ODD if "%" not in name]  # Hive writes %25 for it
    for number, value in enumerate(values):
        path = path_of(roots, "data", "00", f"k={value}", f"part.{ending}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(number, ending))
    source = sources.files(f"{roots}/data/{{start:%H}}/*/part.{ending}", event_time="at", hive={"k": "VARCHAR"})
    each = replace(pipeline(source), keys=("k",))
    run(each, root=tmp_path / "state", start=START, end=hour(1), spark=Local(1))
    found = read(each, "hour", root=tmp_path / "state")
    assert dict(zip(found["k"].to_pylist(), found["x"].to_pylist(), strict=True)) == {value: [at] for at, value in enumerate(values)}


@pytest.mark.parametrize("name", some(["a table", "a#b", "a?b", "a*b"], one_in=2))
def test_a_delta_table_and_its_partitions(roots: str, tmp_path: Path, name: str) -> None:
    rows = pa.table({"at": [hour(0.5)] * len(ODD), "x": range(len(ODD)), "k": ODD})
    root = f"{roots}/{name}"
    deltalake.write_deltalake(table_address(root), rows, partition_by=["k"], storage_options=options_of(root))
    each = replace(pipeline(sources.table(root, event_time="at")), keys=("k",), schedule="3650d", limits=Limits(max_behind=None))
    run(each, root=tmp_path / "state", start=START, end=START + timedelta(days=3650), spark=Local(1))
    found = read(each, "hour", root=tmp_path / "state", provisional=True)
    assert dict(zip(found["k"].to_pylist(), found["x"].to_pylist(), strict=True)) == {value: [at] for at, value in enumerate(ODD)}


@pytest.mark.parametrize("name", ["a%20b", "a[b]c", "a^b"])
def test_a_delta_table_that_cannot_be_opened_is_told(tmp_path: Path, name: str) -> None:
    path_of(str(tmp_path), name, "_delta_log").mkdir(parents=True)
    path_of(str(tmp_path), name, "_delta_log", f"{0:020d}.json").write_text("{}")
    with pytest.raises(StorageError, match=r"deltalake cannot open a Delta table with .* give the folder another name"):
        numbers(sources.table(f"{tmp_path}/{name}", event_time="at"), tmp_path / "state")


@pytest.mark.parametrize("name", some(["a[b]c", "a*b", "a b", "a#b", "a%b", "é"], one_in=2))
def test_states_and_their_readers(roots: str, name: str) -> None:
    """A root with such a name, whose windows another pipeline reads."""
    for at in range(2):
        path = path_of(roots, name, "data", f"0{at}.csv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(7, "csv").replace(b" 00:", b" 0%d:" % at))
    below = pipeline(sources.files(f"{glob.escape(roots)}/{glob.escape(name)}/data/{{start:%H}}.csv", event_time="at"))
    above = replace(below, name="above", source=sources.windows(below, "hour", event_time="window_start"), aggregates={"n": agg.sum("n")})
    for each in (below, above):
        run(each, root=f"{roots}/{name}", start=START, end=hour(2), spark=Local(1))
    assert read(above, "hour", root=f"{roots}/{name}")["n"].to_pylist() == [1]
