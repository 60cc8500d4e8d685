"""Every kind of file with every kind of damage, and every folder put back from backups of several ages."""

from collections import Counter
from pathlib import Path
from random import Random

from tests.damage.every import every_harm, made, tried

BULK, SINGLE = 276, 24
"""A state of 300 batches."""


def damaged(folder: Path, dice: Random) -> str:
    """One round is all trials, in any order, some of whose bytes are flipped elsewhere in the next."""
    ground, expected = made(folder, BULK, SINGLE)
    harms = [*every_harm(ground, dice)]
    dice.shuffle(harms)
    outcomes = Counter[str]()
    wrong = list[str]()
    for number, harm in enumerate(harms, 1):
        try:
            outcomes[tried(ground, expected, harm)] += 1
        except AssertionError as problem:
            wrong.append(str(problem))
            print(f"  wrong: {problem}", flush=True)
        if number % 20 == 0:
            print(f"  {number} of {len(harms)} damages: {_told(outcomes)}, {len(wrong)} wrong", flush=True)
    assert not wrong, "\n".join(wrong)
    return f"{len(harms)} damages: {_told(outcomes)}"


def _told(outcomes: Counter[str]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
