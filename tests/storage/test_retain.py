"""Old rows go, as `retain` says; what is kept is what a clean run gives, and what would need the rest is refused.

batches      0 ... 99 | 100 ... 119 | 120 ... 499       retain is 400 batches
             gone     | behind      | kept
"""

import random
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, Retain, plan, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, StateError
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.housekeeping import expire as expiry
from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.late import quarantined
from muntin.jobs.inspect.status import status
from muntin.jobs.published.pending import expired_to
from muntin.jobs.published.window_tables import published
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.maintain import maintain
from muntin.jobs.upkeep.outdated import outdated
from muntin.store.delta import DeltaStore
from tests.case_counts import random_seeds, some
from tests.made_once import made_once
from tests.properties.equal_values import bitwise
from tests.storage.three_batches import HERE, HOUR, OTHER, START, Small

DAY_US = 86_400_000_000
LATE = (0, 0, 0, -50, -130)


@dataclass(frozen=True)
class Long(Small):
    """Batches of an hour under every way in which windows follow from batches."""

    retain: Any = "12h"
    policy: Any = "interval"
    kinds: dict[str, Any] = field(
        default_factory=lambda: {
            "hours": windows.sliding("3h", step="1h", grace="30m"),
            "visits": windows.session("20m", grace="10m"),
            "changes": windows.unique_sliding("30m", resolution="1s"),
            "threes": windows.arrival(windows.by_count(3)),
        }
    )

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            name="long",
            source=sources.files(str(self.folder / "data/{start:%d%H}.parquet"), event_time="t"),
            schedule="1h",
            start=START,
            keys=["k"],
            windows=self.kinds,
            aggregates={"n": agg.count(), "total": agg.sum("x")},
            watermark=self.policy,
            limits=Limits(max_quarantined=None),
            retain=self.retain,
        )

    def write(self, at: int, minutes: Any) -> None:
        super().write(at, minutes)
        (self.folder / f"data/{at:02d}.parquet").rename(self.folder / f"data/{START + at * HOUR:%d%H}.parquet")

    def rewrite(self, at: int, chance: random.Random) -> None:
        """Rows of an hour, some of them late, and a row without a time."""
        self.write(at, [*(60 * at + chance.choice(LATE) + chance.uniform(0, 60) for _ in range(chance.randrange(5))), None])


def kept(long: Long, root: str, since: int) -> dict[str, pa.Table]:
    """The windows that batches from a number on closed."""
    first = pa.scalar(START + since * HOUR, pa.timestamp("us", tz="UTC"))
    return {name: table.filter(pc.greater_equal(table["batch"], first)) for name, table in long.tables(root).items()}


def same(one: dict[str, pa.Table], other: dict[str, pa.Table]) -> bool:
    return all(bitwise(one[name], other[name]) for name in one)


@pytest.mark.parametrize(("policy", "many"), some([("interval", 2), ("events", 32)]))
@pytest.mark.parametrize("seed", random_seeds(3))
def test_what_is_kept_is_what_a_clean_run_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, many: int, seed: int) -> None:
    """`many`: so many files become one, so that batches share files soon or never."""
    monkeypatch.setattr(compaction, "MANY", many)
    chance, long, hours = random.Random(seed), Long(tmp_path, policy=policy), 32
    for at in range(hours):
        long.rewrite(at, chance)
        long.run("state", at, at)
        if at > 16 and chance.random() < 0.3:  # a batch that is kept is replaced
            other = chance.randrange(at - 11, at + 1)
            long.rewrite(other, chance)
            long.run("state", other, other)
        if chance.random() < 0.1:
            maintain(long.pipeline, root=tmp_path / "state", older_than_us=DAY_US)
    maintain(long.pipeline, root=tmp_path / "state", older_than_us=DAY_US)
    bound = bind(long.pipeline, tmp_path / "state")
    assert 0 < (expired_to(bound) - START.timestamp() * 1e6) / 3.6e9 <= hours - 12
    Long(tmp_path, retain=None, policy=policy).run("clean", 0, hours - 1)
    assert same(long.tables("state"), kept(long, "clean", hours - 12))
    assert not [each for each in diagnose(long.pipeline, root=tmp_path / "state", deep=True) if each.mend]


@pytest.fixture
def aged(tmp_path: Path) -> Long:
    """Thirty batches, of which the states of the last twelve and those that they need are there."""
    made_once(tmp_path, _thirty)
    return Long(tmp_path)


def _thirty(folder: Path) -> None:
    chance, long = random.Random(7), Long(folder)
    for at in range(30):
        long.rewrite(at, chance)
    long.run("state", 0, 29)
    maintain(long.pipeline, root=folder / "state", older_than_us=DAY_US)


def test_a_batch_that_is_gone_cannot_be_replaced(aged: Long) -> None:
    before = aged.tables("state")
    aged.write(2, OTHER)
    with pytest.raises(StateError, match=r"before 2024-01-01T1.* are gone \(retain says 12h\), so .* cannot be read again"):
        aged.run("state", 2, 2)
    assert same(aged.tables("state"), before)
    planned = plan(aged.pipeline, root=aged.folder / "state", start=START, end=START + 30 * HOUR)
    assert [batch.reading for batch in planned.batches][:3] == ["missing"] * 3
    assert "are gone" in (planned.batches[2].why or "")
    assert not outdated(aged.pipeline, root=aged.folder / "state", start=START, end=START + 3 * HOUR)


def test_without_retain_all_of_them_are_read_again(aged: Long) -> None:
    kept_for_ever = Long(aged.folder, retain=None)
    kept_for_ever.write(2, OTHER)
    gone = int((expired_to(bind(aged.pipeline, aged.folder / "state")) - START.timestamp() * 1e6) / 3.6e9)
    kept_for_ever.run("state", 0, gone - 1)
    kept_for_ever.run("clean", 0, 29)
    assert expired_to(bind(aged.pipeline, aged.folder / "state")) < START.timestamp() * 1e6
    assert same(kept(aged, "state", 20), kept(aged, "clean", 20))


def test_windows_are_not_derived_without_their_states(aged: Long) -> None:
    before = aged.tables("state")
    graceful = Long(aged.folder, kinds={**aged.kinds, "hours": windows.sliding("3h", step="1h", grace="2h")})
    with pytest.raises(StateError, match=r"windows of hours are to be derived from the states of .* that are gone"):
        graceful.run("state", 29, 29)
    assert same(aged.tables("state"), before)


def test_status_says_what_is_gone(aged: Long) -> None:
    found = status(aged.pipeline, root=aged.folder / "state")
    first_kept = START + 18 * HOUR
    assert {window.gone_before for window in found.windows} == {first_kept}
    assert found.states_gone_before
    assert START < found.states_gone_before <= first_kept
    assert found.refused_gone_before == found.reports_gone_before == first_kept
    assert quarantined(aged.pipeline, root=aged.folder / "state")["batch"].to_pylist() == [START + at * HOUR for at in range(18, 30)]
    told = last_accumulated(DeltaStore(bind(aged.pipeline, aged.folder / "state").folder))
    assert min(told) == int(first_kept.timestamp() * 1e6)
    why = explain(aged.pipeline, "hours", root=aged.folder / "state", key=("a",), at=START + HOUR).why_none
    assert "not known any more" in (why or "")


@pytest.mark.parametrize("table", some(["states", "windows", "refused", "reports"], one_in=2))
def test_each_table_has_its_own_retention(tmp_path: Path, table: str) -> None:
    chance, long = random.Random(3), Long(tmp_path, retain=Retain(**{table: "6h"}))
    for at in range(20):
        long.rewrite(at, chance)
    long.run("state", 0, 19)
    maintain(long.pipeline, root=tmp_path / "state", older_than_us=DAY_US)
    found = status(long.pipeline, root=tmp_path / "state")
    gone = {
        "states": found.states_gone_before,
        "windows": found.windows[0].gone_before,
        "refused": found.refused_gone_before,
        "reports": found.reports_gone_before,
    }
    assert [name for name, before in gone.items() if before] == [table]


def over_hours(long: Long) -> Pipeline:
    return Pipeline(
        name="over",
        source=sources.windows(long.pipeline, "hours"),
        schedule="1h",
        start=START,
        windows={"days": windows.tumbling("6h")},
        aggregates={"n": agg.sum("n")},
    )


def test_a_pipeline_over_windows_that_are_gone_is_told(aged: Long) -> None:
    over, root = over_hours(aged), aged.folder / "state"
    with pytest.raises(StateError, match="are gone, as retain of that pipeline says"):
        run(over, root=root, start=START, end=START + 30 * HOUR, spark=HERE)
    run(over, root=root, start=START + 18 * HOUR, end=START + 30 * HOUR, spark=HERE)
    assert len(read(over, "days", root=root))


def test_windows_that_were_read_and_are_gone_hold_up_no_run(tmp_path: Path) -> None:
    """Nobody knows any more up to where the upstream's ledger was read, so that all its batches may have changed."""
    chance, long, root = random.Random(7), Long(tmp_path), tmp_path / "state"
    for at in range(30):
        long.rewrite(at, chance)
    long.run("state", 0, 3)
    over = over_hours(long)
    run(over, root=root, start=START, end=START + 4 * HOUR, spark=HERE)
    long.run("state", 4, 29)
    maintain(long.pipeline, root=root, older_than_us=DAY_US)
    next(root.glob("over/*/upstream.json")).unlink()
    run(over, root=root, start=START + 29 * HOUR, end=START + 30 * HOUR, spark=HERE)
    assert status(over, root=root).batches == 5


def test_a_run_removes_what_has_gathered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run writes for one batch: an eighth of `retain` gathers first."""
    chance, long, commits = random.Random(5), Long(tmp_path, retain=Retain(windows="16h")), list[str]()
    expire = expiry.expire
    monkeypatch.setattr("muntin.jobs.housekeeping.expire.expire", lambda bound: commits.extend(filter(None, [expire(bound)])))
    for at in range(32):
        long.rewrite(at, chance)
    long.run("state", 0, 15)
    for at in range(16, 32):
        long.run("state", at, at)
    windows_of_hours = [name for name in commits if name.endswith("/hours")]
    assert 1 < len(windows_of_hours) <= 32 // 2
    first = long.tables("state")["hours"]["batch"].to_pylist()
    assert min(first) >= START + (32 - 16 - 2 - 1) * HOUR


def test_states_that_long_windows_need_are_looked_at_seldom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """States are older than `retain` for good then: that alone is no reason to write. An eighth of 16 hours are two batches."""
    chance, done = random.Random(6), list[str | None]()
    long = Long(tmp_path, retain=Retain(states="16h"), kinds={"hours": windows.sliding("12h", step="1h")})
    expire = expiry.expire
    monkeypatch.setattr("muntin.jobs.housekeeping.expire.expire", lambda bound: done.append(expire(bound)))
    for at in range(52):
        long.rewrite(at, chance)
        long.run("state", at, at)
    removing = [at for at, table in enumerate(done) if table]
    assert 1 < len(removing) <= 52 // 8
    Long(tmp_path, retain=None, kinds=long.kinds).run("clean", 0, 51)
    assert same(long.tables("state"), long.tables("clean"))


OPEN_FOR_LONG = {
    "spans": windows.given("spans.csv", start="begins", end="ends"),
    "days": windows.tumbling("2d"),
    "days_of_New_York": windows.tumbling("1d", timezone="America/New_York"),
    "sliding": windows.sliding("1d", step="12h"),
    "closed_right": windows.tumbling("1d", closed="right"),
    "so_far": windows.cumulating("1d", step="12h"),
    "trailing": windows.trailing(days=2),
}


@pytest.mark.parametrize("name", some(OPEN_FOR_LONG, one_in=4))
def test_states_stay_while_a_window_is_open_that_is_longer_than_retain(tmp_path: Path, name: str) -> None:
    """
    states kept                          |== 6h ==|
    a window      [-------------------------------------------)   it is open: its first states are needed when it closes
    """
    chance, long = random.Random(8), Long(tmp_path, retain=Retain(states="6h"), kinds={name: OPEN_FOR_LONG[name].below(tmp_path)})
    spans = [(START, START + 40 * HOUR), (START + 2 * HOUR, START + 9 * HOUR), (START + 30 * HOUR, START + 45 * HOUR)]
    (tmp_path / "spans.csv").write_text("begins,ends\n" + "".join(f"{begin},{end}\n" for begin, end in spans))
    for at in range(50):
        long.rewrite(at, chance)
        long.run("state", at, at)
        if at % 10 == 9:
            maintain(long.pipeline, root=tmp_path / "state", older_than_us=DAY_US)
    Long(tmp_path, retain=None, kinds=long.kinds).run("clean", 0, 49)
    assert len(long.tables("clean")[name])
    assert same(long.tables("state"), long.tables("clean"))


def test_what_is_gone_is_still_said_once_a_type_is_wider(tmp_path: Path) -> None:
    """The table takes other columns as a whole, and keeps its mark."""
    chance, long = random.Random(8), Long(tmp_path, retain=Retain(windows="6h"), kinds={"hours": windows.tumbling("1h")})
    for at in range(13):
        long.rewrite(at, chance)
        path = tmp_path / f"data/{START + at * HOUR:%d%H}.parquet"
        number = pa.array([Decimal(place) for place in range(pq.read_metadata(path).num_rows)])
        kind = pa.decimal128(6, 2) if at < 12 else pa.decimal128(14, 4)
        pq.write_table(pq.read_table(path).set_column(2, "x", number.cast(kind)), path)
    long.run("state", 0, 11)
    maintain(long.pipeline, root=tmp_path / "state", older_than_us=DAY_US)
    long.run("state", 12, 12)
    (window,) = status(long.pipeline, root=tmp_path / "state").windows
    assert window.gone_before == START + 6 * HOUR
    assert published(bind(long.pipeline, tmp_path / "state").store, "hours").snapshot.schema.field("total").type == pa.decimal128(38, 4)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("soon", "retain: 'soon' is not a duration"),
        ({"state": "1d"}, "retain: {'state': '1d'} is no Retain; write retain=Retain"),
    ],
)
def test_a_wrong_retention_is_refused(tmp_path: Path, asked: Any, told: str) -> None:
    with pytest.raises(DefinitionError, match=told):
        Long(tmp_path, retain=asked).pipeline  # noqa: B018 - to build it


def test_windows_that_never_close_keep_all_states(tmp_path: Path) -> None:
    ever = {"ever": windows.all_time()}
    with pytest.raises(DefinitionError, match="ever never closes, so it needs the states of all batches"):
        Long(tmp_path, kinds=ever).pipeline  # noqa: B018 - to build it
    assert Long(tmp_path, kinds=ever, retain=Retain(reports="1d")).pipeline.retention.reports_us == DAY_US
