"""The worked examples through the public API; all that fit into one batch share one run."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import Pipeline, run, windows
from muntin.errors import DefinitionError
from muntin.testing.oracle import SECOND, Batch
from tests.end_to_end.judge import user_files as face
from tests.oracle import examples, more_examples
from tests.oracle.examples import BASE, Example, batches, summary
from tests.storage.three_batches import HERE

DAY = 86_400
ONE_BATCH = examples.ONE_BATCH + more_examples.ONE_BATCH_MORE
BY_BATCH = examples.BY_BATCH + more_examples.BY_BATCH_MORE
TYPES = {"key": pa.string(), "v": pa.int64()}
MEASURES = {name: face.measure(name, "v") for name in ("sum", "min", "max", "first", "last")}
MEASURES = {"count": face.measure("count")} | MEASURES


def column(example: Example) -> str:
    """A window's name."""
    return example.name.replace("-", "_").lower()


def drawn(rows: face.Rows, key: str) -> dict[tuple[int, int], tuple[Any, ...]]:
    """One key's windows in seconds after `BASE`."""
    return {
        (row["window_start"] // SECOND - BASE, row["window_end"] // SECOND - BASE): tuple(row[name] for name in MEASURES)
        for row in rows
        if row["key"] == key
    }


def ran(folder: Path, found: list[Batch], asked: dict[str, face.Window], **more: Any) -> Pipeline:
    """Written, defined and run in bulk."""
    for batch in found:
        face.write(folder / "data", batch, TYPES)
    pipeline = face.define("examples", folder / "data", found, asked, MEASURES, keys=["key"], **more)
    run(pipeline, root=str(folder / "state"), start=face.instant(found[0].start), end=face.instant(found[-1].end), spark=HERE)
    return pipeline


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dict[str, face.Rows]:
    """Every example is a key and a window; each window sees every key."""
    folder = tmp_path_factory.mktemp("examples")
    rows = [row for example in ONE_BATCH for batch in batches(example, example.name, DAY) for row in batch.rows]
    found = [Batch(BASE * SECOND, (BASE + DAY) * SECOND, rows)]
    pipeline = ran(folder, found, {column(example): example.window for example in ONE_BATCH})
    names = map(column, ONE_BATCH)
    return {name: face.published(pipeline, name, folder / "state", found) for name in names}


@pytest.mark.parametrize("example", ONE_BATCH, ids=lambda example: example.name)
def test_all_in_one_batch(example: Example, together: dict[str, face.Rows]) -> None:
    """A day's batch closes everything."""
    assert drawn(together[column(example)], example.name) == summary(example.held)


@pytest.mark.parametrize("example", BY_BATCH, ids=lambda example: example.name)
def test_batch_by_batch(example: Example, tmp_path: Path) -> None:
    """Time is the largest event; what is open at the end is there on request."""
    found = batches(example, "a", 1)
    pipeline = ran(tmp_path, found, {"w": example.window}, watermark="events")
    final = face.published(pipeline, "w", tmp_path / "state", found)
    assert {row["window_end"] // SECOND - BASE: row["batch"] for row in final} == example.closed
    every = face.published(pipeline, "w", tmp_path / "state", found, provisional=True)
    assert drawn(every, "a") == summary(example.held)
    assert [row["window_end"] for row in every if not row["provisional"]] == [row["window_end"] for row in final]


# J1: a window has a whole number of steps, and the message says which steps would do.
def test_a_step_that_does_not_divide_is_refused_with_the_mend() -> None:
    with pytest.raises(Exception, match=r"whole number of steps.*1\.5.*3h"):
        windows.sliding("6h", step="4h")


# A1: a window of no length, or of less, is refused; R5: what cannot be meant cannot be said.
@pytest.mark.parametrize("wrong", [{"size": "0s"}, {"size": "-1s"}, {"size": "10s", "grace": "-1s"}, {"size": "10s", "resolution": "3s"}])
def test_a_unique_window_that_makes_no_sense_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(DefinitionError):
        windows.unique_sliding(**wrong)  # type: ignore[arg-type]


def test_unique_windows_have_no_step() -> None:
    with pytest.raises(TypeError, match="step"):
        windows.unique_sliding("10s", step="1s")  # type: ignore[call-arg]
