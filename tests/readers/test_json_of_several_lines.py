"""JSON that is one array, or objects over several lines, is read like lines of an object each."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin.jobs.inspect.late import quarantined
from muntin.sources.sessions.json_lines import BEGIN, in_lines
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly

AT = "2024-01-01T00:10:00Z"
ROWS = [{"at": AT, "x": 1.5, "text": 'a\n["}{,'}, {"at": AT, "x": 2, "text": "\u00e4"}, {"at": AT, "x": -3.25, "text": None}]
TEXTS = {
    "an array": json.dumps(ROWS),
    "an array, an object a line": "[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]\n",
    "an array over several lines": json.dumps(ROWS, indent=4),
    "objects over several lines": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "objects over several lines, of another system": "\r\n".join(json.dumps(row, indent="\t").replace("\n", "\r\n") for row in ROWS),
    "an array with blanks": "\n\n " + json.dumps(ROWS, indent=1, separators=(" , ", " : ")) + "\n\n",
    "a long array": json.dumps(ROWS).replace("[", "[" + " " * BEGIN * 2, 1),
}


def hour(folder: Path, text: bytes, ending: str = "json", **source: Any) -> Hourly:
    results = {"n": agg.count(), "x": agg.sum("x")}
    case = Hourly(folder, f"*.{ending}", {"all_files": True, **source}, {"aggregates": results})
    case.write("00.json", {"at": []}).unlink()
    (folder / "data" / f"00.{ending}").write_bytes(text)
    return case


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_its_objects_are_rows(tmp_path: Path, text: str, ending: str) -> None:
    content = text.encode()
    case = hour(tmp_path, gzip.compress(content) if ending.endswith("gz") else content, ending)
    (batch,) = case.run().batches
    assert (batch.rows_accepted, batch.rows_quarantined) == (3, 0)
    assert case.rows("n", "x") == [(3, 0.25)]


def test_an_array_in_another_encoding(tmp_path: Path) -> None:
    case = hour(tmp_path, TEXTS["an array over several lines"].encode("utf-16"))
    case.run()
    assert case.rows("n", "x") == [(3, 0.25)]


def test_an_array_without_objects_is_an_empty_file(tmp_path: Path) -> None:
    (batch,) = hour(tmp_path, b"[ ]\n").run().batches
    assert batch.rows_read == 0


@pytest.mark.parametrize(
    ("kind", "number"), paired(["DECIMAL(38,2)", "DOUBLE", "VARCHAR"], ["12345678901234567.89", "0.10", "9007199254740993", "1e2"])
)
def test_numbers_are_those_of_lines(tmp_path: Path, kind: str, number: str) -> None:
    line = f'{{"at": "{AT}", "x": {number}}}'
    said = []
    for name, text in {"array": f"[\n{line}\n]", "lines": f"\n{line}\n"}.items():
        case = hour(tmp_path / name, text.encode(), types={"x": kind})
        case = Hourly(case.folder, case.path, case.source, {"aggregates": {"x": agg.collect("x")}})
        case.run()
        refused_rows = quarantined(case.pipeline, root=case.root).select(["reason", "line", "row"])
        said.append((case.rows("x"), refused_rows.to_pylist()))
    assert said[0] == said[1]


def test_a_bad_object_has_the_line_where_it_begins(tmp_path: Path) -> None:
    text = f'[\n{{"at": "{AT}",\n "x": 1}},\n\n{{"at": "soon",\n"x": 2}}]'
    case = hour(tmp_path, text.encode())
    (batch,) = case.run().batches
    assert (batch.rows_accepted, batch.rows_quarantined) == (1, 1)
    assert quarantined(case.pipeline, root=case.root)["line"].to_pylist() == [5]


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1}',
        '[{"a": 1},',
        "[1, 2]",
        '[{"a": 1}]\n{"a": 2}',
        '{\n"a": 1\n}\n]',
        '{\n"a": 1,\n',
        '{"a": 1\n}{',
        "[" * 5000,
        '[{"a": 1} {"a": 2}]',
    ],
)
def test_what_is_no_such_json_stays_as_it_is(text: str) -> None:
    assert b"".join(in_lines([text.encode()])) == text.encode()


def test_lines_of_objects_stay_as_they_are() -> None:
    text = b'{"a": 1}\n{"a": [\n{"a": 2}\n'
    assert b"".join(in_lines([text[:5], text[5:]])) == text
