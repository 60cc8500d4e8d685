"""Random files of CSV and JSON lines with garbage in them, and a naive reader that says what becomes of each row."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

HEADER = ["at", "x", "y", "k"]
TEN_PAST = "2024-01-01 00:10:00"


@dataclass(frozen=True)
class Row:
    """A row: the line it begins in, its text, and its cells; without cells it cannot be taken apart."""

    line: int
    text: str
    cells: dict[str, Any] | None


def random_csv(dice: Random) -> bytes:
    """A file with the columns of `HEADER`; about every fifth row is bad."""
    rows = [",".join(HEADER), *(_csv_row(dice) for _ in range(dice.randint(1, 12)))]
    text = dice.choice(["\n", "\n", "\r\n"]).join(rows) + dice.choice(["", "\n"])
    data = text.encode()
    return data.replace("ü".encode(), b"\xfc") if dice.random() < 0.3 else data


def _csv_row(dice: Random) -> str:
    cells = [
        dice.choice([TEN_PAST] * 12 + ["soon", ""]),
        dice.choice(["1", "2", "-3", "", '"4"'] * 3 + ["twelve", "9" * 30]),
        dice.choice(["1", "5", "", '"7"', "8"] * 3 + ["x", "3 4"]),
        dice.choice(["a", "b", "left", '"a,b"', '"a\nb"', '"say ""a"""', 'a"b', "ü", '""'] * 3 + ['"a', '"a"b', 'a"', " "]),
    ]
    odd = dice.random()
    if odd < 0.08:
        cells = cells[: dice.randint(1, 3)]
    elif odd < 0.14:
        cells += [dice.choice(["1", "a", '"a"'])] * dice.randint(1, 2)
    return ",".join(cells)


def random_json(dice: Random) -> bytes:
    """Lines with the names of `HEADER`; about every fifth is bad."""
    lines = [_json_line(dice) for _ in range(dice.randint(1, 12))]
    data = (dice.choice(["\n", "\n", "\r\n"]).join(lines) + dice.choice(["", "\n"])).encode()
    return data.replace("ü".encode(), b"\xfc") if dice.random() < 0.3 else data


def _json_line(dice: Random) -> str:
    row = {
        "at": dice.choice([TEN_PAST] * 12 + ["soon", None]),
        "x": dice.choice([1, 2, -3, None, "4"] * 3 + ["twelve", [1]]),
        "y": dice.choice(["1", "5", None, "7"] * 3 + ["x", "3 4"]),
        "k": dice.choice(["a", "b", "left", 'say "a"', "ü", ""]),
    }
    whole = json.dumps(row, ensure_ascii=False)
    odd = [whole[:-1], whole[:20], whole + whole, "[1]", "5", '"a"', "{'at': 1}", "", "  ", whole[:-1] + ', "k": "b"}', "null"]
    return dice.choice(odd) if dice.random() < 0.15 else whole


def naive_csv(data: bytes) -> Iterator[Row]:
    """The rows of a CSV file, by character: of all lines from the first on as many as close the quotes; else the first alone."""
    lines = data.decode("latin-1").split("\n")
    at = 0
    while at < len(lines):
        found = next((end for end in range(at + 1, len(lines) + 1) if _cells("\n".join(lines[at:end])) != "open"), at + 1)
        text = "\n".join(lines[at:found])
        cells = _cells(text)
        if isinstance(cells, str):
            found, text = at + 1, lines[at]
        text = text.removesuffix("\r")
        if at and text:
            good = not isinstance(cells, str) and len(cells) == len(HEADER) and _is_utf8(text)
            yield Row(at + 1, _shown(text), dict(zip(HEADER, map(_decoded, cells), strict=True)) if good else None)
        at = found


def _cells(text: str) -> list[str] | str:
    """The cells of a row; "open" if a quote is, "bad" if text stands behind a quote that closes."""
    cells, cell, state = list[str](), "", "begin"
    for letter in [*text.removesuffix("\r"), ","]:
        if state in ("begin", "plain", "closed") and letter == ",":
            cells, cell, state = [*cells, cell], "", "begin"
        elif state == "begin" and letter == '"':
            state = "quoted"
        elif state in ("begin", "plain"):
            cell, state = cell + letter, "plain"
        elif state == "quoted":
            cell, state = (cell, "closed") if letter == '"' else (cell + letter, state)
        elif letter == '"':
            cell, state = cell + letter, "quoted"
        else:
            return "bad"
    return "open" if state == "quoted" else cells


def naive_json(data: bytes) -> Iterator[Row]:
    """The lines of a file, by Python's own reader."""
    for number, line in enumerate(data.decode("latin-1").split("\n"), 1):
        if text := line.removesuffix("\r").strip(" "):
            yield Row(number, _shown(line.removesuffix("\r")), _object(text) if _is_utf8(text) else None)


def _object(text: str) -> dict[str, Any] | None:
    try:
        pairs = json.loads(text.encode("latin-1"), object_pairs_hook=list)
    except ValueError:
        return None
    if pairs is None:
        return dict.fromkeys(HEADER)
    named = isinstance(pairs, list) and all(isinstance(pair, tuple) for pair in pairs)
    return dict(pairs) if named and len(dict(pairs)) == len(pairs) else None


def _is_utf8(text: str) -> bool:
    try:
        text.encode("latin-1").decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoded(cell: str) -> str | None:
    return cell.encode("latin-1").decode() or None


def _shown(text: str) -> str:
    return text.encode("latin-1").decode(errors="backslashreplace")
