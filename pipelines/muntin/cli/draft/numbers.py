"""How numbers are written, and of which type a column of them is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NULLS = {"NA", "N/A", "n/a", "NULL", "null", "\\N", "NaN", "nan", "None", "-", "?"}
COUNTED = re.compile(
    r"(?i)(^|_|\b)(n|qty|quantity|count|units|bytes|clicks|views|visits|orders|sales|sold|volume"
    r"|menge|anzahl)(_|\b|$)"
)
LEVEL = re.compile("(?i)saldo|solde|balance|kontostand|price|preis|prix")
MONEY = re.compile(
    "(?i)amount|cost|total|revenue|fare|toll|balance|betrag|umsatz|saldo"
    "|montant|solde|importe|brutto|netto|gebühr|(^|_)tips?(_|$)"
)
_LIKE = re.compile(r"[-+]?\d[\d.,]*([eE][-+]?\d+)?")
_PLAIN = re.compile(r"[-+]?(\d+)(?:\.(\d+))?([eE][-+]?\d+)?")
_MOST_DIGITS = 18
_MOST_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks before decimals and between thousands, and the cells that show them."""

    decimal: str = "."
    thousands: str = ""
    why: str = ""
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A column of numbers: its SQL type and why; without a type the column stays text."""

    sql: str
    why: str
    values: tuple[float, ...] = ()


def marks_of(columns: Iterable[Sequence[str]]) -> Marks:
    """The marks of a file's numbers, by the cells that can be read in one way alone."""
    like = [cells for cells in columns if cells and all(map(_LIKE.fullmatch, cells))]
    comma, point = (_sure(like, mark) for mark in ",.")
    if comma and point:
        return Marks(why=f"{comma} has a decimal comma and {point} a decimal point: the first stays text")
    if not comma and not point:
        return Marks()
    decimal, other = (",", ".") if comma else (".", ",")
    grouped = re.compile(rf"[-+]?[1-9]\d{{0,2}}(\{other}\d{{3}})+(\{decimal}\d+)?")
    thousands = next((cell for cells in like for cell in cells if grouped.fullmatch(cell)), "")
    why = f"{comma or point} can be read in one way alone" + (
        f", so {thousands} has thousands" * bool(thousands)
    )
    return Marks(decimal, other * bool(thousands), why, is_sure=True)


def _sure(columns: Sequence[Sequence[str]], mark: str) -> str:
    """A cell in which a mark can only stand before decimals; "" if there is none."""
    other = "." if mark == "," else ","
    sure = re.compile(
        rf"[-+]?(\d{{1,3}}(\{other}\d{{3}})+\{mark}\d+|\d+\{mark}(\d{{1,2}}|\d{{4,}})"
        rf"|(0\d*|\d{{4,}})\{mark}\d+|[1-9]\d{{0,2}}(\{other}\d{{3}}){{2,}})"
    )
    return next((cell for cells in columns for cell in cells if sure.fullmatch(cell)), "")


def number_of(  # noqa: PLR0911 - a spelling each
    name: str, cells: Sequence[str], marks: Marks, *, is_split_by_comma: bool
) -> Number | None:
    """The type of the numbers of a column; None if some cell is no number."""
    if not cells or not all(map(_LIKE.fullmatch, cells)):
        return None
    odd = next((cell for cell in cells if re.fullmatch(r"[-+]?[1-9]\d{0,2}[.,]\d{3}", cell)), "")
    if odd and not marks.is_sure and not ("." in odd and is_split_by_comma):
        return Number("", f"{odd} may be {odd.replace(',', '.')} or {re.sub('[.,]', '', odd)}: it stays text")
    parts = [_PLAIN.fullmatch(_plain(cell, marks)) for cell in cells]
    if any(each is None for each in parts):
        return Number("", f"numbers of two spellings, as {cells[0]}: they stay text")
    zeros = next((each[0] for each in parts if each and len(each[1]) > 1 and each[1][0] == "0"), "")
    if zeros:
        return Number("VARCHAR", f"{zeros} begins with a zero that a number would lose")
    digits = max(len(each[2] or "") for each in parts if each)
    values = finite(each[0] for each in parts if each)
    if any(each and each[3] for each in parts):
        return Number("DOUBLE", "powers of ten", values)
    if not digits:
        if max(len(each[1]) for each in parts if each) > _MOST_DIGITS:
            return Number("VARCHAR", "more digits than a BIGINT has")
        return Number("BIGINT", "whole numbers", values)
    is_money = MONEY.search(name) is not None
    if digits <= _MOST_DECIMALS and (is_money or {len(each[2] or "") for each in parts if each} == {2}):
        why = "money, by its name" if is_money else "two decimals in each row, as of money"
        return Number(f"DECIMAL(18, {digits})", f"{why}; more decimals would be rounded", values)
    return Number("DOUBLE", f"up to {digits} decimals", values)


def finite(written: Iterable[str]) -> tuple[float, ...]:
    """Numbers but for those that no range of a suite can name."""
    return tuple(value for value in map(float, written) if math.isfinite(value))


def _plain(cell: str, marks: Marks) -> str:
    if marks.thousands:
        grouped = rf"[-+]?[1-9]\d{{0,2}}(\{marks.thousands}\d{{3}})+(\{marks.decimal}\d+)?"
        if re.fullmatch(grouped, cell):
            cell = cell.replace(marks.thousands, "")
    # a point where the decimal mark is a comma is no number to a reader
    return cell if marks.decimal == "." else cell.translate(str.maketrans(",.", ".,"))
