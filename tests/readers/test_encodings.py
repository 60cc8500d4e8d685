"""Text in any encoding that Python knows, with and without a byte order mark; bytes that are none of it go to the quarantine."""

import codecs
import gzip
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin import read, sources
from muntin.errors import DefinitionError, SourceError
from muntin.files.paths import path_of
from muntin.jobs.inspect.late import quarantined
from muntin.sources.sessions.plain_text import in_utf_8
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly
from tests.source_options import grouped

AT = "2024-01-01 00:10:00"
TEXTS = {
    "windows-1252": ["grün", "€ 5", "„so“", "Œuvre"],
    "latin-1": ["grün", "Ñandú", "\x81"],
    "cp437": ["grün", "½", "π"],
    "iso8859-15": ["€", "Šárka"],
    "koi8-r": ["привет"],
    "windows-1253": ["καλημέρα"],
    "shift_jis": ["こんにちは", "表"],  # the second byte is a backslash
    "gb18030": ["你好", "😀", "€"],
    "big5": ["中文"],
    "euc-kr": ["안녕"],
    "iso2022_jp": ["日本語"],
    "mac-roman": ["grün"],
    "ascii": ["plain"],
    "cp037": ["plain", "1;2"],  # EBCDIC: other bytes for digits, commas and line ends
    "utf-8": ["grün", "😀", "你好"],
    "utf-8-sig": ["grün", "😀"],
    "utf-16": ["grün", "😀", "Ċ", "਍"],  # a byte of each of the last two is a line end
    "utf-16-le": ["grün", "😀", "Ċ"],
    "utf-16-be": ["grün", "😀", "਍"],
    "utf-32": ["grün", "😀"],
    "utf-32-be": ["grün", "😀"],
}
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
FORMS = ["csv", "jsonl", "csv.gz"]


def lines(values: list[str], form: str) -> str:
    if form.startswith("csv"):
        return "at,grosse\n" + "".join(f'{AT},"{value}"\n' for value in values)
    return "".join(f'{{"at": "{AT}", "grosse": "{value}"}}\n' for value in values)


def case(root: str, tmp_path: Path, form: str, content: bytes, **source: Any) -> Hourly:
    path = path_of(root, "data", f"00.{form}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if form.endswith(".gz") else content)
    found = sources.files(f"{root}/data/{{start:%H}}.{form}", **grouped(form, event_time="at", **source))
    return Hourly(tmp_path, other={"source": found, "aggregates": {"n": agg.count(), "texts": agg.collect("grosse")}})


def texts(hours: Hourly) -> list[str]:
    hours.run()
    return [text for row in read(hours.pipeline, "hour", root=hours.root).to_pylist() for text in row["texts"]]


@pytest.mark.parametrize(("encoding", "form"), paired(TEXTS, FORMS))
def test_an_encoding_that_is_said(tmp_path: Path, encoding: str, form: str) -> None:
    hours = case(str(tmp_path), tmp_path, form, lines(TEXTS[encoding], form).encode(encoding), encoding=encoding)
    assert texts(hours) == TEXTS[encoding]


@pytest.mark.parametrize("encoding", ["windows-1252", "utf-16"])
def test_an_encoding_in_an_object_store(bucket: str, tmp_path: Path, encoding: str) -> None:
    hours = case(bucket, tmp_path, "csv.gz", lines(TEXTS[encoding], "csv").encode(encoding), encoding=encoding)
    assert texts(hours) == TEXTS[encoding]


@pytest.mark.parametrize(("encoding", "said", "form"), paired(MARKS, [None, "latin-1", "utf-16", "windows-1252"], FORMS))
def test_a_mark_counts_more_than_what_is_said(tmp_path: Path, encoding: str, said: str | None, form: str) -> None:
    content = MARKS[encoding] + lines(TEXTS["utf-8"], form).encode(encoding)
    assert texts(case(str(tmp_path), tmp_path, form, content, encoding=said)) == TEXTS["utf-8"]


BAD: dict[str, tuple[str | None, bytes, bytes, str]] = {
    "windows-1252": ("windows-1252", b"", b"\x81", "windows-1252"),
    "ascii": ("ascii", b"", b"\xfc", "ascii"),
    "shift_jis": ("shift_jis", b"", b"\x81\x20", "shift_jis"),
    "utf-16, half of a pair": ("utf-16-le", b"", b"\x00\xd8", "utf-16-le"),
    "utf-16 by its mark": (None, codecs.BOM_UTF16_BE, b"\xdc\x00", "utf-16-be"),
    "utf-32, beyond all": ("utf-32-le", b"", b"\xff\xff\xff\x7f", "utf-32-le"),
    "utf-8": (None, b"", b"\xfc", "UTF-8"),
}


@pytest.mark.parametrize(("what", "form"), paired(BAD, FORMS))
def test_bytes_that_are_none_of_it_go_to_the_quarantine(roots: str, tmp_path: Path, what: str, form: str) -> None:
    said, mark, bad, name = BAD[what]
    encoding = "utf-16-be" if mark else said or "utf-8"
    before, behind = lines(["a", "b", "HERE", "c"], form).split("HERE")
    content = mark + before.encode(encoding) + bad + behind.encode(encoding)
    hours = case(roots, tmp_path, form, content, encoding=said)
    assert texts(hours) == ["a", "b", "c"]
    (row,) = quarantined(hours.pipeline, root=hours.root).to_pylist()
    assert (row["file"], row["line"]) == (f"{roots}/data/00.{form}", 4 if form.startswith("csv") else 3)
    assert row["reason"] == (f"byte 0x{bad[0]:02x} is no UTF-8" if name == "UTF-8" else f"bytes that are no {name}")


def test_a_file_that_ends_in_the_midst_of_a_character(tmp_path: Path) -> None:
    content = lines(["a", "b"], "csv").encode("utf-16-le") + f"{AT},".encode("utf-16-le") + b"x"
    hours = case(str(tmp_path), tmp_path, "csv", content, encoding="utf-16-le")
    assert texts(hours) == ["a", "b"]
    assert [row["line"] for row in quarantined(hours.pipeline, root=hours.root).to_pylist()] == [4]


def test_a_header_that_is_none_of_it(tmp_path: Path) -> None:
    hours = case(str(tmp_path), tmp_path, "csv", b"at,gr\x81n\n", encoding="windows-1252")
    with pytest.raises(SourceError, match=r"00\.csv has no header that can be read; a CSV file was expected\. Mend or remove it"):
        hours.run()


@pytest.mark.parametrize(
    "encoding", ["klingon", "hex", "rot13", "zlib", "idna", "punycode", "unicode_escape", "undefined", "", 8, "utf\x00"]
)
def test_what_is_no_encoding(encoding: Any) -> None:
    with pytest.raises(DefinitionError, match="give the name of an encoding that Python knows"):
        sources.files("{start:%H}.csv", event_time="at", format=sources.csv(encoding=encoding))


@pytest.mark.parametrize(("size", "encoding"), paired([1, 2, 3, 5, 1000], TEXTS))
def test_characters_may_be_cut_by_parts(encoding: str, size: int) -> None:
    text = "\n".join(TEXTS[encoding])
    data = text.encode(encoding)
    assert b"".join(in_utf_8((data[at : at + size] for at in range(0, len(data), size)), encoding)).decode() == text
