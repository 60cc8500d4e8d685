"""The definitions of simulated worlds: windows that depend on a stretch of time, on values that last, or on what notes hand on."""

from datetime import UTC, datetime, timedelta
from functools import cache

from muntin import Limits, Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.fingerprint import fingerprint
from tests.simulation.place import Place
from tests.simulation.rows import Rule

START = datetime(2024, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
START_US, MINUTE_US = instant_us(START, "start"), 60_000_000
ROOT = "/simulated/state"
HOME = f"{ROOT}/world"
SIZE = 3  # minutes of a sliding window
CARRY = 2  # minutes that a value lasts
LATENESS = 2  # minutes that late rows revise a window for

KINDS = {"sliding": ("sliding",), "carried": ("carried",), "both": ("sliding", "carried"), "lasting": ("lasting",), "revised": ("revised",)}
SALTS = {"plain": 2, "grace": 3, "more": 2}  # what sets windows by arrival of one definition apart from another's
VARIANTS = ("plain", "grace", "more")


@cache
def pipeline(kind: str, variant: str = "plain") -> Pipeline:
    """A definition. `grace`: windows are derived by another rule, from the same states. `more`: the states are others, too."""
    grace = "1m" if variant == "grace" else "0s"
    count = SALTS[variant]
    every = {
        "sliding": windows.sliding(f"{SIZE}m", step="1m", grace=grace),
        "carried": windows.arrival(windows.by_count(count)),
        "lasting": windows.sliding(f"{SIZE}m", step="1m", grace=grace, dense=True),
        "revised": windows.sliding(f"{SIZE}m", step="1m", grace=grace, allowed_lateness=f"{LATENESS}m"),
    }
    more = {"largest": agg.max("x")} if variant == "more" else {}
    more |= {"held": agg.last("x", carry=f"{CARRY}m")} if kind == "lasting" else {}
    return Pipeline(
        name="world",
        source=sources.files("/simulated/source/{start:%Y%m%dT%H%M}.csv", event_time="t"),
        schedule="1m",
        start=START,
        limits=Limits(max_quarantined=None),  # the rows of a batch may all be refused
        windows={name: every[name] for name in KINDS[kind]},
        aggregates={"n": agg.count(), **more},
        expectations={window: "suite.json" for window in KINDS[kind] if window != "carried"},
    )


@cache
def state_of(kind: str, variant: str) -> Place:
    """The folder of a definition's state."""
    return Place(HOME, fingerprint(pipeline(kind, variant)))


@cache
def bound_before(kind: str, variant: str) -> Bound:
    """A definition bound to its state, without a store: all that follows from the definition is worked out once for all worlds."""
    bound = Bound(pipeline(kind, variant), state_of(kind, variant))  # type: ignore[arg-type]
    _ = bound.fields, bound.frame_sets, bound.frames_by_window
    return bound


def start_us(minute: int) -> int:
    """The start of the batch of a minute."""
    return START_US + minute * MINUTE_US


def rule(window: str, variant: str) -> Rule:
    """How a window of a definition follows from batches."""
    if window == "carried":
        return Rule(None, SALTS[variant])
    return Rule(SIZE, int(variant == "grace"), CARRY * (window == "lasting"), LATENESS * (window == "revised"))


def salt(bound: Bound, window: str) -> int:
    """What a definition of windows by arrival begins with."""
    return bound.windows[window].policies[0].rows  # type: ignore[attr-defined]
