"""Instants of local times, against the readings of Python: as the definition says, and as the order of arrival tells."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from muntin import sources
from muntin.errors import DefinitionError
from muntin.sources.reading.row_times import staged, staged_batches
from muntin.sources.sessions.duckdb_session import kept_session
from tests.source_options import grouped


def local(text: str) -> datetime:
    """What a clock shows."""
    return datetime.fromisoformat(text)


TWICE = {  # zone -> a local time that comes twice, of an hour or less
    "Europe/Vienna": local("2024-10-27 02:30"),
    "Australia/Lord_Howe": local("2024-04-07 01:45"),
    "America/Havana": local("2024-11-03 00:30"),
    "Pacific/Apia": local("1892-07-04 12:00"),
    "Europe/Berlin": local("1945-11-18 02:30"),
}
NEVER = {
    "Europe/Vienna": local("2024-03-31 02:30"),
    "Australia/Lord_Howe": local("2024-10-06 02:15"),
    "America/Sao_Paulo": local("2018-11-04 00:00"),
    "Pacific/Apia": local("2011-12-30 12:00"),
}
VIENNA, DECIDED = ZoneInfo("Europe/Vienna"), {"ambiguous": "first", "nonexistent": "shift"}


def instant(shown: datetime, fold: int, zone: str = "Europe/Vienna") -> datetime:
    return shown.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC)


def read(
    rows: Sequence[tuple[Any, ...]], kind: str = "TIMESTAMP", zone: str | None = "Europe/Vienna", **options: Any
) -> list[datetime | None]:
    """The instants of rows with a time and a number, in the order of the numbers."""
    source = sources.files("x.parquet", **grouped(event_time="t", timezone=zone, all_files=True, **options))
    values = ", ".join(f"('{t}'::{kind}, {number})" for t, number in rows)
    found = staged(source, f"(FROM (VALUES {values}) AS given(t, i))", {"t": kind, "i": "INTEGER"}, ordinal=False)
    told = kept_session(zone).execute(f"SELECT muntin_time FROM ({found}) ORDER BY i").fetchall()
    return [None if us is None else datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us) for (us,) in told]


def one(shown: object, kind: str = "TIMESTAMP", **options: Any) -> datetime | None:
    return read([(shown, 1)], kind, **options)[0]


@pytest.mark.parametrize("zone", TWICE)
def test_a_time_that_comes_twice_is_what_the_definition_says(zone: str) -> None:
    shown = TWICE[zone]
    first, second = instant(shown, 0, zone), instant(shown, 1, zone)
    assert first < second
    for nonexistent in ("quarantine", "shift"):
        told = [one(shown, zone=zone, ambiguous=each, nonexistent=nonexistent) for each in ("first", "second", "quarantine")]
        assert told == [first, second, None]
    assert one(shown, zone=zone) is None


@pytest.mark.parametrize("zone", NEVER)
def test_so_is_a_time_that_never_was(zone: str) -> None:
    shown = NEVER[zone]
    moved = instant(shown, 0, zone)
    assert moved > instant(shown, 1, zone)
    for ambiguous in ("quarantine", "first", "second"):
        told = [one(shown, zone=zone, ambiguous=ambiguous, nonexistent=each) for each in ("shift", "quarantine")]
        assert told == [moved, None]
    assert one(shown, zone=zone) is None


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "VARCHAR"])
@pytest.mark.parametrize("options", [{}, DECIDED, {"ambiguous": "second"}, {"nonexistent": "shift"}])
def test_other_times_are_read_by_any_definition(kind: str, options: dict[str, Any]) -> None:
    for shown in (local("2024-07-01"), local("2024-10-27 01:59:59"), local("2024-10-27 03:00"), local("2024-03-31 01:59:59")):
        assert one(shown, kind, **options) == instant(shown, 0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2024-10-27 02:30:00", None),
        ("2024-10-27T02:30", None),
        ("2024-10-27 02:30:00.5", None),
        ("2024-10-27 02:30:00+02:00", datetime(2024, 10, 27, 0, 30, tzinfo=UTC)),
        ("2024-10-27 02:30:00+01", datetime(2024, 10, 27, 1, 30, tzinfo=UTC)),
        ("2024-10-27T02:30:00Z", datetime(2024, 10, 27, 2, 30, tzinfo=UTC)),
        ("2024-10-27 02:30:00-11:30", datetime(2024, 10, 27, 14, 0, tzinfo=UTC)),
        ("2024-03-31 02:30:00", None),
        ("2024-03-31T02:30:00Z", datetime(2024, 3, 31, 2, 30, tzinfo=UTC)),
        ("2024-10-27 02:30 PM", None),
        ("27.10.2024 02:30", None),
        ("2024-10-27", datetime(2024, 10, 26, 22, tzinfo=UTC)),
    ],
)
def test_a_text_that_brings_an_offset_is_an_instant(text: str, told: datetime | None) -> None:
    assert one(text, "VARCHAR") == told


@pytest.mark.parametrize(
    ("form", "text", "is_local"), [("%d.%m.%Y %H:%M", "27.10.2024 02:30", True), ("%d.%m.%Y %H:%M %z", "27.10.2024 02:30 +02", False)]
)
def test_so_is_a_text_of_a_format_with_one(form: str, text: str, is_local: bool) -> None:
    told = [one(text, "VARCHAR", time_format=form, ambiguous=each) for each in ("quarantine", "first", "second")]
    first, second = instant(TWICE["Europe/Vienna"], 0), instant(TWICE["Europe/Vienna"], 1)
    assert told == ([None, first, second] if is_local else [first] * 3)


def test_a_day_is_read_at_its_midnight() -> None:
    assert one("2018-11-04", "DATE", zone="America/Sao_Paulo") is None
    assert one("2018-11-04", "DATE", zone="America/Sao_Paulo", nonexistent="shift") == datetime(2018, 11, 4, 3, tzinfo=UTC)
    assert one("2018-11-05", "DATE", zone="America/Sao_Paulo") == datetime(2018, 11, 5, 2, tzinfo=UTC)


def told_by_order(shown: Sequence[datetime]) -> list[datetime | None]:
    """Instants of local times in the order of arrival: of a repeated hour, if one choice of showings alone lets instants ascend."""
    readings = [(instant(each, 0), instant(each, 1)) for each in shown]
    out: list[datetime | None] = [first if first == second else None for first, second in readings]
    for hour in {each.date() for each, (first, second) in zip(shown, readings, strict=True) if first != second}:
        twice = [at for at, (first, second) in enumerate(readings) if first != second and shown[at].date() == hour]
        stretch = readings[twice[0] : twice[-1] + 1]
        fitting = [each for each in product(*stretch) if all(low <= high for low, high in pairwise(each))]
        chosen = {
            tuple(each) for each in fitting if all(len({*pair}) == 2 or pair[0] == at for pair, at in zip(stretch, each, strict=True))
        }
        if len(chosen) == 1:
            for at in twice:
                out[at] = next(iter(chosen))[at - twice[0]]
    return out


@pytest.mark.parametrize("seed", range(60))
def test_the_order_tells_where_one_choice_alone_ascends(seed: int) -> None:
    drawn = random.Random(seed)
    begin, minutes = local(drawn.choice(["2023-10-29 01:40", "2024-10-27 01:40"])), drawn.choice([5, 20])
    instants = sorted(drawn.randrange(0, 200, minutes) for _ in range(drawn.randrange(1, 9)))
    clock = [begin.replace(tzinfo=VIENNA).astimezone(UTC) + timedelta(minutes=at) for at in instants]
    if seed % 3 == 0:
        at = drawn.randrange(len(clock))
        clock[at - 1], clock[at] = clock[at], clock[at - 1]
    shown = [each.astimezone(VIENNA).replace(tzinfo=None) for each in clock]
    rows = [(each, number) for number, each in enumerate(shown)]
    told = read(drawn.sample(rows, len(rows)), ambiguous="arrival", arrival_order="i")
    assert told == told_by_order(shown)
    assert seed % 3 == 0 or all(each in (None, at) for each, at in zip(told, clock, strict=True))


def test_two_repeated_hours_are_told_apart() -> None:
    shown = [local(f"{day} 02:{minute}") for day in ("2023-10-29", "2024-10-27") for minute in (10, 50, 20)]
    told = read([(each, number) for number, each in enumerate(shown)], ambiguous="arrival", arrival_order="i")
    assert told == [instant(each, fold) for each, fold in zip(shown, (0, 0, 1, 0, 0, 1), strict=True)]


def test_batches_that_are_read_together_are_told_apart() -> None:
    source = sources.files(
        "x.parquet", event_time=sources.at("t", timezone="Europe/Vienna", ambiguous="arrival"), all_files=True, arrival_order="i"
    )
    rows = [("02:10", 0, 1), ("02:40", 0, 2), ("02:20", 0, 3), ("02:30", 1, 1), ("02:50", 1, 2)]
    values = ", ".join(f"('2024-10-27 {at}'::TIMESTAMP, {number}, {batch}, {number})" for at, batch, number in rows)
    given = f"(FROM (VALUES {values}) AS given(t, i, muntin_batch, muntin_row_number))"
    staged_rows = staged_batches(source, given, {"t": "TIMESTAMP", "i": "INTEGER"}, ordinal=True)
    query = f"SELECT make_timestamp(muntin_time)::VARCHAR FROM ({staged_rows}) ORDER BY muntin_batch, i"
    told = kept_session("Europe/Vienna").execute(query).fetchall()
    assert [each for (each,) in told] == ["2024-10-27 00:10:00", "2024-10-27 00:40:00", "2024-10-27 01:20:00", None, None]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"ambiguous": "first"}, "ambiguous='first' is for local times, and without timezone= times are in UTC"),
        ({"nonexistent": "shift"}, "nonexistent='shift' is for local times"),
        ({"timezone": "Europe/Vienna", "ambiguous": "both"}, "ambiguous: 'both'"),
        ({"timezone": "Europe/Vienna", "nonexistent": True}, "nonexistent: True"),
        ({"timezone": "Europe/Vienna", "ambiguous": "arrival"}, 'ambiguous="arrival" goes by the order of rows; name the column'),
        ({"timezone": "Europe/Vienna", "types": {"t": "TIMESTAMPTZ"}}, "'t' is to be TIMESTAMPTZ, which has one; leave timezone out"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        sources.files("x.parquet", **grouped(event_time="t", all_files=True, **options))
    assert problem in str(refused.value)


def test_every_kind_of_source_takes_them() -> None:
    options: dict[str, Any] = {"event_time": "t", "timezone": "Europe/Vienna", **DECIDED}
    kinds = [
        sources.files("x.csv", **grouped(all_files=True, **options)),
        sources.table("x", **grouped(**options)),
        sources.spark(lambda *_: None, **grouped(**options)),
        sources.kafka("broker:9092", "topic", **grouped(value="json", columns={"t": "TIMESTAMP"}, **options)),
    ]
    assert [(each.ambiguous, each.nonexistent) for each in kinds] == [("first", "shift")] * 4
