"""Every damage of a ground, and the clean runs that its trials are held against."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from muntin.store.log_check import problems_of_log
from muntin.store.seen_tables import listed, opened_at
from tests.damage.ground import OLD, Ground
from tests.damage.harms import Harm, folders, harms_of, kinds, restored
from tests.damage.trial import Expected, Trial


def made(folder: Path, bulk: int, single: int, kind: type[Ground] = Ground) -> tuple[Ground, Expected]:
    """A ground in a folder that does not exist, and what readers see of clean runs over the same minutes."""
    ground, clean = kind(folder, bulk, single), folder / "clean"
    ground.make()
    ground.run(clean, 0, ground.batches)
    now = ground.seen(clean)
    ground.run(clean, ground.batches, ground.batches + 1)
    later = ground.seen(clean)
    ground.write(OLD, 2)
    ground.run(clean, OLD, OLD + 1)
    replaced = ground.seen(clean)
    ground.write(OLD, 1)
    return ground, Expected(now, later, replaced)


def every_harm(ground: Ground, chance: Random) -> Sequence[Harm]:
    """Every kind of file, found by walking the root, with every kind of damage; and every folder put back from each backup."""
    root, ages = ground.folder / "root", sorted(ground.folder.glob("age*"), reverse=True)
    counting = set(_counting(root))
    of_files = [harm for paths in kinds(root).values() for harm in harms_of(root, paths, ages, counting.__contains__, chance)]
    return of_files + [restored(folder, age) for folder in folders(root).values() for age in ages]


def _counting(root: Path) -> Iterator[str]:
    """The files that a table is read from: named by its log, or the log itself from the last checkpoint on."""
    for log in root.rglob("_delta_log"):
        assert problems_of_log(log.parent) == {}
        opened = opened_at(log.parent)
        assert opened
        yield from (str((log.parent / file.path).relative_to(root)) for file in listed(opened).files)
        newest = max((int(path.name[:20]) for path in log.glob("*.checkpoint.parquet")), default=-1)
        yield from (str(path.relative_to(root)) for path in log.glob("*.*") if int(path.name[:20]) >= newest)


def tried(ground: Ground, expected: Expected, harm: Harm) -> str:
    """How a trial went, in a line.

    Raises:
        AssertionError: other windows, a bare exception, a message without the file or the command, or damage that stays.
    """
    trial = Trial(ground, expected, harm, ground.folder / "trial").go()
    assert not trial.wrong, f"{harm}: {'; '.join(trial.wrong)}"
    return trial.outcome
