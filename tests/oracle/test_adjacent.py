"""Windows of adjacent rows by hand; the oracle says what is drawn, and the engine what the oracle says.

Rows are a second and a letter; each text is a batch of ten seconds. For capital letters the condition holds.
"""

from typing import Any

import pytest

from muntin.errors import DefinitionError
from muntin.testing.oracle import DAY, SECOND, Agg, Batch, judge
from muntin.windows import between, while_, while_same
from tests.catalogue.kinds import called
from tests.oracle.adjacent import Adjacent, Between, While, WhileSame
from tests.properties.random_cases import Case
from tests.properties.test_against_oracle import disagreement

LETTERS = Agg("collect", lambda row: row["s"])


def row(said: str) -> dict[str, Any]:
    return {"t": int(said[:-1]) * SECOND, "k": "a", "v": 1, "x": 1.0, "s": None if said[-1] == "-" else said[-1]}


def holds(grace: int = 0, at_most: int | None = None, at_least: int = 0) -> While:
    """While the letter is a capital."""
    limit = at_most and at_most * SECOND
    return While(("s < 'a'",), grace * SECOND, limit, lambda row: None if row["s"] is None else row["s"] < "a" or None, at_least * SECOND)


def same(grace: int = 0, at_most: int | None = None) -> WhileSame:
    """While the letter is the same."""
    return WhileSame(("s",), grace * SECOND, at_most and at_most * SECOND, lambda row: row["s"])


def enclosed(grace: int = 0, max_length: int | None = None) -> Between:
    """From A to Z."""
    ends = (lambda row: row["s"] in ("A", "X"), lambda row: row["s"] in ("Z", "X"))
    return Between(("s in ('A', 'X')", "s in ('Z', 'X')"), grace * SECOND, max_length and max_length * SECOND, *ends)


def told(window: Adjacent, *said: str) -> list[str]:
    """The windows, in order: bounds, rows, the batch that closes it; and of each batch how many rows were late."""
    found = tuple(Batch(at * 10 * SECOND, (at + 1) * 10 * SECOND, [row(each) for each in batch.split()]) for at, batch in enumerate(said))
    case = Case(0, called(window), window, 1, ("k",), "interval", found)
    assert disagreement(case) == []
    judged = judge(window, found, {"n": Agg("count"), "rows": LETTERS}, keys=("k",), max_ahead=DAY)
    rows = sorted(judged.published + judged.still_open, key=lambda row: (row["window_start"], row["window_end"], row["tie"]))
    late = [f"{len(rows)} late in {at}" for at, rows in sorted(judged.late.items()) if rows]
    return [shown(row) for row in rows] + late


def shown(row: dict[str, Any]) -> str:
    more = " cut" if row.get("cut") else ""
    return f"[{row['window_start'] // SECOND}, {row['window_end'] // SECOND}) {''.join(row['rows'])} {row['batch']}{more}"


# 1 A  3 A  4 b  6 A  9 A | 11 c
# |======)       |========|=)          the second window goes on into the next batch
def test_a_window_is_from_its_first_row_to_the_next_that_does_not_hold() -> None:
    assert told(holds(), "1A 3A 4b 6A 9A", "11c") == ["[1, 4) AA 0", "[6, 11) AA 1"]


# 1 A  3 A  |         no row ends it: it is open, and ends so far with its last row
def test_what_no_row_ends_stays_open() -> None:
    assert told(holds(), "1A 3A", "", "") == ["[1, 3) AA None"]


# 1 A  3 -  5 A  7 b    the middle row says nothing
def test_a_null_does_not_hold() -> None:
    assert told(holds(), "1A 3- 5A 7b") == ["[1, 3) A 0", "[5, 7) A 0"]


# 1 A  5 A  9 A | 12 A  3 b      nothing has ended yet, so that the late row counts, and splits
def test_a_late_row_splits_what_is_open() -> None:
    assert told(holds(), "1A 5A 9A", "12A 3b", "21b") == ["[1, 3) A 1", "[5, 21) AAA 2"]


# 1 A  5 b  9 A | 6 A: behind the row at 5, before the open window
def test_a_late_row_makes_a_window_longer() -> None:
    assert told(holds(), "1A 5b 9A", "6A 12b") == ["[1, 5) A 0", "[6, 12) AA 1"]


# 1 A  5 b  9 A | a late row at 3 comes before 5, which ended a window: late, whatever it says
@pytest.mark.parametrize("late", ["3A", "3b"])
def test_what_lies_before_a_row_that_ended_a_window_is_late(late: str) -> None:
    assert told(holds(), "1A 5b 9A", f"{late} 12b") == ["[1, 5) A 0", "[9, 12) A 1", "1 late in 1"]


# with ten seconds of grace all of that is open, and the late row counts
def test_within_grace_nothing_is_decided() -> None:
    assert told(holds(grace=10), "1A 5b 9A", "3b 12b", "") == ["[1, 3) A 1", "[9, 12) A 2"]


# 5 A  5 b  5 A  5 b | 5 A      a window may begin and end at one instant; `tie` numbers those that begin there
def test_rows_of_one_instant_follow_each_other_as_they_came() -> None:
    assert told(holds(), "5A 5b 5A 5b", "5A 11b") == ["[5, 5) A 0", "[5, 5) A 0", "[5, 11) A 1"]


# at_most 5      0 A  2 A  4 A  6 A  8 A      cut at 5; the next row that holds begins another
def test_a_window_is_cut_where_it_would_be_too_long() -> None:
    assert told(holds(at_most=5), "0A 2A 4A 6A 8A", "12b") == ["[0, 5) AAA 0 cut", "[6, 11) AA 1 cut"]


# a key that falls silent is cut, too: no row has to come
def test_a_silent_key_is_cut() -> None:
    assert told(holds(at_most=15), "3A", "", "") == ["[3, 18) A 1 cut"]


# the row that ends it comes exactly where it would be cut: nobody knew when time had come so far
def test_a_row_at_the_very_end_does_not_end_it() -> None:
    assert told(holds(at_most=5), "1A 6b 8A 9b") == ["[1, 6) A 0 cut", "[8, 9) A 0"]


# at_least 3     1 A  4 A  5 b  |  6 A  8 A  9 b      from the first row to the last: 3 and 2
def test_windows_that_are_too_short_are_left_out() -> None:
    assert told(holds(at_least=3), "1A 4A 5b 6A 8A 9b") == ["[1, 5) AA 0"]


# 1 p  3 p  4 q  6 -  7 q  8 p
def test_a_window_for_each_value() -> None:
    assert told(same(), "1p 3p 4q 6- 7q 8p") == ["[1, 4) pp 0", "[4, 6) q 0", "[7, 8) q 0", "[8, 8) p None"]


# 1 p  5 p | 3 q: late, and yet it splits the window that is open
def test_a_late_value_splits() -> None:
    assert told(same(), "1p 5p", "3q 12q", "") == ["[1, 3) p 1", "[3, 5) q 1", "[5, 12) p 1", "[12, 12) q None"]


# 1 A  3 m  5 Z  7 m  9 A | 12 A  14 Z
def test_both_rows_are_inside() -> None:
    assert told(enclosed(), "1A 3m 5Z 7m 9A", "12A 14Z") == ["[1, 5) AmZ 0", "[9, 14) AAZ 1"]


# X opens and closes: a window of its own, or the end of one that is open
def test_a_row_that_opens_and_closes() -> None:
    assert told(enclosed(), "1X 3A 5X 7Z") == ["[1, 1) X 0", "[3, 5) AX 0"]


# 1 A  3 m  (nobody closes)  12 m: cut after five seconds; the row at 8 lies in no window
def test_what_nobody_closes_is_cut() -> None:
    assert told(enclosed(max_length=5), "1A 3m 8m 9Z", "12A 14Z") == ["[1, 6) Am 0 cut", "[12, 14) AZ 1"]


# 1 A  5 Z | 3 Z late: the window is closed.    1 A | 3 Z late: it is open, and the late row closes it
def test_a_late_row_that_closes() -> None:
    assert told(enclosed(), "1A 5Z", "3Z") == ["[1, 5) AZ 0", "1 late in 1"]
    assert told(enclosed(), "1A", "3Z") == ["[1, 3) AZ 1"]


OWN = ("tie", "batch", "Provisional", "state_count_v", "window_start", "ended", "revision", "frame")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: while_(""), "while_: '' is not a SQL expression"),
        (lambda: while_("v > random()"), "asks for random"),
        (lambda: while_("v > 1", at_least="2h", at_most="1h"), "at_least: 2h is longer than at_most, 1h"),
        (lambda: while_("v > 1", at_most=0), "at_most"),
        (lambda: while_same("floor(v / 10)"), r"while_same: 'floor\(v / 10\)' cannot be the name of .*name=\"level\""),
        *((lambda name=name: while_same(name), f"Muntin has a column '{name}' of its own") for name in OWN),
        (lambda: between("v = 1", "v = 2", max_length="-1h"), "max_length"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        make()
