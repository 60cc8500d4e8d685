"""Instants: aware datetimes for users, whole microseconds since 1970 UTC inside."""

from datetime import UTC, date, datetime, timedelta

from muntin.errors import DefinitionError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BEFORE_ALL, AFTER_ALL = (
    -(2**62),
    2**62,
)  # before and after every instant; half of what 64 bits hold, so that spans can be added
_FIRST_DAY = EPOCH.toordinal()
_MICROSECOND = timedelta(microseconds=1)
_YEAR_1_US = -62_135_596_800_000_000
_CYCLE_YEARS, _CYCLE_US = 400, 146_097 * 86_400_000_000  # after which the calendar repeats


def instant_us(value: datetime, what: str) -> int:
    """An aware datetime as microseconds since 1970 UTC."""
    if not isinstance(value, datetime):
        raise DefinitionError(
            f"{what}: {value!r} is not a datetime; give an aware one, as datetime(2013, 1, 1, tzinfo=UTC)"
        )
    if value.tzinfo is None:
        raise DefinitionError(
            f"{what}: {value!r} has no time zone; say which, as datetime(2013, 1, 1, tzinfo=UTC)"
        )
    return (value - EPOCH) // _MICROSECOND


def from_us(us: int) -> datetime:
    """The aware UTC datetime of an instant in microseconds."""
    return EPOCH + timedelta(microseconds=us)


def label(us: int) -> str:
    """An instant as a part of a path. Labels sort as instants do, and have no colon (Spark's Delta reader
    dies on one).

    >>> label(0)
    '19700101T000000Z'
    """
    year, at = _civil(us)
    # strftime takes four times as long
    clock = f"{at.month:02d}{at.day:02d}T{at.hour:02d}{at.minute:02d}{at.second:02d}"
    return f"{year:04d}{clock}" + (f".{at.microsecond:06d}" if at.microsecond else "") + "Z"


def of_label(text: str) -> int:
    """The instant that a label stands for.

    >>> of_label("00001231T000000Z") == -62_135_596_800_000_000 - 86_400_000_000
    True
    """
    at = text.index("T")  # not by strptime: a run reads the labels of all its batches
    year, month, day = int(text[: at - 4]), int(text[at - 4 : at - 2]), int(text[at - 2 : at])
    cycles = max(0, -((year - 1) // _CYCLE_YEARS))
    days = date(year + cycles * _CYCLE_YEARS, month, day).toordinal() - _FIRST_DAY
    seconds = int(text[at + 1 : at + 3]) * 3600 + int(text[at + 3 : at + 5]) * 60 + int(text[at + 5 : at + 7])
    fraction = int(text[at + 8 : at + 14]) if text[at + 7] == "." else 0
    return (days * 86_400 + seconds) * 1_000_000 + fraction - cycles * _CYCLE_US


def _civil(us: int) -> tuple[int, datetime]:
    """The year of an instant, and the instant; before the year 1, one of the same date 400 years later."""
    cycles = max(0, -((us - _YEAR_1_US) // _CYCLE_US))
    moment = from_us(us + cycles * _CYCLE_US)
    return moment.year - cycles * _CYCLE_YEARS, moment


def spell_instant(us: int) -> str:
    """The shortest exact spelling of an instant in UTC, for people."""
    year, moment = _civil(us)
    clock = (
        ""
        if us % 86_400_000_000 == 0
        else "T%H:%M"
        if us % 60_000_000 == 0
        else "T%H:%M:%S"
        if us % 1_000_000 == 0
        else "T%H:%M:%S.%f"
    )
    return f"{year:04d}" + moment.strftime(f"-%m-%d{clock}")
