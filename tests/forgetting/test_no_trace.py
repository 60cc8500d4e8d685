"""What is left of a forgotten key below a root: no letter, whatever a file is decoded to. And what older versions left there."""

import base64
import random
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin import forget, windows
from muntin.extensions.forgetting import without_keys
from muntin.extensions.forgetting.forget import plan_forget
from muntin.extensions.forgetting.remembered import new_keys, remembered
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.state import forgotten_log
from muntin.store import parquet
from muntin.store.disk import write_whole
from muntin.store.parquet import Encoding, encoded
from tests.case_counts import at_length, cases
from tests.forgetting.visits import KINDS, Visits, drawn, others_are

NAMES = ("aaa-who-is-forgotten", "zzz-who-is-forgotten", "zzz-" + "who-is-forgotten-" * 4)
"""The least and the greatest of all people; and a name that is longer than what ranges keep of it."""
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{40,}={0,2}")


def said(path: Path) -> Iterator[bytes]:
    """All that a file says: its name, its bytes, and of Parquet its rows and every part of its footer."""
    yield str(path).encode()
    yield path.read_bytes()
    if path.suffix == ".parquet":
        with pq.ParquetFile(path) as file:
            yield repr(file.read().to_pydict()).encode()
            yield repr(file.metadata.to_dict()).encode()
            texts = [repr(file.schema_arrow).encode(), *(text for pair in (file.metadata.metadata or {}).items() for text in pair)]
            yield from texts
            yield from (base64.b64decode(each + b"=" * (-len(each) % 4)) for text in texts for each in _BASE64.findall(text))


def holds(root: Path, name: str) -> list[Path]:
    """The files that say a name, or the begin of it that ranges keep."""
    return [path for path in root.rglob("*") if path.is_file() and any(name[:24].encode() in each for each in said(path))]


def begun(folder: Path, name: str, kind: str = "by time", **more: Any) -> Visits:
    visits = Visits(folder, kind, more=more)
    for hour in range(3):
        rows = [(at, name if person == "bob" else person, *rest) for at, person, *rest in drawn(random.Random(hour), hour)]
        visits.write(hour, [*rows, (hour * 60 + 5, name, "x", 3.0, "b"), (hour * 60 + 6, "mia", "x", 3.0, "b")], bad=[name, "bob"])
        visits.run(hour)
    visits.run(1)
    return visits


@pytest.mark.parametrize("name", NAMES)
def test_no_letter_of_a_name_is_left_below_the_root(name: str, tmp_path: Path) -> None:
    visits = begun(tmp_path, name, windows={"hour": windows.tumbling("1h")})
    assert len(holds(visits.root, name)) > 5
    assert forget(visits.pipeline, [{"person": name}], root=visits.root).done
    assert holds(visits.root, name) == []
    visits.run(0, 2)
    assert holds(visits.root, name) == []


@at_length
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_defined_no_letter_of_a_name_is_left(kind: str, name: str, tmp_path: Path) -> None:
    more = {"aggregates": {"n": agg.count(), "devices": agg.collect("device"), "last": agg.last("device")}}
    visits = begun(tmp_path, name, kind, **more)
    assert forget(visits.pipeline, [{"person": name}], root=visits.root).done
    assert holds(visits.root, name) == []


def test_a_file_of_read_rows_has_ranges_of_its_own_rows() -> None:
    """Where no range can be told, as of NaN, the file has none either."""
    how = Encoding(ranges=True)
    read = pq.read_table(pa.BufferReader(encoded(pa.table({"k": ["a", "z"], "x": [1.0, 2.0]}), how)))
    for rows, told in ((read.slice(0, 1), b'"maxValues": {"k": "a"'), (read.set_column(1, "x", pa.array([float("nan")] * 2)), b"")):
        footer = pq.read_metadata(pa.BufferReader(encoded(rows, how))).metadata or {}
        assert told in footer.get(b"muntin_ranges", b"")
        assert b"z" not in footer.get(b"muntin_ranges", b"")


def test_what_older_versions_left_in_footers_is_found_and_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They took ranges of a file over, did not look for them, and noted that nothing is left."""
    name = NAMES[1]
    visits, key = begun(tmp_path, name, windows={"hour": windows.tumbling("1h")}), [{"person": name}]
    with monkeypatch.context() as older:
        older.setattr(parquet, "_without_ranges", lambda table: table)
        older.setattr(without_keys, "ranges_tell", lambda *_: False)
        older.setattr(forgotten_log, "_FORMAT", 1)
        assert forget(visits.pipeline, key, root=visits.root).done
    assert {path.parent.parent.name for path in holds(visits.root, name)} == {"hour"}
    assert remembered(visits.pipeline, root=visits.root).open == 1
    assert new_keys(visits.pipeline, key, root=visits.root) == key
    assert any("something may be left of 1 key" in each.problem for each in diagnose(visits.pipeline, root=visits.root))
    assert [each.place for each in plan_forget(visits.pipeline, key, root=visits.root).left] == ["visits/windows/hour"]
    before = visits.tables()
    assert forget(visits.pipeline, key, root=visits.root).done
    assert holds(visits.root, name) == []
    others_are(visits.tables(), before, name)
    assert new_keys(visits.pipeline, key, root=visits.root) == []


def test_a_secret_has_its_mode_from_the_first_instant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda path, to: (seen.append(stat.S_IMODE(path.stat().st_mode)), replace(path, to))[1])
    write_whole(tmp_path / "secret", b"1", 0o600)
    assert seen == [0o600]
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


@at_length
@pytest.mark.parametrize("seed", range(cases(300)))
def test_of_random_people_no_letter_is_left(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    name = dice.choice(NAMES)
    visits = begun(tmp_path, name, dice.choice(list(KINDS)))
    before = visits.tables()
    assert forget(visits.pipeline, [{"person": name}], root=visits.root).done
    assert holds(visits.root, name) == []
    others_are(visits.tables(), before, name)
