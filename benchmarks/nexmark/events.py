"""The events of NEXMark, number by number those of the Java generator of Apache Beam (`sdks/java/testing/nexmark`), as Arrow tables.

Of 50 events the first is a person, the next three are auctions, the others bids. An event follows from its number alone, which is the seed
of its draws. Beam's bids have no channel, which Flink's edition added without a seed: here each is drawn from a second seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from benchmarks.nexmark.draws import below, padding, price, seed, words

Ints = NDArray[np.int64]
BEGIN_MS = 1_436_918_400_000
"""2015-07-15, the time of Beam's first event."""
_EVERY, _PERSONS, _AUCTIONS = 50, 1, 3
_FIRST_ID, _FIRST_CATEGORY, _CATEGORIES = 1000, 10, 5
_HOT, _LEAD, _ACTIVE, _IN_FLIGHT = 100, 10, 1000, 100
_PERSON_BYTES, _AUCTION_BYTES, _BID_BYTES = 200, 500, 100
_FIRST_NAMES = ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"]
_LAST_NAMES = ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"]
_CITIES = ["Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"]
_STATES = ["AZ", "CA", "ID", "OR", "WA", "WY"]
_NAMES = [f"{first} {last}" for first in _FIRST_NAMES for last in _LAST_NAMES]
_CHANNELS = ["Google", "Facebook", "Baidu", "Apple", *(f"channel-{n}" for n in range(10_000))]
_FIRSTS, _LASTS, _TOWNS, _LANDS = (np.int64(len(texts)) for texts in (_FIRST_NAMES, _LAST_NAMES, _CITIES, _STATES))
_CHANNEL_SEED = 2**40


@dataclass(frozen=True)
class Clock:
    """When events happen.

    `every_us`: microseconds between two. `group`: so many are shuffled, so that times come out of order. `generators`: among so many Beam
    would share the events: each thinks that time goes so many times as fast from event to event, so that auctions last as much longer.
    """

    every_us: int = 10_000
    group: int = 1
    generators: int = 1

    def numbers(self, low: int, high: int) -> Ints:
        """The numbers of the events that come at places from `low` up to `high`."""
        place = np.arange(low, high)
        return place // self.group * self.group + place * 953 % self.group

    def times_ms(self, numbers: Ints) -> Ints:
        """When events happen, in milliseconds since 1970."""
        return BEGIN_MS + numbers * self.every_us // 1000


def of_persons(numbers: Ints) -> Ints:
    """The numbers that are of persons."""
    return numbers[numbers % _EVERY < _PERSONS]


def of_auctions(numbers: Ints) -> Ints:
    """The numbers that are of auctions."""
    place = numbers % _EVERY
    return numbers[(place >= _PERSONS) & (place < _PERSONS + _AUCTIONS)]


def of_bids(numbers: Ints) -> Ints:
    """The numbers that are of bids."""
    return numbers[numbers % _EVERY >= _PERSONS + _AUCTIONS]


def persons(numbers: Ints, clock: Clock) -> pa.Table:
    """The persons of these numbers."""
    drawn = np.empty((5, len(numbers)), np.int64)
    sizes = np.array([[len(text) for text in texts] for texts in (_padded(_NAMES), _padded(_CITIES), _padded(_STATES))])
    mail, cards, extra = _texts(numbers, 20), _texts(numbers, 19), _texts(numbers, 240)
    _persons(numbers, drawn, sizes, mail, cards, extra)
    name, city, state = (_chosen(texts, drawn[at]) for at, texts in enumerate((_NAMES, _CITIES, _STATES)))
    return pa.table(
        {
            "id": numbers // _EVERY + _FIRST_ID,
            "name": name,
            "emailAddress": _text(mail),
            "creditCard": _text(cards),
            "city": city,
            "state": state,
            "dateTime": _instants(clock.times_ms(numbers)),
            "extra": _text(extra),
        }
    )


def auctions(numbers: Ints, clock: Clock) -> pa.Table:
    """The auctions of these numbers."""
    drawn = np.empty((5, len(numbers)), np.int64)
    later = numbers + _IN_FLIGHT * _EVERY // _AUCTIONS * clock.generators
    horizon_ms = clock.times_ms(later) - clock.times_ms(numbers)
    names, descriptions, extra = _texts(numbers, 20), _texts(numbers, 100), _texts(numbers, 600)
    _auctions(numbers, horizon_ms, drawn, names, descriptions, extra)
    seller, category, first, length_ms, reserve = drawn
    return pa.table(
        {
            "id": numbers // _EVERY * _AUCTIONS + numbers % _EVERY - _PERSONS + _FIRST_ID,
            "itemName": _text(names),
            "description": _text(descriptions),
            "initialBid": first,
            "reserve": reserve,
            "dateTime": _instants(clock.times_ms(numbers)),
            "expires": _instants(clock.times_ms(numbers) + length_ms),
            "seller": seller,
            "category": category,
            "extra": _text(extra),
        }
    )


def bids(numbers: Ints, clock: Clock, *, extra: bool = True) -> pa.Table:
    """The bids of these numbers. `extra`: with the column that only makes them longer."""
    drawn, more = np.empty((4, len(numbers)), np.int64), _texts(numbers, 90 if extra else 0)
    _bids(numbers, drawn, more, extra)
    auction, bidder, paid, channel = drawn
    columns = {
        "auction": auction,
        "bidder": bidder,
        "price": paid,
        "channel": _chosen(_CHANNELS, channel),
        "dateTime": _instants(clock.times_ms(numbers)),
    }
    return pa.table(columns | ({"extra": _text(more)} if extra else {}))


def _texts(numbers: Ints, most: int) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Room for a text of so many bytes for each event, and where each begins."""
    return np.empty(len(numbers) * most, np.uint8), np.zeros(len(numbers) + 1, np.int32)


def _text(texts: tuple[NDArray[np.uint8], NDArray[np.int32]]) -> pa.Array:
    data, begins = texts
    return pa.Array.from_buffers(pa.string(), len(begins) - 1, [None, pa.py_buffer(begins), pa.py_buffer(data[: begins[-1]])])


def _chosen(texts: Sequence[str], at: Ints) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(at.astype(np.int32)), pa.array(texts)).dictionary_decode()


def _instants(times_ms: Ints) -> pa.Array:
    return pa.array(times_ms * 1000).view(pa.timestamp("us", "UTC"))


def _padded(texts: Sequence[str]) -> list[str]:
    return [*texts, *[""] * (len(_NAMES) - len(texts))]


@njit(cache=True)
def _persons(numbers, drawn, sizes, mails, cards, extras):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - compiled
    random, (mail, mail_at), (card, card_at), (extra, extra_at) = np.empty(1, np.int64), mails, cards, extras
    for row in range(len(numbers)):
        seed(random, numbers[row])
        first = below(random, _FIRSTS)
        name = first * _LASTS + below(random, _LASTS)
        at = words(random, 7, mail, mail_at[row])
        mail[at] = ord("@")
        at = words(random, 5, mail, at + 1)
        for letter in ".com":
            mail[at] = ord(letter)
            at += 1
        mail_at[row + 1], at = at, card_at[row]
        for part in range(4):
            if part:
                card[at] = ord(" ")
                at += 1
            digits = below(random, np.int64(10_000))
            for place in range(4):
                card[at + place] = ord("0") + digits // 10 ** (3 - place) % 10
            at += 4
        card_at[row + 1] = at
        city, state = below(random, _TOWNS), below(random, _LANDS)
        drawn[0, row], drawn[1, row], drawn[2, row] = name, city, state
        size = 8 + sizes[0, name] + mail_at[row + 1] - mail_at[row] + 19 + sizes[1, city] + sizes[2, state]
        extra_at[row + 1] = padding(random, size, _PERSON_BYTES, extra, extra_at[row])


@njit(cache=True)
def _auctions(numbers, horizon_ms, drawn, names, descriptions, extras):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - compiled
    random, (name, name_at), (text, text_at), (extra, extra_at) = np.empty(1, np.int64), names, descriptions, extras
    for row in range(len(numbers)):
        seed(random, numbers[row])
        newest = numbers[row] // _EVERY * _PERSONS
        seller = newest // _HOT * _HOT if below(random, np.int64(4)) > 0 else _person(random, newest)
        category = _FIRST_CATEGORY + below(random, np.int64(_CATEGORIES))
        first = price(random)
        length_ms = 1 + below(random, max(horizon_ms[row] * 2, np.int64(1)))
        name_at[row + 1] = words(random, 20, name, name_at[row])
        text_at[row + 1] = words(random, 100, text, text_at[row])
        drawn[0, row], drawn[1, row], drawn[2, row], drawn[3, row] = seller + _FIRST_ID, category, first, length_ms
        drawn[4, row] = first + price(random)
        size = 48 + name_at[row + 1] - name_at[row] + text_at[row + 1] - text_at[row]
        extra_at[row + 1] = padding(random, size, _AUCTION_BYTES, extra, extra_at[row])


@njit(cache=True)
def _bids(numbers, drawn, extras, padded):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - compiled
    random, (extra, extra_at) = np.empty(1, np.int64), extras
    for row in range(len(numbers)):
        seed(random, numbers[row])
        auction, newest = numbers[row] // _EVERY * _AUCTIONS + _AUCTIONS - 1, numbers[row] // _EVERY * _PERSONS
        if below(random, np.int64(2)) > 0:
            auction = auction // _HOT * _HOT
        else:
            oldest = max(auction - _IN_FLIGHT, np.int64(0))
            auction = oldest + below(random, auction - oldest + 1 + _LEAD)
        bidder = newest // _HOT * _HOT + 1 if below(random, np.int64(4)) > 0 else _person(random, newest)
        drawn[0, row], drawn[1, row], drawn[2, row] = auction + _FIRST_ID, bidder + _FIRST_ID, price(random)
        if padded:
            extra_at[row + 1] = padding(random, 32, _BID_BYTES, extra, extra_at[row])
        seed(random, numbers[row] + _CHANNEL_SEED)
        drawn[3, row] = below(random, np.int64(4)) if below(random, np.int64(2)) > 0 else 4 + below(random, np.int64(10_000))


@njit(cache=True)
def _person(random, newest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - compiled
    """One of the persons who are active, or of a few who are still to come."""
    active = min(newest + 1, _ACTIVE)
    return newest + 1 - active + below(random, np.int64(active + _LEAD))
