"""A mirror in Iceberg: after each publication it has the windows that are published, by the same files."""

import re
import shutil
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog import load_catalog

from muntin import Pipeline, read, run, sinks
from muntin import aggregates as agg
from muntin.extensions.forgetting.forget import forget, plan_forget
from muntin.extensions.iceberg.mirrors.columns import CUT
from muntin.extensions.iceberg.mirrors.found_tables import named_files
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.promote import promote, rollback
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from tests.storage.test_changes_since import Changing
from tests.storage.three_batches import FIRST, HERE, HOUR, OTHER, SCHEMA, START

pytestmark = pytest.mark.filterwarnings("error")


@dataclass(frozen=True)
class Mirrored(Changing):
    """As `Changing`; its windows are mirrored in a catalog of SQLite, when somebody sends them. `kinds`: of its windows; () for all."""

    keep: str = "7d"
    kinds: tuple[str, ...] = ("hours",)

    @property
    def pipeline(self) -> Pipeline:
        every = super().pipeline
        return replace(every, windows={name: kind for name, kind in every.windows.items() if name in self.kinds or not self.kinds})

    @property
    def mirrored(self) -> Pipeline:
        return replace(self.pipeline, to=sinks.iceberg("lake", "shop.{window}", keep_snapshots=self.keep))

    def sent(self, window: str = "hours", **more: Any) -> str:
        found = {one.window: one for one in send(bind(self.mirrored, self.folder / "state"), **more)}
        return found[window].line

    def iceberg(self, window: str = "hours") -> Any:
        with load_catalog("lake", uri=f"sqlite:///{self.folder}/lake.db") as catalog:
            return catalog.load_table(f"shop.{window}")

    def rows(self, window: str = "hours", snapshot: int | None = None) -> list[Any]:
        return sorted(tuple(row.values()) for row in self.iceberg(window).scan(snapshot_id=snapshot).to_arrow().to_pylist())

    def history(self, window: str = "hours") -> dict[int, list[Any]]:
        """Version -> the windows that a snapshot has."""
        ascending = sorted(self.iceberg(window).snapshots(), key=lambda each: each.sequence_number)
        return {int(each.summary["muntin.version"]): self.rows(window, each.snapshot_id) for each in ascending}

    def published(self, window: str = "hours") -> list[Any]:
        found: pa.Table = read(self.pipeline, window, root=self.folder / "state")
        return sorted(tuple(row.values()) for row in found.to_pylist())


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirrored:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{tmp_path}/lake.db")
    small = Mirrored(tmp_path)
    small.write_all()
    return small


def versions(table: Any) -> list[tuple[int, str]]:
    """The version and the operation of each snapshot."""
    told = [each.summary for each in sorted(table.snapshots(), key=lambda each: each.sequence_number)]
    return [(int(each["muntin.version"]), each.operation.value) for each in told]


def test_each_window_is_mirrored_after_each_publication(small: Mirrored) -> None:
    small = replace(small, kinds=())
    for at in range(3):
        small.ran(at)
        assert small.sent() == f"1 version of hours sent to table shop.hours of catalog lake; it is at version {at}"
        assert [small.rows(window) for window in small.pipeline.windows] == [small.published(window) for window in small.pipeline.windows]
    assert small.sent().startswith("0 versions")
    assert [version for version, _ in versions(small.iceberg())] == [0, 1, 2]


def test_a_replaced_batch_is_one_overwrite(small: Mirrored) -> None:
    small.ran(0, 1, 2)
    small.sent()
    small.write(1, OTHER)
    before = small.published()
    small.ran(1)
    small.sent()
    table = small.iceberg()
    assert versions(table) == [(2, "append"), (3, "overwrite")]
    assert small.rows() == small.published() != before
    assert small.rows(snapshot=table.history()[0].snapshot_id) == before


def test_each_version_that_a_mirror_lacks_is_a_snapshot(small: Mirrored) -> None:
    small.ran(0)
    small.sent()
    seen = {}
    for at, minutes in ((1, OTHER), (2, OTHER), (1, FIRST[1])):
        small.write(1, minutes)
        small.ran(at)
        seen[len(seen) + 1] = small.published()
    assert small.sent().startswith("3 versions of hours sent")
    assert small.history() == {0: small.history()[0], **seen}


def test_a_version_whose_files_are_removed_is_passed_by(small: Mirrored) -> None:
    small.ran(0)
    small.sent()
    for at, minutes in ((1, OTHER), (1, FIRST[1])):
        small.write(1, minutes)
        small.ran(at)
    removed = vacuum(small.folder / "state", older_than_us=0)
    assert sum(one.files for one in removed if one.what == "replaced files") > 0
    small.sent()
    assert [*small.history()] == [0, 2]
    assert small.rows() == small.published()


def test_columns_come_widen_and_go(small: Mirrored) -> None:
    small.ran(0, 1, 2)
    small.sent()
    first = small.published()
    more = replace(small, more=True)
    more.ran(0, 1, 2)
    promote(more.pipeline, root=small.folder / "state", spark=HERE)
    more.sent()
    assert more.rows() == more.published()
    assert more.iceberg().schema().find_field("most").doc == "max(x)"
    rollback(more.pipeline, root=small.folder / "state")
    small.sent()
    assert small.rows() == small.published() == first
    assert "most" not in small.iceberg().schema().column_names


def test_a_name_with_another_type_takes_old_snapshots_along(small: Mirrored, capsys: pytest.CaptureFixture[str]) -> None:
    small.ran(0, 1, 2)
    small.sent()
    texts = replace(small.pipeline, aggregates={"n": agg.count(), "total": agg.max("k")})
    run(texts, root=small.folder / "state", start=START, end=START + 3 * HOUR, spark=HERE)
    promote(texts, root=small.folder / "state", spark=HERE)
    send(bind(replace(texts, to=small.mirrored.to), small.folder / "state"))
    (alone,) = small.iceberg().snapshots()
    assert small.rows(snapshot=alone.snapshot_id) == sorted(
        tuple(row.values()) for row in read(texts, "hours", root=small.folder / "state").to_pylist()
    )
    #   3: total is another field     4, 5, 6: the same fields as in 3: all are kept, and what people hang on them
    small.iceberg().manage_snapshots().create_tag(alone.snapshot_id, "audit").create_branch(alone.snapshot_id, "trial").commit()
    seen = {}
    for minutes in (OTHER, FIRST[1], OTHER):
        small.write(1, minutes)
        run(texts, root=small.folder / "state", start=START + HOUR, end=START + 2 * HOUR, spark=HERE)
        sent = {one.window: one for one in send(bind(replace(texts, to=small.mirrored.to), small.folder / "state"))}
        assert not sent["hours"].failed
        seen[sent["hours"].version] = sorted(tuple(row.values()) for row in read(texts, "hours", root=small.folder / "state").to_pylist())
    history = small.history()
    assert len(history) == 4
    assert {version: history[version] for version in seen} == seen
    assert {*small.iceberg().refs()} == {"main", "audit", "trial"}
    assert "Table field" not in capsys.readouterr().out  # as PyIceberg prints where types differ


def test_a_setting_that_somebody_changed_is_set_again_and_no_snapshot_goes(small: Mirrored) -> None:
    small.ran(0)
    small.sent()
    with small.iceberg().transaction() as change:
        change.set_properties({"gc.enabled": "true"})
    small.iceberg().manage_snapshots().create_tag(small.iceberg().current_snapshot().snapshot_id, "audit").commit()
    small.ran(1)
    assert small.sent().startswith("1 version")
    assert ([*small.history()], small.iceberg().properties["gc.enabled"]) == ([0, 1], "false")


def test_a_tag_that_could_not_be_read_any_more_stops_the_mirror(small: Mirrored) -> None:
    small.ran(0)
    small.sent()
    small.iceberg().manage_snapshots().create_tag(small.iceberg().current_snapshot().snapshot_id, "audit").commit()
    texts = replace(small.pipeline, aggregates={"n": agg.count(), "total": agg.max("k")})
    run(texts, root=small.folder / "state", start=START, end=START + HOUR, spark=HERE)
    promote(texts, root=small.folder / "state", spark=HERE)
    sent = {one.window: one for one in send(bind(replace(texts, to=small.mirrored.to), small.folder / "state"))}
    assert re.search(r"has audit, which could not be read as it was any more: .+ remove the branch or tag", sent["hours"].failed)
    assert sent["hours"].blocked
    small.iceberg().manage_snapshots().remove_tag("audit").commit()
    sent = {one.window: one for one in send(bind(replace(texts, to=small.mirrored.to), small.folder / "state"))}
    assert not sent["hours"].failed


def test_what_another_program_wrote_is_passed_by(small: Mirrored) -> None:
    small.ran(0, 1)
    small.sent()
    small.iceberg().delete("n > 1")
    assert small.rows() != small.published()
    assert "since another program wrote to it" in small.sent()
    assert small.rows() == small.published()
    small.iceberg().delete("n > 1")
    small.ran(2)
    small.sent()
    assert small.rows() == small.published()


def test_a_table_that_somebody_else_made_is_left_alone(small: Mirrored) -> None:
    small.ran(0)
    with load_catalog("lake", uri=f"sqlite:///{small.folder}/lake.db", warehouse=str(small.folder / "lake")) as catalog:
        catalog.create_namespace("shop")
        catalog.create_table("shop.hours", pa.schema([("x", pa.int64())])).append(pa.table({"x": [1]}))
    assert "table shop.hours of catalog lake is there, and Muntin did not make it; drop it" in small.sent()
    assert small.rows() == [(1,)]
    small.sent(anew=True)
    assert small.rows() == small.published()


def test_a_mirror_that_is_lost_with_its_state_is_made_again(small: Mirrored) -> None:
    small.ran(0)
    small.sent()
    shutil.rmtree(small.folder / "state")
    small.ran(0, 1)
    small.sent()
    assert small.rows() == small.published()


def test_another_root_does_not_take_the_table(small: Mirrored) -> None:
    small.ran(0)
    small.sent()
    first = small.rows()
    (small.folder / "state").rename(small.folder / "other")
    small.ran(0, 1)
    (small.folder / "other/changing/windows/hours/_iceberg").rename(small.folder / "state/changing/windows/hours/_iceberg")
    assert "was filled from another table of windows: of another root, or made anew since" in small.sent()
    small.sent(anew=True)
    assert small.rows() == small.published() != first


def test_a_state_that_is_put_back_takes_its_mirror_along(small: Mirrored) -> None:
    small.ran(0)
    shutil.copytree(small.folder / "state", small.folder / "kept")
    small.ran(1, 2)
    small.sent()
    shutil.rmtree(small.folder / "state")
    (small.folder / "kept").rename(small.folder / "state")
    small.sent()
    assert small.rows() == small.published()
    small.ran(1, 2)
    small.sent()
    assert small.rows() == small.published()


def test_a_table_that_is_put_back_takes_its_mirror_along(small: Mirrored) -> None:
    small.ran(0)
    shutil.copytree(small.folder / "state", small.folder / "kept")
    small.ran(1, 2)
    small.sent()
    shutil.copytree(small.table("hours") / "_iceberg", small.folder / "kept/changing/windows/hours/_iceberg")
    shutil.rmtree(small.folder / "state")
    (small.folder / "kept").rename(small.folder / "state")
    assert "was put back to an earlier state" in small.sent()
    assert small.rows() == small.published()


def test_vacuum_keeps_what_a_snapshot_names_and_no_more(small: Mirrored) -> None:
    small.ran(0, 1, 2)
    small.sent()
    small.write(1, OTHER)
    small.ran(1)
    small.sent()
    vacuum(small.folder / "state", older_than_us=0)
    assert len(small.history()) == 2
    brief = replace(small, keep="1us")
    brief.write(1, FIRST[1])
    brief.ran(1)
    brief.sent()
    assert [*brief.history()] == [3, 4]
    brief.write(1, OTHER)
    brief.ran(1)
    brief.sent()
    vacuum(small.folder / "state", older_than_us=0)
    assert [*brief.history()] == [4, 5]
    there = {str(path) for path in small.table("hours").rglob("*.parquet")} | {
        str(path) for path in small.table("hours").rglob("_iceberg/*/*")
    }
    assert there - named_files("lake", "shop.hours", Reach(of_environment)) == {
        str(path) for path in small.table("hours").glob("ledger*.parquet")
    }


def test_vacuum_removes_nothing_while_the_catalog_does_not_answer(small: Mirrored, monkeypatch: pytest.MonkeyPatch) -> None:
    small.ran(0, 1, 2)
    small.sent()
    small.write(1, OTHER)
    small.ran(1)
    with monkeypatch.context() as patch:
        patch.setenv("PYICEBERG_CATALOG__LAKE__URI", "sqlite:////nowhere/lake.db")
        before = sorted(small.table("hours").rglob("*"))
        vacuum(small.folder / "state", older_than_us=0)
        assert sorted(small.table("hours").rglob("*")) == before
    small.sent()
    assert len(small.history()) == 2


def test_a_key_that_is_forgotten_is_in_no_snapshot(small: Mirrored) -> None:
    small.ran(0, 1, 2)
    small.sent()
    before = {path.name for path in small.table("hours").rglob("_iceberg/*/*")}
    done = forget(small.mirrored, [{"k": "a"}], root=small.folder / "state", spark=HERE)
    assert done.done, done
    assert not before & {path.name for path in small.table("hours").rglob("_iceberg/*/*")}
    assert [*small.history().values()] == [small.published()]
    assert {row[0] for row in small.rows()} == {"ü"}


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("a", "ü"), pa.string()),
        (("a-very-long-name-of-ann", "a-very-long-name-of-bob"), pa.string()),
        ((START.date(), (START + 24 * HOUR).date()), pa.date32()),
        ((START, START + HOUR), pa.timestamp("us", tz="UTC")),
        ((Decimal("1.50"), Decimal("2.25")), pa.decimal128(9, 2)),
    ],
    ids=["short", "long", "days", "instants", "decimals"],
)
def test_a_manifest_that_tells_of_a_forgotten_key_is_found(small: Mirrored, names: tuple[Any, Any], kind: pa.DataType) -> None:
    """Of long names, bounds have what both have in common; a file that is there tells whose it is."""
    key, root = [{"k": names[0]}], small.folder / "state"
    rows = [{"t": START, "k": name, "x": 1.0} for name in names]
    for hour in range(3):
        written = pa.Table.from_pylist(rows[: 2 if hour == 0 else 0], SCHEMA.set(1, pa.field("k", kind)))
        pq.write_table(written, small.folder / f"data/{hour:02d}.parquet")
    small.ran(0)
    run(small.pipeline, root=root, start=START + HOUR, end=START + 3 * HOUR, spark=HERE)
    small.sent()
    kept = shutil.copytree(small.table("hours") / "_iceberg", small.folder / "kept")
    told = {each.place: each.rows for each in plan_forget(small.mirrored, key, root=root).found if each.what == "bounds in a mirror"}
    assert ("changing/windows/hours" in told) == (len(str(names[0])) < CUT or kind != pa.string())
    assert forget(small.mirrored, key, root=root, spark=HERE).done
    assert plan_forget(small.mirrored, key, root=root).found == ()
    shutil.copytree(kept, small.table("hours") / "_iceberg/left")
    found = plan_forget(small.mirrored, key, root=root).found
    assert [(each.what, each.place) for each in found] == [("bounds in a mirror", "changing/windows/hours")]


def test_where_nobody_can_read_manifests_they_are_named(small: Mirrored, monkeypatch: pytest.MonkeyPatch) -> None:
    small.ran(0)
    small.sent()
    monkeypatch.setattr("muntin.extensions.forgetting.copies.is_installed", lambda _: False)
    found = plan_forget(small.mirrored, [{"k": "a"}], root=small.folder / "state")
    unread = {each.place.rpartition("/")[2] for each in found.left if each.what == "cannot be read"}
    assert unread >= {path.name for path in small.table("hours").rglob("_iceberg/**/*.avro")}
    assert "pip install 'muntin[iceberg]'" in found.mend


def test_a_damaged_manifest_is_named(small: Mirrored) -> None:
    small.ran(0)
    small.sent()
    manifest = next(small.table("hours").rglob("_iceberg/*/*-m0.avro"))
    manifest.write_bytes(manifest.read_bytes()[:200])
    found = plan_forget(small.mirrored, [{"k": "a"}], root=small.folder / "state")
    assert [each.place.rpartition("/")[2] for each in found.left if each.what == "cannot be read"] == [manifest.name]
