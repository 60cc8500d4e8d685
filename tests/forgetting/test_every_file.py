"""What `--prove` reads: each file below the folder of a pipeline, by its content, whatever its name says. What it cannot read, it names."""

import bz2
import gzip
import io
import json
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import forget
from muntin.extensions.forgetting.contents import UnreadableError, content_says
from muntin.extensions.forgetting.forget import Forgetting, plan_forget
from muntin.states.forgotten_keys import Plain
from tests.case_counts import at_length, cases, paired, some
from tests.forgetting.visits import Visits, others_are

NAME, OTHER = "mmm-the-forgotten", "mmm-the-forgotten2"


def parquet(table: pa.Table, **how: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **how)
    return sink.getvalue().to_pybytes()


def arrow(table: pa.Table, opened: Callable[..., Any]) -> bytes:
    sink = pa.BufferOutputStream()
    with opened(sink, table.schema) as file:
        file.write_table(table)
    return sink.getvalue().to_pybytes()


def packed(content: bytes, name: str = "a") -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return sink.getvalue()


def taped(content: bytes) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:gz") as file:
        entry = tarfile.TarInfo("a")
        entry.size = len(content)
        file.addfile(entry, io.BytesIO(content))
    return sink.getvalue()


def by_arrow(content: bytes, how: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, how) as file:
        file.write(content)
    return sink.getvalue().to_pybytes()


def avro(name: str) -> bytes:
    from fastavro import writer

    sink = io.BytesIO()
    fields = [{"name": "who", "type": {"type": "array", "items": "string"}}]
    writer(sink, {"type": "record", "name": "r", "fields": fields}, [{"who": ["a", name]}])
    return sink.getvalue()


SAID: dict[str, Callable[[str], bytes]] = {
    "Parquet, a column": lambda name: parquet(pa.table({"z": ["ann", name]})),
    "Parquet, a sentence": lambda name: parquet(pa.table({"z": ["ann", f"call {name}."]})),
    "Parquet, a list": lambda name: parquet(pa.table({"z": [["a", name]]})),
    "Parquet, a struct of lists": lambda name: parquet(pa.table({"z": [{"y": [{"x": name}]}]})),
    "Parquet, a map": lambda name: parquet(pa.table({"z": pa.array([[(name, 1)]], pa.map_(pa.string(), pa.int64()))})),
    "Parquet, a dictionary": lambda name: parquet(pa.table({"z": pa.array(["a", name]).dictionary_encode()})),
    "Parquet, bytes": lambda name: parquet(pa.table({"z": [name.encode()]})),
    "Parquet, a key column": lambda name: parquet(pa.table({"person": [name]})),
    "Parquet, its footer": lambda name: parquet(pa.table({"z": [1]}).replace_schema_metadata({"note": json.dumps({"by": name})})),
    "Parquet, a comment": lambda name: parquet(
        pa.table([pa.array([1])], schema=pa.schema([pa.field("z", pa.int64(), metadata={"c": name})]))
    ),
    "Parquet, the name of a column": lambda name: parquet(pa.table({name: [1]})),
    "Parquet, ranges": lambda name: parquet(
        pa.table({"person": ["ann"]}).replace_schema_metadata({"muntin_ranges": json.dumps({"minValues": {"person": name}})})
    ),
    "Arrow, a file": lambda name: arrow(pa.table({"z": [["a", name]]}), pa.ipc.new_file),
    "Arrow, a stream": lambda name: arrow(pa.table({"z": [name]}), pa.ipc.new_stream),
    "Avro": avro,
    "JSON": lambda name: json.dumps({"user": name}).encode(),
    "JSON, a name": lambda name: json.dumps({"users": {name: 1}}).encode(),
    "JSON, the same name twice": lambda name: b'{"a": "%s", "a": "b"}' % name.encode(),
    "JSON, escapes": lambda name: b'{"a": "\\u006d%s"}' % name[1:].encode(),
    "JSON lines": lambda name: b'{"a": 1}\n{"b": ["%s"]}\n' % name.encode(),
    "JSON, not whole": lambda name: b'{"a": "%s"' % name.encode(),
    "text": lambda name: f"call {name}, today".encode(),
    "CSV": lambda name: f"at,user\n1,{name}\n".encode(),
    "text of another code": lambda name: f"für {name}\n".encode("latin-1"),
    "text of two bytes": lambda name: f"call {name}".encode("utf-16"),
    "gzip of JSON": lambda name: gzip.compress(json.dumps({"user": name}).encode()),
    "gzip of Parquet": lambda name: gzip.compress(parquet(pa.table({"z": [name]}))),
    "bzip2": lambda name: bz2.compress(name.encode()),
    "xz": lambda name: lzma.compress(name.encode()),
    "zstd": lambda name: by_arrow(name.encode(), "zstd"),
    "lz4": lambda name: by_arrow(name.encode(), "lz4"),
    "zip": lambda name: packed(json.dumps([name]).encode()),
    "zip, the name of a member": lambda name: packed(b"1", f"{name}.txt"),
    "tar": lambda name: taped(parquet(pa.table({"z": [[name]]}))),
    "bytes": lambda name: b"\x00\x01" + name.encode() + b"\x00",
}
UNREADABLE = {
    "half of a Parquet file": parquet(pa.table({"z": [*range(99)]}))[:-9],
    "half of a gzip": gzip.compress(bytes(99))[:-9],
    "half of an Avro file": b"Obj\x01abc",
    "bytes": bytes(range(32)),
}
PLACES = (
    "",
    "{state}",
    "windows/hour",
    "windows/hour/_delta_log",
    "windows",
    "{state}/frames/1m",
    "{state}/attempts",
    "{state}/new/folder",
    "topics/t",
)
NAMES = ("stray", "stray.parquet", "note.json", "note.json.gz", ".hidden", "x.avro", "00000.csv", "a.damaged", ".a.0123.partial")


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Visits:
    """Two hours of people, one of whom is forgotten."""
    made = Visits(tmp_path_factory.mktemp("visits"))
    for at in range(2):
        made.write(at, [(at * 60 + 5, name, "x", 1.0, "a") for name in ("ann", NAME, OTHER)])
        made.run(at)
    assert forget(made.pipeline, [{"person": NAME}], root=made.root).done
    return made


def planted(visits: Visits, place: str, name: str, content: bytes) -> Iterator[Forgetting]:
    """What is found while a file lies there."""
    home = visits.root / "visits"
    state = next(path.parent.name for path in home.glob("*/definition.json"))
    path = home / place.format(state=state) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    yield plan_forget(visits.pipeline, [{"person": NAME}], root=visits.root)
    path.unlink()


@pytest.mark.parametrize("kind", SAID)
def test_each_content_is_read(kind: str) -> None:
    keys = Plain(frozenset({(("person", NAME),)}))
    assert content_says(SAID[kind](NAME), keys) == 1
    if kind == "bytes":
        with pytest.raises(UnreadableError):
            content_says(SAID[kind]("another"), keys)
    else:
        assert content_says(SAID[kind](OTHER), keys) == 0


@pytest.mark.parametrize(("name", "place", "kind"), paired(NAMES, PLACES, some(SAID, one_in=3)))
def test_whatever_a_file_is_called(name: str, place: str, kind: str, visits: Visits) -> None:
    for found in planted(visits, place, name, SAID[kind](NAME)):
        assert [each.files for each in found.left] == [1]
    if kind != "bytes":
        for found in planted(visits, place, name, SAID[kind](OTHER)):
            assert found.left == ()


def test_a_name_of_a_file_counts(visits: Visits) -> None:
    for name in (f"{NAME}.txt", f"person={NAME}/0"):
        for found in planted(visits, "{state}/new", name, b""):
            assert len(found.left) == 1


@pytest.mark.parametrize("kind", some(UNREADABLE))
def test_what_cannot_be_read_is_named(kind: str, visits: Visits) -> None:
    for found in planted(visits, "windows/hour/2024", "stray", UNREADABLE[kind]):
        assert [(each.what, each.place) for each in found.left] == [("cannot be read", "visits/windows/hour/2024/stray")]
        assert found.left[0].said == f"cannot be read: {found.left[0].why}"
        assert found.left[0].why
        assert "remove it if it is of no use" in found.mend


def test_a_file_of_no_commit_goes_with_the_key_and_other_files_stay(visits: Visits) -> None:
    home, key = visits.root / "visits", [{"person": NAME}]
    strays = [home / f"windows/hour/{name}.parquet" for name in ("stray", "torn", "other")]
    strays[0].write_bytes(SAID["Parquet, a list"](NAME))
    strays[1].write_bytes(UNREADABLE["half of a Parquet file"])
    strays[2].write_bytes(SAID["Parquet, a list"](OTHER))  # as a run at work writes it before it commits
    (home / "note").write_bytes(SAID["text"](NAME))
    done = forget(visits.pipeline, key, root=visits.root)
    assert [(each.what, each.place) for each in done.left] == [("other files", "visits")]
    assert "take the key out of them, or remove them" in done.mend
    assert [path.exists() for path in strays] == [False, False, True]
    strays[2].unlink()
    (home / "note").unlink()
    assert forget(visits.pipeline, key, root=visits.root).done


def test_torn_files_of_killed_runs_go(tmp_path: Path) -> None:
    """Staged windows are derived again, and what is open is made again from states."""
    made = Visits(tmp_path)
    for at in range(2):
        made.write(at, [(at * 60 + 55, name, "x", 1.0, "a") for name in ("ann", NAME)])
        made.run(at)
    before = made.tables()
    state = next(path.parent for path in (made.root / "visits").glob("*/definition.json"))
    notes = sorted((state / "carry").rglob("*.parquet"))
    for path in (notes[-1], state / "carry/hours/stray.parquet", state / "staging/0123/hour/a.parquet"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(UNREADABLE["half of a Parquet file"])
    done = forget(made.pipeline, [{"person": NAME}], root=made.root)
    assert done.done, done.left
    others_are(made.tables(), before, NAME)


@pytest.mark.parametrize("person", some(["hour", "1", "20", "visits", "seconds", "reports", "done", "forget", "muntin", "VARCHAR"]))
def test_who_is_called_like_a_word_of_ours_is_forgotten_too(person: str, tmp_path: Path) -> None:
    made = Visits(tmp_path)
    made.write(0, [(5, "ann", "x", 1.0, "a"), (6, person, "x", 1.0, "a")], bad=[person])
    made.run(0)
    done = forget(made.pipeline, [{"person": person}], root=made.root)
    assert done.done, done.left
    made.run(0)
    assert made.published("hour")["person"].to_pylist() == ["ann"]


@at_length
@pytest.mark.parametrize("seed", range(cases(3000)))
def test_random_files(seed: int, visits: Visits) -> None:
    dice = random.Random(seed)
    place, name, kind = dice.choice(PLACES), dice.choice(NAMES), dice.choice(list(SAID))
    said = dice.random() < 0.6
    for found in planted(visits, place, name, SAID[kind](NAME if said else OTHER)):
        assert bool(found.left) == (said or kind == "bytes"), (place, name, kind, found.left)
