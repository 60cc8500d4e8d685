"""What becomes of a key that is forgotten, case by case."""

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable

from muntin import aggregates as agg
from muntin import forget, read, windows
from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.errors import DefinitionError, StateError
from muntin.extensions import alerts
from muntin.extensions.alerts.findings import findings
from muntin.extensions.alerts.gathered import ended_well
from muntin.extensions.forgetting.forget import plan_forget
from muntin.extensions.forgetting.remembered import count_again, new_secret, remembered, undo
from muntin.extensions.forgetting.texts import overwrite, tells_of
from muntin.extensions.page.installation import Place
from muntin.extensions.page.views.overview import line
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.inspect.status import status
from muntin.jobs.publish.publish import is_stale
from muntin.jobs.quarantine.refused_rows_kept import commit_refused
from muntin.jobs.state.bound import bind
from muntin.jobs.state.forgotten import SECRET
from muntin.states.forgotten_keys import Plain
from muntin.tasks import Local
from tests.end_to_end.hourly import hour
from tests.forgetting.visits import Visits
from tests.made_once import made_once

ANN, BOB = [(5, "ann", "x", 1.0, "a"), (70, "ann", "y", 2.0, "a")], [(10, "bob", "x", 3.0, "b"), (80, "bob", "x", 4.0, "b")]
KEY = [{"person": "bob"}]
HOURS = {"windows": {"hour": windows.tumbling("1h")}}
"""tests/forgetting/test_histories.py has all kinds."""
_HOUR = instant_us(hour(0), "start"), instant_us(hour(1), "end")


@pytest.fixture
def visits(tmp_path: Path) -> Visits:
    """Two hours of ann and bob; of each a row without a time."""
    made_once(tmp_path, _two)
    return written(tmp_path)


def written(folder: Path) -> Visits:
    made = Visits(folder, more=HOURS)
    for at in range(2):
        made.write(at, [ANN[at], BOB[at]], bad=["ann", "bob"])
    return made


def _two(folder: Path) -> None:
    written(folder).run(0, 1)


def people(visits: Visits, window: str = "hour") -> list[str]:
    return read(visits.pipeline, window, root=visits.root)["person"].to_pylist()


def test_a_plan_says_what_lies_where_and_changes_nothing(visits: Visits) -> None:
    before = {path: path.read_bytes() for path in visits.root.rglob("*") if path.is_file()}
    found = plan_forget(visits.pipeline, KEY, root=visits.root)
    rows = {each.place.rpartition("/")[2]: each.rows for each in found.found if each.what == "rows"}
    assert (rows["1h"], rows["quarantine"], rows["hour"], found.done) == (2, 2, 2, False)
    assert {path: path.read_bytes() for path in visits.root.rglob("*") if path.is_file()} == before


def test_rows_that_come_again_are_left_out_and_counted(tmp_path: Path) -> None:
    visits = written(tmp_path)
    visits.run(0, 1)
    forget(visits.pipeline, KEY, root=visits.root)
    report = visits.run(1).batches[0]
    assert (report.rows_read, report.rows_accepted, report.rows_quarantined, report.rows_forgotten) == (4, 1, 1, 2)
    assert (report.rows_left_out, report.source_changed) == (0, False)
    assert people(visits) == ["ann", "ann"]


def test_a_watermark_of_events_stays_where_rows_of_the_key_had_moved_it(tmp_path: Path) -> None:
    visits = Visits(tmp_path, "by event")
    visits.write(0, [ANN[0], (59, "bob", "x", 3.0, "b")])
    visits.write(1, [*ANN[1:], (119, "bob", "x", 3.0, "b"), (120, "bob", "x", 3.0, "b")])
    before = visits.run(0, 1).batches
    forget(visits.pipeline, KEY, root=visits.root)
    assert [each.watermark for each in visits.run(0, 1).batches] == [each.watermark for each in before]


def test_a_key_of_some_columns_means_all_keys_with_them(tmp_path: Path) -> None:
    visits = Visits(tmp_path, "by row")
    visits.write(0, [(1, "bob", "x", 1.0, "a"), (2, "bob", "y", 1.0, "a"), (3, "ann", "x", 1.0, "a")])
    visits.run(0)
    assert forget(visits.pipeline, [{"person": "bob", "page": "x"}], root=visits.root).done
    assert visits.run(0).batches[0].rows_forgotten == 1
    assert forget(visits.pipeline, [{"page": "x"}], root=visits.root).done
    assert visits.run(0).batches[0].rows_forgotten == 2


@pytest.mark.parametrize(("totals", "n"), [("keep", [2, 1, 1]), ("redo", [1, 1])])
def test_totals_stay_or_are_derived_again(visits: Visits, totals: str, n: list[int]) -> None:
    forget(visits.pipeline, KEY, root=visits.root, totals=totals)
    found = read(visits.pipeline, "hour.by_page", root=visits.root).sort_by([("window_start", "ascending"), ("page", "ascending")])
    assert found["n"].to_pylist() == n
    assert people(visits) == ["ann", "ann"]


def test_old_versions_are_gone_by_deltas_own_error(visits: Visits) -> None:
    visits.run(1)
    table = visits.root / "visits/windows/hour"
    version = DeltaTable(table).version()
    forget(visits.pipeline, KEY, root=visits.root)
    assert DeltaTable(table).version() > version
    with pytest.raises(Exception, match=r"[Ii]nvalid|[Vv]ersion|not found|No files in log"):
        DeltaTable(table, version=version).to_pyarrow_table()
    assert DeltaTable(table).to_pyarrow_table().num_rows == 2


def test_texts_are_overwritten(visits: Visits) -> None:
    state = bind(visits.pipeline, visits.root).folder
    (state / "quality").mkdir()
    (state / "alerts/unsent").mkdir(parents=True)
    said = state / "alerts/unsent/1.json"
    said.write_text(json.dumps({"text": "person  n\nbob  1\nbobby  2", "rows": [{"person": "bob", "n": 1}]}))
    assert [each.what for each in plan_forget(visits.pipeline, KEY, root=visits.root).found].count("texts") == 1
    forget(visits.pipeline, KEY, root=visits.root)
    assert json.loads(said.read_text()) == {"text": "person  n\n(forgotten)  1\nbobby  2", "rows": [{"person": "(forgotten)", "n": 1}]}


def test_a_value_of_another_keys_row_is_found_and_stays(tmp_path: Path) -> None:
    visits = Visits(tmp_path, more=HOURS | {"aggregates": {"devices": agg.collect("device")}})
    visits.write(0, [(5, "ann", "x", 1.0, "bob"), (6, "bob", "x", 1.0, "a")])
    visits.run(0)
    found = forget(visits.pipeline, KEY, root=visits.root)
    assert not found.done
    assert {each.what for each in found.left} == {"values"}
    assert remembered(visits.pipeline, root=visits.root).open == 1


def test_a_new_relationship_and_an_end_of_forgetting(visits: Visits) -> None:
    forget(visits.pipeline, KEY, root=visits.root)
    count_again(visits.pipeline, KEY, hour(1.3), root=visits.root)
    assert [each.rows_forgotten for each in visits.run(0, 1).batches] == [2, 1]
    assert people(visits) == ["ann", "ann", "bob"]
    undo(visits.pipeline, KEY, root=visits.root)
    assert [each.rows_forgotten for each in visits.run(0, 1).batches] == [0, 0]
    assert people(visits) == ["ann", "ann", "bob", "bob"]
    with pytest.raises(DefinitionError, match="person=bob is not forgotten"):
        undo(visits.pipeline, KEY, root=visits.root)


def test_secrets_are_renewed_and_must_be_there(visits: Visits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, str(tmp_path / "elsewhere/secret"))
    forget(visits.pipeline, KEY, root=visits.root)
    secret = tmp_path / "elsewhere/secret"
    assert secret.stat().st_mode & 0o77 == 0
    old = secret.read_text()
    assert new_secret(visits.pipeline, root=visits.root) == 1
    assert visits.run(0).batches[0].rows_forgotten == 2
    for content in (old, "no secret"):
        secret.write_text(content)
        with pytest.raises(StateError, match="secret"):
            visits.run(0)
    monkeypatch.delenv(SECRET)
    with pytest.raises(StateError, match=SECRET):
        visits.run(0)


def test_another_definition_forgets_too_and_must_have_the_column(visits: Visits) -> None:
    forget(visits.pipeline, KEY, root=visits.root)
    other = Visits(visits.folder, more=HOURS | {"keys": ["page", "person", "device"]}, rows=visits.rows)
    assert other.run(0, 1).batches[0].rows_forgotten == 2
    bare = Visits(visits.folder, more=HOURS | {"keys": ["page"], "rollups": {}}, rows=visits.rows)
    with pytest.raises(StateError, match="'person', which is no key of this definition"):
        bare.run(0)


def test_a_state_of_another_schedule_stops_it_before_anything_changes(visits: Visits) -> None:
    other = Visits(visits.folder, more={"schedule": "2h"}, rows=visits.rows)
    with pytest.raises(StateError, match="another schedule"):
        forget(other.pipeline, KEY, root=visits.root)
    assert remembered(visits.pipeline, root=visits.root).events == ()


def test_keys_that_were_forgotten_while_a_batch_was_read(visits: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run commits states that hold the key behind the command that removed it; it notices that, and reads again."""
    met = list[str]()

    def committing(*given: object) -> bool:
        if not met:
            met.append("once")
            assert forget(visits.pipeline, KEY, root=visits.root).done
        return commit_refused(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("muntin.jobs.accumulate.accumulate.commit_refused", committing)
    assert visits.run(0, 1).batches[0].rows_forgotten == 2
    assert people(visits) == ["ann", "ann"]
    assert plan_forget(visits.pipeline, KEY, root=visits.root).found == ()


@pytest.mark.parametrize(
    ("key", "said"),
    [({"persn": "bob"}, "'persn' is no key; keys are person, page"), ({"person": None}, "needs a value"), ({}, "needs a value")],
)
def test_keys_that_are_none(key: dict[str, str], said: str, visits: Visits) -> None:
    with pytest.raises(DefinitionError, match=said):
        forget(visits.pipeline, [key], root=visits.root)
    with pytest.raises(DefinitionError, match="say which key to forget"):
        forget(visits.pipeline, [], root=visits.root)


def test_without_a_root(visits: Visits, tmp_path: Path) -> None:
    with pytest.raises(StateError, match="there is no folder of 'visits'"):
        forget(visits.pipeline, KEY, root=tmp_path / "nowhere")


def test_what_was_staged_before_is_derived_again(visits: Visits) -> None:
    """Windows that wait for their suite hold the key; they are stale, and their folder goes."""
    visits.write(1, [ANN[1], BOB[1], (75, "bob", "y", 4.0, "b")])
    bound, interval = bind(visits.pipeline, visits.root), Interval(instant_us(hour(1), "start"), instant_us(hour(2), "end"))
    accumulate(bound, Local(1), [interval])
    staged = finalize(bound, Local(1), [interval.start_us])
    assert [window.window for window in staged.windows if window.files]
    assert not is_stale(bound.store, staged)
    assert forget(visits.pipeline, KEY, root=visits.root).done
    assert is_stale(bound.store, staged)
    assert not (bound.folder / staged.folder).exists()
    assert people(visits) == ["ann", "ann"]


def test_whoever_looks_sees_that_something_may_be_left(tmp_path: Path) -> None:
    visits = Visits(tmp_path, more=HOURS | {"aggregates": {"devices": agg.collect("device")}})
    visits.write(0, [(5, "ann", "x", 1.0, "bob"), (6, "bob", "x", 1.0, "a")])
    visits.run(0)
    said = "something may be left of 1 key"
    for here in (False, True):
        told = {"quality": (), "published": {}, "missing": (), "link": ""}
        run = ended_well(bind(visits.pipeline, visits.root), visits.pipeline.intervals.intervals(*_HOUR), (), **told)
        seen = [status(visits.pipeline, root=visits.root).unforgotten == 1]
        seen += [any(said in each.problem for each in diagnose(visits.pipeline, root=visits.root))]
        seen += [
            any(said in each.what for each in line(Place("visits", visits.root, visits.pipeline, tmp_path / "visits.py"), _HOUR[1]).calls)
        ]
        seen += [any(said in each.observed for each in findings(alerts.to("alerts"), run))]
        assert seen == [here] * 4
        forget(visits.pipeline, KEY, root=visits.root)


def test_a_text_that_a_run_removes_meanwhile_tells_nothing(tmp_path: Path) -> None:
    gone = tmp_path / "attempts/.1.json.partial"
    assert not overwrite(gone, Plain(frozenset({(("person", "bob"),)})))
    assert not tells_of(gone, Plain(frozenset({(("person", "bob"),)})))
