"""Parts of states put together: of each group in a window, and of the states that hold its extreme.

Results of lists: sums, most frequent values and quantiles; how far rows come in a funnel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.assignment import Assignment
from muntin.engine.lists.members import in_runs, members, pieces
from muntin.engine.ordered_lists import lengths_of, listed, ranks, settled, united
from muntin.engine.protocols import Field
from muntin.engine.reduce.exact import exact_sums
from muntin.engine.reduce.select import sort_keys, winners
from muntin.states.frames import Ints, compiled, run_starts
from muntin.states.order import sorted_order


def summed(values: pa.Array) -> pa.Array:
    """The sum of each list, from left to right; null for an empty list. Integers and decimals are exact."""
    flat = values.flatten()
    bounds = np.append(0, np.cumsum(lengths_of(values)))
    if pa.types.is_floating(flat.type):
        numbers = flat.cast(pa.float64()).to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            sums = pa.array(np.add.reduceat(np.append(numbers, 0.0), bounds[:-1]) if len(values) else numbers)
    else:
        exact = flat.cast(
            pa.decimal128(38, flat.type.scale) if pa.types.is_decimal(flat.type) else pa.int64()
        )
        sums = exact_sums(exact, in_runs(np.arange(len(flat)), bounds, len(flat)))
    return pc.if_else(pa.array(np.diff(bounds) > 0), sums, pa.scalar(None, sums.type))


def most_frequent(values: pa.Array, counts: pa.Array) -> pa.Array:
    """The most frequent value of each sorted list, of equally frequent values the first; null if empty."""
    lengths, often = lengths_of(values), counts.flatten().to_numpy(zero_copy_only=False)
    window = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((-often, window))
    first = pa.array(np.append(order, 0)[np.cumsum(lengths) - lengths], mask=lengths == 0)
    return values.flatten().take(first)


def interpolated(values: pa.Array, counts: pa.Array, q: float) -> pa.Array:
    """The quantile at `q` of each list of sorted doubles with counts, linear between neighbours."""
    lengths, often = lengths_of(values), counts.flatten().to_numpy(zero_copy_only=False)
    begins, running = np.cumsum(lengths) - lengths, np.append(0, np.cumsum(often))
    before = running[begins]
    total = running[begins + lengths] - before
    place = (total - 1) * q  # among the values, each as often as counted
    below = np.floor(place).astype(np.int64)
    flat = np.append(values.flatten().to_numpy(zero_copy_only=False), np.nan)
    low, high = (
        flat[np.minimum(np.searchsorted(running[1:], before + step, side="right"), len(flat) - 1)]
        for step in (below, np.minimum(below + 1, total - 1))
    )
    share = place - below
    with np.errstate(invalid="ignore"):
        between = np.where((share == 0) | (low == high), low, low * (1 - share) + high * share)
    return pa.array(between, mask=total == 0)


def furthest(times: pa.Array, met: pa.Array, steps: int, within_us: int) -> pa.Array:
    """The number of steps that each list of rows takes one after the other, the last at most `within_us`
    after the first.

    `times`, `met`: parallel lists of rows in order: microseconds, and the steps that a row can take, as bits.
    `steps`: how many there are. `within_us`: from the first to the last, both included.
    """
    bounds = np.append(0, np.cumsum(lengths_of(times)))
    columns: list[Ints] = [each.flatten().to_numpy(zero_copy_only=False) for each in (times, met)]
    return pa.array(_furthest(*columns, bounds, steps, within_us))


@compiled
def _furthest(time, met, bounds, steps, within_us):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The length of each list's longest way. `begun`: when the latest way of each length began."""
    out, begun = np.zeros(len(bounds) - 1, np.int64), np.empty(steps, np.int64)
    for window in range(len(out)):
        for row in range(bounds[window], bounds[window + 1]):
            for step in range(min(out[window], steps - 1), -1, -1):  # the last step first: a row takes one
                if not met[row] >> step & 1:
                    continue
                if step == 0:
                    begun[0] = time[row]
                elif time[row] - begun[step - 1] <= within_us:
                    begun[step] = begun[step - 1]
                else:
                    continue
                out[window] = max(out[window], step + 1)
    return out


Change = Callable[[list[pa.Array]], list[pa.Array]]


def combined_groups(lists: pa.Array, windows: Assignment, fields: Sequence[Field]) -> pa.Array:
    """The groups of each window, distinct and sorted, with the parts of all its states combined.

    `lists`: of structs: the group, then the parts of the fields; a group at most once in a list. `windows`:
    over the states. `fields`: whose monoids combine the parts.
    """
    group, *parts = lists.flatten().flatten()
    group, rank = settled(group), ranks(group)
    counts = np.zeros(len(windows.lo), np.int64)
    combined: list[list[pa.Array]] = [
        [pa.concat_arrays([column.slice(0, 0)]) for column in (group, *parts)]
    ]  # types, if no window has items
    for window, item in pieces(windows, lengths_of(lists)):
        order = sorted_order(window, rank[item])
        heads = np.flatnonzero(run_starts(window[order], rank[item[order]]))
        apart = in_runs(item[order], np.append(heads, len(order)), len(group))
        combined.append([group.take(pa.array(item[order][heads])), *_reduced(parts, fields, apart)])
        counts += np.bincount(window[order][heads], minlength=len(counts))
    columns = [pa.concat_arrays(column) for column in zip(*combined, strict=True)]
    return listed(counts, pa.StructArray.from_arrays(columns, fields=list(lists.type.value_type)))


def _reduced(parts: Sequence[pa.Array], fields: Sequence[Field], windows: Assignment) -> list[pa.Array]:
    reduced, at = [], 0
    for field in fields:
        own = dict(zip(field.names, parts[at:], strict=False))
        reduced += list(field.monoid.reduce(own, windows).values())
        at += len(field.names)
    return reduced


def changed(lists: pa.Array, change: Change) -> pa.Array:
    """Lists of the same groups with other parts, which `change` makes of all parts at once."""
    items = lists.flatten()
    group, *parts = items.flatten()
    changed_parts = change(parts)
    names = ["group", *(f"p{at}" for at in range(len(changed_parts)))]
    return listed(lengths_of(lists), pa.StructArray.from_arrays([group, *changed_parts], names))


def finished_places(lists: pa.Array, finish: Callable[..., pa.Array], *bounds: pa.Array) -> pa.Array:
    """Lists of the results of each group, sorted by group; `bounds`: columns of windows for `finish`."""
    return listed(lengths_of(lists), _finished(lists, finish, bounds))


def finished_groups(lists: pa.Array, finish: Callable[..., pa.Array], *bounds: pa.Array) -> pa.Array:
    """Maps from a group to its result; `bounds`: columns of windows that `finish` gets after the parts."""
    offsets = np.append(0, np.cumsum(lengths_of(lists)))
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()), lists.flatten().field(0), _finished(lists, finish, bounds)
    )


def _finished(lists: pa.Array, finish: Callable[..., pa.Array], bounds: Sequence[pa.Array]) -> pa.Array:
    _, *parts = lists.flatten().flatten()
    window = pa.array(np.repeat(np.arange(len(lists)), lengths_of(lists)))
    return finish(*parts, *(bound.take(window) for bound in bounds))


def holders(by: pa.Array, windows: Assignment, *, least: bool) -> tuple[Ints, Ints, Ints]:
    """The states that hold their window's extreme: pairs (window, row), and each first holder, or -1."""
    first = winners(by, windows, least=least, newest=False)
    window, row = members(windows)
    ranks, valid = sort_keys(by), by.is_valid().to_numpy(zero_copy_only=False)
    chosen = valid[row] & (first[window] >= 0) & (ranks[row] == ranks[first[window]])
    return window[chosen], row[chosen], first


def sums_over(column: pa.Array, window: Ints, row: Ints, count: int) -> pa.Array:
    """For each of `count` windows the sum of an integer column over its pairs (window, row)."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, window, column.to_numpy(zero_copy_only=False)[row])
    return pa.array(sums).cast(column.type)


def united_over(column: pa.Array, window: Ints, row: Ints, count: int) -> pa.Array:
    """For each of `count` windows the distinct items of a list column over pairs (window, row), sorted."""
    return united(column, in_runs(row, np.searchsorted(window, np.arange(count + 1)), len(column)))
