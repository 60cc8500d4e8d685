"""Input and output of accumulate's tasks."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import SourceError
from muntin.jobs.records.reports import Counts
from muntin.sources.listing import piece_bytes, splits
from muntin.sources.reading.refused_rows import Taken
from muntin.sources.reading.row_groups import Part, may_be_cut
from muntin.states.columns import LATEST, ROW_BATCH
from muntin.store.paths import OF_SOURCE, source_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.jobs.deduplication.earlier import Earlier
    from muntin.jobs.state.bound import Bound
    from muntin.sources.listing import SourceFile
    from muntin.sources.logged.table_changes import Step
    from muntin.sources.source import Columns


@dataclass(frozen=True, slots=True)
class Later:
    """A later batch that changes rows of a batch: its interval, microseconds, and its files.

    `steps`: as of `Split`.
    """

    batch_us: int
    end_us: int
    paths: tuple[str, ...]
    steps: Mapping[str, Step] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Split:
    """Some neighbouring files of one batch: `number` of its splits, paths in order of arrival.

    Attributes:
        batch_us, end_us: of the batch's interval.
        number, paths: as above.
        watermark_us: how far time is known after the batch, where its source says so itself.
        made: the name of the rows, where they are windows.
        only: whether the batch can have no other split.
        first: the number of its first file in the batch, from 0; of one of several sources after the files of
            earlier sources.
        part: which part of its only file it is; None: all files are whole.
        rows: the numbers of the part's rows in the file, known to the task that reads it; None: all rows.
        size: of its files or its part, bytes, about.
        later: the batches that change its rows, ascending.
        steps: path of a file -> its place in the log of a Delta table whose changes are read; empty of other
            sources.
    """

    batch_us: int
    end_us: int
    number: int
    paths: tuple[str, ...]
    watermark_us: int | None = None
    made: str | None = None
    only: bool = False
    first: int = 0
    part: Part | None = None
    rows: range | None = None
    size: int = 0
    later: tuple[Later, ...] = ()
    steps: Mapping[str, Step] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The batch and the files, for people."""
        more = f" and {many(len(self.paths) - 1, 'more file')}" if len(self.paths) > 1 else ""
        part = f", part {self.part.number + 1} of {self.part.of}" if self.part else ""
        return f"{Interval(self.batch_us, self.end_us)}, {self.paths[0]}{more}{part}"


@dataclass(frozen=True, slots=True)
class Share:
    """The splits that one task works through.

    `targets`: frame set's table -> column -> SQL type that its states have in every batch. `columns`: name ->
    SQL type of the source's columns in earlier batches. `versions`: package -> its version in the driver.
    `earlier`: the ids of earlier batches; None where batches are not compared.
    """

    bound: Bound
    splits: Sequence[Split]
    targets: Mapping[str, Columns]
    columns: Columns = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    earlier: Earlier | None = None

    @property
    def label(self) -> str:
        """The batches, for people; of a single split its files, too."""
        if len(self.splits) == 1:
            return self.splits[0].label
        return f"{Interval(min(one.batch_us for one in self.splits), max(one.end_us for one in self.splits))}"


WrittenFile = dict[str, Any]
"""Path, size (bytes) and rows of a file; `wider`: whether a type is wider than in the state."""


class WrittenSplits(NamedTuple):
    """The result of some splits; all of it JSON-able.

    Attributes:
        splits: of each split `batch` (its start), `split` (its number), `counts` (its `Counts`, in order),
            `newest` (time) and `files` (of the manifest); `columns`: path of a file -> its columns, (name,
            SQL type), where they differ from the columns of the split before; `lacks`: column -> paths of the
            files without it; `waits`: whether its batch waits.
        files: table -> the files that were written for it, named as files of states: of frame sets, of the
            quarantine, of ids and of what was looked up.
    """

    splits: Sequence[dict[str, Any]]
    files: Mapping[str, Sequence[WrittenFile]]


class SplitResult(NamedTuple):
    """A split that was read alone: as `WrittenSplits` has it, the rows of each of its files, and a file at
    most for each table.
    """

    entry: dict[str, Any]
    rows: Sequence[int]
    files: Mapping[str, WrittenFile | None]


def counted_split(split: Split, counts: Counts, **facts: Any) -> dict[str, Any]:  # noqa: ANN401 - as `WrittenSplits` has them
    """A split as `WrittenSplits` has it."""
    return {"batch": split.batch_us, "split": split.number, "counts": astuple(counts), **facts}


def split_batch(
    bound: Bound, interval: Interval, files: Sequence[SourceFile], watermark_us: int | None
) -> list[Split]:
    """The splits of a batch, or of one of its several sources. Their numbers tell the source."""
    size = piece_bytes(sum(file.size for file in files))
    cut: list[tuple[Sequence[SourceFile], Part | None]] = []
    for piece in splits(files, whole=bound.source.in_one_piece):
        cuts = -(-piece[0].size // size) if len(piece) == 1 and may_be_cut(bound.source) else 1
        parts = max(1, cuts)
        cut += [(piece, Part(number, parts) if parts > 1 else None) for number in range(parts)]
    member = bound.source.member
    before = 0 if bound.source.member is None else bound.source.member.number + 1
    places = {file.path: at + (before << 32) for at, file in enumerate(files)}
    checksum = files[0].checksum if bound.source.batch_column and files else None
    start, end, only = interval.start_us, interval.end_us, len(cut) == 1 and not member
    return [
        Split(
            start,
            end,
            number,
            tuple(file.path for file in piece),
            watermark_us,
            checksum,
            only,
            places[piece[0].path],
            part,
            size=sum(file.size for file in piece) // (part.of if part else 1),
            steps=steps_of_files(piece),
        )
        for number, (piece, part) in enumerate(cut, OF_SOURCE * before)
    ]


def steps_of_files(files: Sequence[SourceFile]) -> dict[str, Step]:
    """Path -> its step, of files that have steps."""
    return {file.path: file.step for file in files if file.step}


def manifest(
    files: Sequence[SourceFile], rows: Sequence[int], checksum: str | None = None
) -> list[tuple[Any, ...]]:
    """The entries of a split in the manifest of its batch; `rows`: of each file."""
    return [
        (file.path, file.size, count, file.written_ns, checksum or file.checksum)
        for file, count in zip(files, rows, strict=True)
    ]


def manifest_of_batch(splits: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """The entries of all splits of a batch, in order; the parts of a file are one entry; two sources may read
    the same file.

    `splits`: as `WrittenSplits` has them. A file that changed between the readings of two parts is an error.
    """
    out = dict[tuple[int | None, str], tuple[Any, ...]]()
    for each in sorted(splits, key=lambda one: one["split"]):
        for path, size, rows, *facts in each["files"]:
            place = (source_of(each["split"]), path)
            _, size_before, before, *others = out.get(place, (path, size, 0, *facts))
            if [size_before, *others] != [size, *facts]:
                raise SourceError(f"{path}: written while it was read; run again when its writer is done")
            out[place] = (path, size, before + rows, *facts)
    return list(out.values())


def taken(bound: Bound, split: Split | None = None) -> Taken:
    """The event times that a split's batch takes, and what else its rows need: that they find rows of
    dimensions, and that changes name rows that may change.

    `split`: None of rows of several batches, with the columns `ROW_BATCH` and `LATEST`.
    """
    ahead = bound.pipeline.limits.max_ahead_us
    behind = bound.pipeline.limits.max_behind_us
    changes = bound.source.changes
    needs = [each.missed for each in bound.source.lookups if each.required]
    if changes:
        needs = [(f"({changes.takes_back} OR {condition})", why) for condition, why in needs]
        needs += changes.needs
    latest = split.end_us + ahead if split else LATEST
    earliest = split.batch_us - (behind or 0) if split else f"{ROW_BATCH} - {behind}"
    return Taken(
        latest,
        ahead,
        None if behind is None else earliest,
        behind or 0,
        tuple(needs),
        changes.takes_back if changes else "",
    )


def keeps_order(bound: Bound) -> bool:
    """Whether states depend on the order in which rows arrived."""
    return (
        bool(bound.source.dedupe)
        or any(each.uses_order or each.is_state for each in bound.fields)
        or any(frames.by_arrival for frames in bound.frame_sets)
    )
