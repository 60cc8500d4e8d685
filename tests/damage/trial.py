"""One damage, and what becomes of it: read, doctor and run, and repair where a message asks for it."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree, rmtree
from traceback import extract_tb
from typing import Any

import pyarrow as pa

from muntin.errors import MuntinError
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.doctor.repair import repair
from muntin.store import seen_tables
from tests.damage.ground import HERE, OLD, Ground
from tests.damage.harms import Harm

Seen = Mapping[str, pa.Table]


def as_new_process() -> None:
    """Forget all that this process keeps of files: each command of a trial is as one of a process of its own."""
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "muntin":
            for value in [*vars(module).values()]:
                if not isinstance(value, type) and callable(clear := getattr(value, "cache_clear", None)):
                    clear()
    vars(seen_tables._KEPT).clear()


@dataclass(frozen=True)
class Expected:
    """What readers of a whole root see: now, after one more minute, and after an old minute was replaced, too."""

    now: Seen
    next: Seen
    replaced: Seen


@dataclass
class Trial:
    """A damage on a copy of the root. `steps`: what each command said; `wrong`: what must not be."""

    ground: Ground
    expected: Expected
    harm: Harm
    place: Path
    steps: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    refused: bool = False

    @property
    def only(self) -> str:
        name = self.harm.path.partition("/")[0]
        return name if name in self.ground.pipelines else ""

    @property
    def outcome(self) -> str:
        """In a word: equal from the first, or after a repair."""
        return "mended" if any(step.startswith("repair") for step in self.steps) else "equal"

    def go(self) -> "Trial":
        copytree(self.ground.folder / "root", self.place)
        self.harm.do(self.place)
        self._see("read", self.ground.seen(self.harm.backup, self.only) if self.harm.backup else self.expected.now)
        found = self._ask("doctor", self._doctor)
        if self.refused and not found and (self.harm.listed or not self._ask("doctor, deep", lambda: self._doctor(deep=True))):
            self.wrong.append("doctor finds nothing, and readers are refused")
        if self.harm.backup:  # batches that came since are missing, and are no damage
            self._mended("catch up", lambda: self.ground.run(self.place, 0, self.ground.batches, self.only))
        self._mended("next", lambda: self.ground.run(self.place, self.ground.batches, self.ground.batches + 1, self.only))
        self._see("read, next", self.expected.next)
        self.ground.write(OLD, 2)
        self._mended("replace", lambda: self.ground.run(self.place, OLD, OLD + 1, self.only))
        self._see("read, replaced", self.expected.replaced)
        left = self._ask("doctor, in the end", lambda: self._doctor(deep=True))
        if left:
            self._ask("repair, at last", self._repair)
            self._see("read, at last", self.expected.replaced)
            if left := self._ask("doctor, at last", lambda: self._doctor(deep=True)):
                self.wrong.append(f"left: {left}")
        self.ground.write(OLD, 1)
        rmtree(self.place)
        return self

    def _ask(self, step: str, do: Callable[[], Any], *, may_fail: bool = False) -> Any:
        as_new_process()
        try:
            found = do()
        except MuntinError as refused:
            self.steps[step] = f"{type(refused).__name__}: {refused}"
            if not may_fail:
                self.wrong.append(f"{step}: {self.steps[step]}")
            if "muntin " not in str(refused):
                self.wrong.append(f"{step} names no command: {refused}")
            if str(self.place) not in str(refused):
                self.wrong.append(f"{step} names no file: {refused}")
            return refused
        except Exception as bare:  # noqa: BLE001 - a trial goes on, and tells all that is wrong
            at = "; ".join(f"{Path(each.filename).name}:{each.lineno}" for each in extract_tb(bare.__traceback__)[-6:])
            self.steps[step] = f"BARE {type(bare).__name__}: {bare} ({at})"
            self.wrong.append(f"{step}: {self.steps[step]}")
            return bare
        self.steps[step] = "ok" if found is None or isinstance(found, dict) else str(found)
        return found

    def _see(self, step: str, expected: Seen) -> None:
        """See what readers see; if they are refused, once more after a repair, as the message says."""
        found = self._ask(step, self._seen, may_fail=True)
        if isinstance(found, MuntinError):
            if step == "read":
                self.refused = True
                return
            self._ask(f"repair for {step}", self._repair)
            found = self._ask(f"{step} again", self._seen)
        if isinstance(found, dict):
            other = [name for name in found if not found[name].equals(expected[name])]
            if other:
                self.wrong.append(f"{step}: other {', '.join(other)}")

    def _seen(self) -> Seen:
        return self.ground.seen(self.place, self.only)

    def _doctor(self, *, deep: bool = False) -> list[str]:
        found = []
        for name, pipeline in self.ground.pipelines.items():
            if self.only in ("", name):
                found += [f"{each.place}: {each.problem}; {each.mend}" for each in diagnose(pipeline, root=self.place, deep=deep)]
        return [each for each in found if "none needed" not in each and "then muntin run FILE" not in each]

    def _repair(self) -> None:
        for name, pipeline in self.ground.pipelines.items():
            if self.only in ("", name):
                repair(pipeline, root=self.place, spark=HERE)

    def _mended(self, step: str, do: Callable[[], None]) -> None:
        if isinstance(self._ask(step, do, may_fail=True), Exception):
            self._ask(f"repair for {step}", self._repair)
            self._ask(f"{step} again", do)
