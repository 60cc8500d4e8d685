"""Instants: aware datetimes for users, whole microseconds since 1970 UTC inside."""

from datetime import UTC, datetime, timedelta

from pipelines.errors import DefinitionError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BEFORE_ALL, AFTER_ALL = -(2**62), 2**62  # before and after every instant; half of what 64 bits hold, so that spans can be added
_MICROSECOND = timedelta(microseconds=1)


def instant_us(value: datetime, what: str) -> int:
    """An aware datetime as microseconds since 1970 UTC.

    Raises:
        DefinitionError: not a datetime, or one without a time zone.
    """
    if not isinstance(value, datetime):
        raise DefinitionError(f"{what}: {value!r} is not a datetime; give an aware one, as datetime(2013, 1, 1, tzinfo=UTC)")
    if value.tzinfo is None:
        raise DefinitionError(f"{what}: {value!r} has no time zone; say which, as datetime(2013, 1, 1, tzinfo=UTC)")
    return (value - EPOCH) // _MICROSECOND


def from_us(us: int) -> datetime:
    """The aware UTC datetime of an instant in microseconds."""
    return EPOCH + timedelta(microseconds=us)


def label(us: int) -> str:
    """An instant as a part of a path. Labels sort as instants do, and have no colon (Spark's Delta reader dies on one).

    >>> label(0)
    '19700101T000000Z'
    """
    moment = from_us(us)
    return f"{moment.year:04d}" + moment.strftime("%m%dT%H%M%S") + (f".{moment.microsecond:06d}" if moment.microsecond else "") + "Z"


def spell_instant(us: int) -> str:
    """The shortest exact spelling of an instant in UTC, for people."""
    moment = from_us(us)
    clock = "" if us % 86_400_000_000 == 0 else "T%H:%M" if us % 60_000_000 == 0 else "T%H:%M:%S" if us % 1_000_000 == 0 else "T%H:%M:%S.%f"
    return f"{moment.year:04d}" + moment.strftime(f"-%m-%d{clock}")
