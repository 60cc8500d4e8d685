"""Copies of dimensions and of tables of spans are found, whatever their columns are called, until the user's own table has another."""

from datetime import timedelta
from pathlib import Path

import pytest

from muntin import aggregates as agg
from muntin import forget, sources, windows
from muntin.extensions.forgetting.copies import COPIES
from muntin.extensions.forgetting.forget import plan_forget
from muntin.jobs.upkeep.vacuum import vacuum
from tests.end_to_end.hourly import Hourly, hour, times
from tests.forgetting.visits import Visits

CITIES = "id,since,city\n{},2020-01-01T00:00:00Z,Ulm\n{},2020-01-01T00:00:00Z,Bonn\n"
SHIFTS = "person,begins,ends\n{},{:%Y-%m-%dT%H:%M:%SZ},{:%Y-%m-%dT%H:%M:%SZ}\n"


def written(folder: Path, person: str) -> None:
    (folder / "cities.csv").write_text(CITIES.format("ann", person))
    (folder / "shifts.csv").write_text(SHIFTS.format(person, hour(0), hour(0) + timedelta(hours=1)))


@pytest.fixture
def visits(tmp_path: Path) -> Visits:
    written(tmp_path, "bob")
    cities = sources.lookup(sources.files(str(tmp_path / "cities.csv")), keys={"person": "id"}, since="since", columns=["city"])
    given = windows.given(str(tmp_path / "shifts.csv"), start="begins", end="ends", keys=["person"])
    more = {
        "windows": {"hour": windows.tumbling("1h"), "shift": given},
        "rollups": {},
        "lookups": {"cities": cities},
        "aggregates": {"n": agg.count(), "ulm": agg.count_if("cities.city = 'Ulm'")},
    }
    made = Visits(tmp_path, more=more)
    made.write(0, [(5, "ann", "x", 1.0, "a"), (6, "bob", "x", 1.0, "a")])
    made.run(0)
    return made


def test_copies_are_found_and_go_with_the_rows_of_the_users_own_tables(visits: Visits) -> None:
    key = [{"person": "bob"}]
    found = forget(visits.pipeline, key, root=visits.root)
    assert [(each.what, each.place.rpartition("/")[2], each.rows) for each in found.left] == [
        (COPIES, "dimensions", 1),
        (COPIES, "given", 1),
    ]
    assert "take the key out of the table itself" in found.mend
    written(visits.folder, "nobody")
    visits.run(0)
    vacuum(visits.root, older_than_us=0)
    assert forget(visits.pipeline, key, root=visits.root).done
    assert plan_forget(visits.pipeline, key, root=visits.root).found == ()


@pytest.mark.parametrize("name", ["id", "value", "since"])
def test_a_key_may_be_called_as_a_column_of_the_copy_is(tmp_path: Path, name: str) -> None:
    written(tmp_path, "8")
    cities = sources.lookup(sources.files(str(tmp_path / "cities.csv")), keys={name: "id"}, since="since", columns=["city"])
    made = Hourly(
        tmp_path,
        other={"keys": [name], "lookups": {"cities": cities}, "aggregates": {"ulm": agg.count_if("cities.city = 'Ulm'")}},
    )
    made.write("00.parquet", {"at": times(5, 6), name: ["7", "8"]})
    made.run(0, 0)
    assert COPIES in {each.what for each in plan_forget(made.pipeline, [{name: "8"}], root=made.root).found}
    assert COPIES not in {each.what for each in plan_forget(made.pipeline, [{name: "7"}], root=made.root).found}
