"""Orders that change, and a state that was put back from a backup in part: a repair gives the windows of the rows that are left."""

import random
import shutil
from pathlib import Path

import pytest

from muntin import aggregates as agg
from muntin import read
from muntin.errors import MuntinError
from muntin.jobs.doctor import examine
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.doctor.repair import repair
from muntin.tasks import Local
from tests.case_counts import at_length, cases
from tests.end_to_end.hourly import Hourly
from tests.taken_back.stories import Shop, columns
from tests.taken_back.test_random_stories import HOURS, rows, signs, story

HERE = Local(1)


@pytest.mark.parametrize("later", [("u", 1, 5.0, 7.0), ("d", 1, 5.0, 1.0), ("u", 1, 5.0, None)], ids=["changed", "taken back", "nothing"])
def test_what_a_repair_reads_without_later_ids_is_read_again(tmp_path: Path, later: tuple[str, int, float, float | None]) -> None:
    #            batch 0 is at home for 1    batch 2 changes 1       the log of ids is put back to here: batch 2 is not in it
    # ids        1 ------------------------- 1                       1
    # decisions  batch 2 changes batch 0, and batch 0 is called as changed by it; so it must not be called while 2 is not in the ids
    more = {"id": "order", "operation": "op", "changes_within": "3h"}
    hours = Hourly(tmp_path, source=more, other={"aggregates": {"n": agg.count(), "total": agg.sum("amount")}})
    for hour, told in enumerate([[("c", 1, 5.0, 1.0)], [("c", 2, 65.0, 2.0)], [later]]):
        hours.write(f"{hour:02}.parquet", columns(told))
    hours.run()
    log = next(hours.root.glob("hourly/*/ids/_delta_log"))
    shutil.copytree(log, tmp_path / "before")
    hours.run(1, 1)
    hours.run(2, 2)
    whole = read(hours.pipeline, "hour", root=hours.root)
    shutil.rmtree(log)
    shutil.copytree(tmp_path / "before", log)
    repair(hours.pipeline, root=hours.root, spark=HERE)
    assert diagnose(hours.pipeline, root=hours.root, deep=True) == []
    assert read(hours.pipeline, "hour", root=hours.root).equals(whole)


@at_length
@pytest.mark.parametrize("seed", range(cases(2000)))
@pytest.mark.parametrize("margin_us", [0, examine._MARGIN_US], ids=["few batches read again", "all"])
def test_windows_are_those_of_the_rows_that_are_left(seed: int, margin_us: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "_MARGIN_US", margin_us)
    put_back_now_and_then(seed, tmp_path)


def put_back_now_and_then(seed: int, folder: Path) -> None:
    """A story that is run hour by hour, some hours told anew; a backup at some point; parts of it are put back; then the rest is run."""
    dice = random.Random(f"put back {seed}")
    shop = Shop(folder, dice.randint(1, 4), "parquet", **signs(dice))
    shop.tell(story(dice))
    saved, lost = sorted(dice.sample(range(1, HOURS), 2))
    state, before = folder / "state" / shop.pipeline.name, folder / "before"
    for hour in range(lost):
        if hour == saved:
            shutil.copytree(state, before)
        shop.run(hour)
        if dice.random() < 0.3:
            again = dice.randint(0, hour)
            shop.tell({again: rows(dice, again)})
            shop.run(again)
    for part in parts(state, dice):
        put_back(state, before, part)
    try:
        if dice.random() < 0.3:
            mended(shop)
        shop.run(lost, HOURS - 1)
    except MuntinError:
        mended(shop)
        shop.run(lost, HOURS - 1)
    shop.check()
    if wrong(shop):
        mended(shop)
        shop.check()
    assert not wrong(shop)


def parts(state: Path, dice: random.Random) -> list[str]:
    """What is put back: the log of ids, or some logs, whole tables, and files beside them."""
    logs = sorted(log.relative_to(state) for log in state.rglob("_delta_log"))
    if dice.random() < 0.3:
        return [str(log) for log in logs if log.parent.name == "ids"]
    files = sorted(file.relative_to(state) for file in state.glob("*/*.parquet"))
    return [str(part) for part in dice.sample([*logs, *(log.parent for log in logs), *files], dice.randint(1, 3))]


def put_back(state: Path, before: Path, part: str) -> None:
    here, there = state / part, before / part
    if here.is_dir():
        shutil.rmtree(here)
    if there.is_dir():
        shutil.copytree(there, here)
    elif there.exists():
        shutil.copy(there, here)


def mended(shop: Shop) -> None:
    repair(shop.pipeline, root=shop.hours.root, spark=HERE)


def wrong(shop: Shop) -> list[str]:
    found = diagnose(shop.pipeline, root=shop.hours.root, deep=True)
    return [f"{each.place}: {each.problem}" for each in found if "none needed" not in each.mend]
