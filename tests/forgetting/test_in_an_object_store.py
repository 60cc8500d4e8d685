"""A key is forgotten in an object store as on a disk."""

from pathlib import Path

from muntin import forget, read, run
from muntin.extensions.forgetting.forget import plan_forget
from muntin.files.paths import path_of, sizes_below
from tests.end_to_end.hourly import hour
from tests.forgetting.visits import Visits
from tests.storage.three_batches import HERE


def test_a_person_is_forgotten_wherever_the_root_lies(roots: str, tmp_path: Path) -> None:
    visits, root = Visits(tmp_path), path_of(roots or tmp_path, "state")
    visits.write(0, [(5, "ann", "x", 1.0, "a"), (10, "bob-the-builder", "x", 3.0, "b")], bad=["bob-the-builder"])
    for _ in range(2):
        run(visits.pipeline, root=root, start=hour(0), end=hour(1), spark=HERE)
    key = [{"person": "bob-the-builder"}]
    done = forget(visits.pipeline, key, root=root)
    assert done.done, done.left
    assert plan_forget(visits.pipeline, key, root=root).found == ()
    assert read(visits.pipeline, "hour", root=root)["person"].to_pylist() == ["ann"]
    assert not [path for path, *_ in sizes_below(root) if path.suffix != ".parquet" and b"bob-the-builder" in path.read_bytes()]
    assert run(visits.pipeline, root=root, start=hour(0), end=hour(1), spark=HERE).batches[0].rows_forgotten == 2
