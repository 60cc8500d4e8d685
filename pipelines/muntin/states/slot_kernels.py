"""Loops that find the slots of rows, add rows to the states of their slots, and lay states together by key.

Values are int64 or float64; `valid` has no entry where no value is null.
"""

from __future__ import annotations

import numpy as np

from muntin.states.frames import compiled


@compiled
def tabulated_places(value, least, table, size, place, new):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Find the place of each whole number in a table that begins with `least`; how many were new, which had
    -1 there.

    They are given the places from `size` on, and are written to `new`.
    """
    count = 0
    for row in range(len(value)):
        at = table[value[row] - least]
        if at < 0:
            at = size + count
            table[value[row] - least] = at
            new[count] = value[row]
            count += 1
        place[row] = at
    return count


@compiled
def linked_slots(time, key, reach, heads, owner, first, last, link, states, slot, most):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Find the state of each row among the linked states of its key, or give it a new state; how many there
    are, and links followed.

    A state is that of a row whose time is no further than `reach` from one of its ends, or between them.
    `heads`: of each key its latest state, -1 where it has none; `owner`, `first`, `last`, `link`: of each
    state its key, its ends, and the state of its key before it, -1 where there is none. It ends where more
    than `most` links were followed.
    """
    links = 0
    for row in range(len(time)):
        now, later, at = time[row], -1, heads[key[row]]
        while at >= 0 and first[at] - reach > now:
            later, at = at, link[at]
            links += 1
        if links > most:
            break
        if at < 0 or last[at] + reach < now:
            owner[states], first[states], last[states], link[states] = key[row], now, now, at
            at = states
            states += 1
            if later < 0:
                heads[key[row]] = at
            else:
                link[later] = at
        elif now > last[at]:
            last[at] = now
        elif now < first[at]:
            if link[at] >= 0 and last[link[at]] + reach >= now:  # near both: so states never overlap
                at = link[at]
                last[at] = max(last[at], now)
            else:
                first[at] = now
        slot[row] = at
    return states, links


@compiled
def add_counts(out, slot, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Count the values of each slot."""
    if len(valid):
        for row in range(len(slot)):
            out[slot[row]] += valid[row]
    else:
        for row in range(len(slot)):
            out[slot[row]] += 1


@compiled
def add_sums(out, slot, value, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Add the values of each slot in the order of the rows."""
    for row in range(len(slot)):
        if len(valid) == 0 or valid[row]:
            out[slot[row]] += value[row]


@compiled
def keep_least(out, some, slot, value, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Keep each slot's least value, of equal values the last; NaN is greatest. `some`: slots with a value."""
    for row in range(len(slot)):
        if len(valid) == 0 or valid[row]:
            at, new = slot[row], value[row]
            if not (some[at] and (out[at] < new or (np.isnan(new) and not np.isnan(out[at])))):
                out[at] = new
                some[at] = True


@compiled
def keep_greatest(out, some, slot, value, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Keep the greatest value of each slot, as `keep_least` the least."""
    for row in range(len(slot)):
        if len(valid) == 0 or valid[row]:
            at, new = slot[row], value[row]
            if not (some[at] and (new < out[at] or (np.isnan(out[at]) and not np.isnan(new)))):
                out[at] = new
                some[at] = True


@compiled
def keep_first(out, some, time_us, slot, time, value, valid, nulls):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Keep the value of each slot's earliest row, of rows at one time the first. `nulls`: nulls count."""
    for row in range(len(slot)):
        there = len(valid) == 0 or valid[row]
        at = slot[row]
        if (there or nulls) and time[row] < time_us[at]:
            out[at], some[at], time_us[at] = value[row], there, time[row]


@compiled
def keep_last(out, some, time_us, slot, time, value, valid, nulls):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Keep the value of each slot's latest row, of rows at one time the last, as `keep_first` the first."""
    for row in range(len(slot)):
        there = len(valid) == 0 or valid[row]
        at = slot[row]
        if (there or nulls) and time[row] >= time_us[at]:
            out[at], some[at], time_us[at] = value[row], there, time[row]


@compiled
def keep_extreme(best, time_us, place, first_new, won, slot, time, by, valid, greatest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Keep the row of each slot where `by` is least or `greatest`, of equal rows the earliest, of rows at one
    time the first.

    All NaNs are equal, and greater than any number. `place` of a slot whose best row is new grows from
    `first_new` on: `won` has the rows in this order. How many they are.
    """
    count = 0
    for row in range(len(slot)):
        if len(valid) == 0 or valid[row]:
            at, new = slot[row], by[row]
            old, first = best[at], place[at] < 0
            equal = old == new or (np.isnan(old) and np.isnan(new))
            more = new > old or (np.isnan(new) and not np.isnan(old))
            if first or (time[row] < time_us[at] if equal else more == greatest):
                best[at], time_us[at] = new, time[row]
                if place[at] < first_new:
                    place[at] = first_new + count
                    count += 1
                won[place[at] - first_new] = row
    return count


@compiled
def keep_extremes(best, some, won, slot, by, valid, greatest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Keep the least or `greatest` of each slot, as `keep_extreme` compares; `won` has the rows that were as
    good as the best before them.

    How many they are.
    """
    count = 0
    for row in range(len(slot)):
        if len(valid) == 0 or valid[row]:
            at, new = slot[row], by[row]
            old = best[at]
            equal = old == new or (np.isnan(old) and np.isnan(new))
            more = new > old or (np.isnan(new) and not np.isnan(old))
            if not some[at] or equal or more == greatest:
                best[at], some[at], won[count] = new, True, row
                count += 1
    return count


@compiled
def sums_fit(value, valid, bound):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """`bound` and the sizes of all values added, a double: below 2**62 no sum leaves 64 bits."""
    for row in range(len(value)):
        if len(valid) == 0 or valid[row]:
            bound += abs(np.float64(value[row]))
    return bound


@compiled
def filled_slots(counts, keys, place_of_key, slot, place):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The slots with a count, and the place of each where slots of a key lie together."""
    count = 0
    for at in range(len(counts)):
        if counts[at] > 0:
            key = at % keys
            slot[count], place[count] = at, place_of_key[key]
            place_of_key[key] += 1
            count += 1


@compiled
def moved(slots, slot, place):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The values of some slots, moved to other places."""
    out = np.empty(len(slot), slots.dtype)
    for at in range(len(slot)):
        out[place[at]] = slots[slot[at]]
    return out


@compiled
def put_together(slot, value, valid, begin, out, out_valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Write the numbers of each slot behind each other from its `begin` on, which moves on."""
    for row in range(len(slot)):
        at = begin[slot[row]]
        out[at], out_valid[at] = value[row], valid[row]
        begin[slot[row]] = at + 1
