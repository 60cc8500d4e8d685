"""`muntin doctor --against-source`: windows that were drawn, and what the oracle says of them."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from random import randrange
from typing import TYPE_CHECKING, Any

import typer

from muntin.cli.output import columns
from muntin.definition.instants import spell_instant
from muntin.definition.spelling import many
from muntin.jobs.doctor.finding import Finding
from muntin.testing.against_source.drawn import Drawn
from muntin.testing.against_source.judged import AgainstSource, against_source

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath

_SEED = "MUNTIN_SEED"
_MEND = (
    "move the file away, and muntin doctor --mend FILE derives its windows anew; if they differ still, read"
    " the batches again: muntin run FILE with them"
)


@dataclass(frozen=True)
class Verdict:
    """Windows that were drawn, by which seed, and the word of the oracle."""

    seed: int
    said: AgainstSource

    @property
    def findings(self) -> list[Finding]:
        """A finding for each window that differs from the oracle's."""
        return [
            Finding(each.file, f"{place(each)}: {'; '.join(each.differs)}", _MEND)
            for each in self.said.drawn
            if each.differs
        ]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON has it."""
        return asdict(self.said) | {"seed": self.seed}

    def spelled(self) -> str:
        """The verdict for people: each window, what was compared, what was not judged."""
        heads = ["window", "key", "from", "to", "rows", "by the source"]
        rows = [
            [
                each.window,
                _key(each),
                spell_instant(each.start_us),
                spell_instant(each.end_us),
                each.rows,
                word(each),
            ]
            for each in self.said.drawn
        ]
        compared = {name: results for name, results in self.said.compared.items() if results}
        same = sum(not each.differs and not each.not_judged for each in self.said.drawn)
        lines = [columns(heads, rows)] if rows else []
        lines += [f"compared in {name}: {', '.join(results)}" for name, results in compared.items()]
        lines += [f"not judged: {what}: {why}" for what, why in self.said.left_out]
        wrong = len(self.findings)
        lines.append(
            f"{many(len(rows), 'window')} of {self.said.published:,} drawn ({_SEED}={self.seed} draws them"
            f" again), {many(self.said.rows, 'row')} of the source read: {same} the same, {wrong} different,"
            f" {len(rows) - same - wrong} not judged"
        )
        return "\n".join(lines)


def drawn(pipeline: Pipeline, root: str | AnyPath, count: int) -> Verdict:
    """Windows drawn by the seed of the environment, or by a random seed."""
    given = os.environ.get(_SEED, "")
    if given and not given.isdecimal():
        raise typer.BadParameter(f"{_SEED}={given!r} is no whole number; give one, as {_SEED}=4711")
    seed = int(given) if given else randrange(10**6)  # noqa: S311 - it is no secret
    return Verdict(seed, against_source(pipeline, root=root, count=count, seed=seed))


def word(window: Drawn) -> str:
    """Verdict on a window, in a word or two."""
    return "; ".join(window.differs) or (
        f"not judged: {window.not_judged}" if window.not_judged else "the same"
    )


def place(window: Drawn) -> str:
    """A window as people name it."""
    return (
        f"{window.window} {_key(window)} [{spell_instant(window.start_us)}, {spell_instant(window.end_us)})"
    )


def _key(window: Drawn) -> str:
    return ", ".join(f"{name}={value}" for name, value in window.key.items())
