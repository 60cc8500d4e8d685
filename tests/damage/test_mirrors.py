"""Every file of a mirror, with every damage: doctor names what readers of Iceberg would see otherwise, and repair mends it."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyiceberg.catalog import load_catalog

from muntin import Pipeline, aggregates, read, run, sinks, sources, windows
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.doctor.repair import repair
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.tasks import Local
from tests.case_counts import at_length
from tests.damage.harms import Harm, harms_of, kinds
from tests.damage.trial import as_new_process

START, DAY, HERE = datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=1), Local(1)
DAYS = 4


class Mirrored:
    """A root with a mirror, kept to be put back before each damage: the mirror's files name paths of the root."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, folder / "root"
        for at in range(DAYS + 2):
            rows = "".join(f"2024-01-0{at + 1} 0{hour}:00:00,{key}\n" for hour in range(5) for key in "abc")
            (folder / f"2024-01-0{at + 1}.csv").write_text(f"at,k\n{rows}")
        for at in range(DAYS):
            if at == DAYS - 1:
                shutil.copytree(self.root, folder / "older")
            self.run(at)
        shutil.copytree(self.root, folder / "kept")
        shutil.copy(folder / "lake.db", folder / "kept.db")

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            name="p",
            source=sources.files(str(self.folder / "{start:%Y-%m-%d}.csv"), event_time="at"),
            schedule="@daily",
            start=START,
            keys=["k"],
            windows={"day": windows.tumbling("1d")},
            aggregates={"n": aggregates.count()},
            to=[sinks.iceberg("lake", "shop.day")],
        )

    def run(self, at: int) -> None:
        run(self.pipeline, root=self.root, start=START + at * DAY, end=START + (at + 1) * DAY, spark=HERE)

    def again(self) -> None:
        """Put the root back to what it was before a damage."""
        shutil.rmtree(self.root)
        shutil.copytree(self.folder / "kept", self.root)
        shutil.copy(self.folder / "kept.db", self.folder / "lake.db")
        as_new_process()

    def seen(self) -> str:
        """What a reader of Iceberg sees, beside what is published."""
        from pyiceberg import manifest

        manifest._manifest_cache.clear()
        try:
            with load_catalog("lake", uri=f"sqlite:///{self.folder}/lake.db") as catalog:
                found = catalog.load_table("shop.day").scan().to_arrow().to_pylist()
        except Exception as refused:  # noqa: BLE001 - whatever a damaged file makes of another reader
            return f"refused: {type(refused).__name__}"
        wanted = read(self.pipeline, "day", root=self.root).to_pylist()
        return "equal" if sorted(map(repr, found)) == sorted(map(repr, wanted)) else "OTHER ROWS"

    def doctor(self, *, deep: bool) -> list[str]:
        as_new_process()
        found = diagnose(self.pipeline, root=self.root, deep=deep)
        return [f"{each.place}: {each.problem}; {each.mend}" for each in found if "none needed" not in each.mend]


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("mirrored")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{folder}/lake.db")
        yield Mirrored(folder)


def harms(mirrored: Mirrored) -> list[Harm]:
    """Every damage of every kind of file that a mirror has, newest and oldest."""
    table = mirrored.folder / "kept/p/windows/day"
    own = {kind: paths for kind, paths in kinds(table).items() if kind.startswith(("_iceberg/", "_sinks/"))}
    assert len(own) >= 4, "lists, manifests, descriptions, notes"
    place = Path("p/windows/day")
    found = []
    for paths in own.values():
        inside = [str(place / path) for path in paths]
        found += harms_of(mirrored.folder / "kept", inside, [mirrored.folder / "older"], lambda _: True, Random(0))
    return found


def tried(mirrored: Mirrored, harm: Harm) -> None:
    mirrored.again()
    harm.do(mirrored.root)
    first, found = mirrored.seen(), mirrored.doctor(deep=True)
    assert first == "equal" or found, f"{harm}: a reader sees {first}, and doctor finds nothing"
    vacuum(mirrored.root, older_than_us=0)
    mirrored.run(DAYS)
    assert mirrored.seen() == "equal", f"{harm}: after the next run, {mirrored.seen()}"
    mirrored.again()
    harm.do(mirrored.root)
    repair(mirrored.pipeline, root=mirrored.root, spark=HERE)
    assert (mirrored.seen(), mirrored.doctor(deep=True)) == ("equal", []), f"{harm}: after repair"
    mirrored.again()
    harm.do(mirrored.root)
    [sent] = send(bind(mirrored.pipeline, mirrored.root), anew=True)
    assert (mirrored.seen(), sent.failed) == ("equal", ""), f"{harm}: sent anew"


def test_a_torn_description_makes_way_for_the_one_before(mirrored: Mirrored) -> None:
    mirrored.again()
    with load_catalog("lake", uri=f"sqlite:///{mirrored.folder}/lake.db") as catalog:
        table = catalog.load_table("shop.day")
        table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "audit").commit()
        table.transaction().set_properties({"a": "b"}).commit_transaction()
        torn = Path(catalog.load_table("shop.day").metadata_location)
    torn.write_bytes(torn.read_bytes()[:1000])
    assert mirrored.seen().startswith("refused")
    assert any(each.startswith(f"{torn}: is damaged") for each in mirrored.doctor(deep=False))
    mirrored.run(DAYS)
    assert (mirrored.seen(), mirrored.doctor(deep=True)) == ("equal", [])
    with load_catalog("lake", uri=f"sqlite:///{mirrored.folder}/lake.db") as catalog:
        table = catalog.load_table("shop.day")
        assert ({*table.refs()}, len(table.snapshots())) == ({"main", "audit"}, DAYS + 1)


def test_a_manifest_that_is_another_is_named_and_no_snapshot_is_made_from_it(mirrored: Mirrored) -> None:
    mirrored.again()
    manifests = sorted((mirrored.root / "p/windows/day/_iceberg").rglob("*-m0.avro"), key=lambda path: path.stat().st_mtime_ns)
    manifests[-1].write_bytes(manifests[0].read_bytes())
    assert mirrored.seen() == "OTHER ROWS"
    assert any(each.startswith(f"{manifests[-1]}: is damaged") for each in mirrored.doctor(deep=False))
    mirrored.run(DAYS)
    assert (mirrored.seen(), mirrored.doctor(deep=True)) == ("equal", [])


def test_a_mirror_with_a_damaged_manifest_is_sent_anew(mirrored: Mirrored) -> None:
    mirrored.again()
    next((mirrored.root / "p/windows/day/_iceberg").rglob("*-m0.avro")).write_bytes(b"")
    [sent] = send(bind(mirrored.pipeline, mirrored.root), anew=True)
    assert (mirrored.seen(), sent.failed) == ("equal", "")


def test_a_repair_mends_an_old_snapshot_by_letting_it_go(mirrored: Mirrored) -> None:
    mirrored.again()
    oldest = min((mirrored.root / "p/windows/day/_iceberg").rglob("snap-*.avro"), key=lambda path: path.stat().st_mtime_ns)
    oldest.write_bytes(b"")
    assert (mirrored.seen(), mirrored.doctor(deep=False)) == ("equal", [])
    assert any(each.startswith(f"{oldest}: is damaged") for each in mirrored.doctor(deep=True))
    repair(mirrored.pipeline, root=mirrored.root, spark=HERE)
    assert (mirrored.seen(), mirrored.doctor(deep=True)) == ("equal", [])


def test_a_torn_manifest_that_no_snapshot_names_is_named_and_removed(mirrored: Mirrored) -> None:
    """A killed run leaves it; a command that forgets cannot tell what it says."""
    mirrored.again()
    [folder] = (mirrored.root / "p/windows/day/_iceberg").iterdir()
    torn = [folder / f"{'0' * 32}-m0.avro", folder / f"snap-1-0-{'f' * 32}.avro"]
    for path in torn:
        path.write_bytes(b"Obj")
    found = diagnose(mirrored.pipeline, root=mirrored.root, deep=True)
    assert [(each.place, each.mend) for each in found] == [
        (str(path), "none needed, as no snapshot names it; muntin doctor --mend FILE removes it") for path in torn
    ]
    assert repair(mirrored.pipeline, root=mirrored.root, spark=HERE).files == tuple(torn)
    assert diagnose(mirrored.pipeline, root=mirrored.root, deep=True) == []
    assert mirrored.seen() == "equal"


def test_a_note_that_is_gone_or_damaged_lets_vacuum_remove_nothing_and_is_written_anew(mirrored: Mirrored) -> None:
    for content in (None, b"", b"{"):
        mirrored.again()
        note = next(mirrored.root.rglob("*.mirror"))
        note.unlink()
        if content is not None:
            note.write_bytes(content)
        before = sorted((mirrored.root / "p/windows").rglob("*"))
        vacuum(mirrored.root, older_than_us=0)
        assert sorted((mirrored.root / "p/windows").rglob("*")) == before
        assert any(each.startswith(str(note)) for each in mirrored.doctor(deep=False))
        assert note in repair(mirrored.pipeline, root=mirrored.root, spark=HERE).files
        assert mirrored.doctor(deep=True) == []


@at_length
def test_every_damage_of_a_mirror(mirrored: Mirrored) -> None:
    wrong = []
    for harm in harms(mirrored):
        try:
            tried(mirrored, harm)
        except Exception as failed:  # noqa: BLE001 - all of them are told
            wrong.append(f"{harm}: {type(failed).__name__} {failed}".splitlines()[0])
    assert not wrong, "\n".join(wrong)
