"""rebuild: what an earlier definition had read, once; earlier windows stay, and nobody takes the new state for an empty one."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from muntin import aggregates as agg
from muntin import read
from muntin.cli.place import load_pipeline
from muntin.errors import DefinitionError, StateError
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.rebuild import to_rebuild
from tests.cli.conftest import RANGE, Muntin, Project

pytestmark = pytest.mark.usefixtures("here")


def test_a_new_field_is_rebuilt_in_one_go(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    before, root = load_pipeline(Path(project.file)), project.root
    old = read(before, "quarter", root=root)
    project.define(**{'"least": agg.min("value")': '"least": agg.min("value"), "greatest": agg.max("value")'})
    after = load_pipeline(Path(project.file))
    with pytest.raises(StateError, match="muntin run --rebuild"):
        read(after, "quarter", root=root)
    shown = muntin(*project.arguments("show", "quarter"))
    assert shown.status == 3
    assert "muntin run --rebuild" in shown.err

    told = json.loads(muntin(*project.arguments("run", "--rebuild", "--json")).out)
    assert [batch["interval_start"][:10] for batch in told["batches"]] == ["2020-01-01", "2020-01-02"]
    assert len(told["report"]["batches"]) == 2
    new = read(after, "quarter", root=root)
    assert new.select(old.column_names).equals(old)
    assert new["greatest"].to_pylist() == new["total"].to_pylist()
    with pytest.raises(StateError, match="superseded"):
        read(before, "quarter", root=root)
    assert "every batch of the earlier state is there" in muntin(*project.arguments("run", "--rebuild")).out


def test_a_rebuild_that_was_interrupted_goes_on(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    project.define(**{'agg.min("value")': 'agg.max("value")'})
    part = muntin(*project.arguments("run", "--start", "2020-01-02", "--end", "2020-01-03"))
    assert (part.status, "left behind: 1 batch that an earlier definition had read" in part.out) == (0, True)
    told = json.loads(muntin(*project.arguments("run", "--rebuild", "--json")).out)
    assert [batch["interval_start"][:10] for batch in told["batches"]] == ["2020-01-01"]
    assert json.loads(muntin(*project.arguments("show", "quarter", "--json")).out)["total"] == 3


def test_fields_that_are_there_need_no_rebuild(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    for source in project.folder.glob("2020-01-01*.csv"):
        source.unlink()
    project.define(**{'"least": agg.min("value")': '"least": agg.min("value"), "mean": agg.mean("value")'})
    assert muntin(*project.arguments("run", "--start", "2020-01-02", "--end", "2020-01-03")).status == 0
    flow = load_pipeline(Path(project.file))
    assert read(flow, "quarter", root=project.root)["mean"].to_pylist() == [1.0, 3.0, 2.0]


def test_another_schedule_is_refused(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    flow = load_pipeline(Path(project.file))
    hourly = replace(flow.source, path="{start:%Y-%m-%dT%H}.csv")
    for schedule in ("12h", "1w"):
        with pytest.raises(DefinitionError, match=r"not those of the present schedule.*muntin run"):
            to_rebuild(bind(replace(flow, schedule=schedule, source=hourly), project.root))


def test_a_first_definition_has_nothing_to_rebuild(muntin: Muntin, project: Project) -> None:
    assert json.loads(muntin(*project.arguments("run", "--rebuild", "--json")).out) == {
        "batches": [],
        "purged": [],
        "not_there": [],
        "report": None,
    }
    flow = load_pipeline(Path(project.file))
    assert to_rebuild(bind(replace(flow, aggregates={"n": agg.count()}), project.root)) == []
    assert len(read(flow, "quarter", root=project.root)) == 0
