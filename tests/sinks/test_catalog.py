"""Names in Spark's catalog: they lead to the tables of windows, which say of themselves what they hold."""

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any

import pytest

from muntin import sinks
from muntin.errors import DefinitionError
from muntin.extensions.airflow.publishing import sent_to_sinks
from muntin.extensions.airflow.spark import LateRunner
from muntin.extensions.catalog.registered import Registered
from muntin.jobs.publish.spark_needed import spark_needed
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from muntin.sinks.errors import BlockedError
from muntin.tasks import Local
from tests.conftest import JARS
from tests.sinks.catalog_steps import Named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark  # also where it runs in another process
SENT = "{} of hours sent to table shop.hours of Spark's catalog; it is at version {}"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, metastore: str) -> dict[str, Any]:
    """The steps of `catalog_steps`: a metastore is a setting that a session is born with, so they have a process of their own."""
    if not JARS:
        pytest.skip("setup/jars.sh fetches Delta for Spark")
    folder = tmp_path_factory.mktemp("catalog")
    command = [sys.executable, "-m", "tests.sinks.catalog_steps", str(folder), ",".join(map(str, JARS)), metastore]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3_000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_name_leads_to_the_windows(told: dict[str, Any]) -> None:
    assert told["before"] == SENT.format("0 names", None)
    assert [line[:6] for line in told["all at once"]] == ["1 name"] * 3
    assert told["first"] == SENT.format("1 name", 2)
    for step in ("rows", "rows after a publication", "rows of the new definition", "rows of the moved root"):
        by_name, published = told[step]
        assert by_name == published != "[]"


def test_a_table_says_what_it_holds(told: dict[str, Any]) -> None:
    says = told["says"]
    assert {name: says[name] for name in told["agreed"]} == told["agreed"]
    assert says["k"] == "key: windows are kept apart by it"
    assert {*told["agreed"]} >= {"window_start", "window_end", "n", "total"}
    ours = {name: text for name, text in says.items() if name.startswith("muntin.")}
    assert ours == {
        "muntin.pipeline": "changing",
        "muntin.window": "hours",
        "muntin.definition": told["definition"],
        "muntin.owner": "data-team",
    }


def test_a_second_time_does_nothing_and_a_name_that_is_gone_is_given_again(told: dict[str, Any]) -> None:
    assert (told["again"], told["commits of the second time"]) == (SENT.format("0 names", 2), 0)
    assert told["dropped"] == SENT.format("1 name", 2)


def test_a_run_that_ends_behind_a_step_is_made_up_for(told: dict[str, Any]) -> None:
    killed, published = told["killed"], told["rows after a publication"][1]
    assert [step.split()[0] for step in killed] == ["the", "DESCRIBE", "CREATE", "CREATE", "SHOW"]
    assert [there for there, *_ in killed.values()] == [False, False, False, True, True]
    for at, (there, line, rows, owner) in enumerate(killed.values()):
        assert (line, rows, owner) == ("0 name" if there else "1 name", published, f"team-{at}")


def test_a_changed_definition_follows_when_it_is_promoted(told: dict[str, Any]) -> None:
    (_, before), (line, after) = told["not promoted"], told["promoted"]
    assert line.startswith("0 names of hours sent")
    assert (before["muntin.definition"], after["muntin.definition"]) == (told["definition"], told["new definition"])
    assert told["definition"] != told["new definition"]
    assert (before.get("most"), after["most"]) == (None, "max(x)")
    assert (before["muntin.owner"], after["muntin.owner"]) == ("", "")


@pytest.mark.parametrize(
    ("name", "words", "taken"),
    [
        ("managed", "the name is that of a managed table, which Muntin never drops", False),
        ("view", "the name is that of a view, which Muntin never drops", False),
        ("purged", "the name is that of a table with external.table.purge=true, which Muntin never drops", False),
        ("elsewhere", "the name is that of a table of delta at file:", True),
        ("csv", "the name is that of a table of csv at file:", True),
    ],
)
def test_a_name_that_others_gave_is_refused(told: dict[str, Any], name: str, words: str, taken: bool) -> None:
    refused, anew = told["others"][name]
    assert f"not sent to table shop.{name} of Spark's catalog ({words}" in refused
    assert refused.endswith("no later run mends that by itself")
    assert anew.startswith("1 name of hours sent") if taken else anew == refused
    assert told["rows of others"] == [1, 1, 1]


def test_a_root_that_moved_keeps_its_name_and_a_copy_does_not_get_it(told: dict[str, Any]) -> None:
    assert "the name is that of a table of delta at file:" in told["copied"]
    assert told["moved"].startswith("1 name of hours sent")


def test_a_catalog_that_forgets_is_refused(spark: "SparkSession", tmp_path: Path) -> None:
    small = Named(tmp_path, session=spark)
    small.write_all()
    small.ran(0)
    assert "Spark's catalog ends with the session; set spark.sql.catalogImplementation=hive" in small.sent()


def test_a_spark_without_delta_is_told_so(spark: "SparkSession") -> None:
    registered = Registered(spark, sinks.catalog("shop.hours", window="hours"))
    with pytest.raises(BlockedError, match=r"Spark finds no table of Delta at /srv/state .* and Spark needs Delta"):
        registered._check_that_spark_finds("/srv/state", "id")


def test_a_definition_needs_spark(tmp_path: Path) -> None:
    small = Named(tmp_path)
    assert spark_needed(small.named()) == "sinks.catalog"
    small.write_all()
    small.ran(0)
    assert "there is no Spark here; muntin status --sinks FILE --send starts one" in send(bind(small.named(), tmp_path / "state"))[0].line


def test_a_task_of_airflow_begins_spark_itself_and_not_in_the_threads_of_its_sinks(tmp_path: Path) -> None:
    small, threads = Named(tmp_path), list[Thread]()
    small.write_all()
    small.ran(0)

    def begun() -> Local:
        threads.append(current_thread())
        return Local(1)

    lines = sent_to_sinks(bind(small.named(window=None), tmp_path / "state"), LateRunner(begun))
    assert ["there is no Spark here" in line for line in lines] == [True] * 3
    assert threads == [main_thread()]


def test_each_window_has_a_name() -> None:
    names = [sink.of("one-day.by_city").name for sink in (sinks.catalog("shop.{window}"), sinks.catalog("lake.shop.w_{window}"))]
    assert names == ["table shop.one_day_by_city of Spark's catalog", "table lake.shop.w_one_day_by_city of Spark's catalog"]


@pytest.mark.parametrize("table", ["day", "shop.", "a.b.c.d", "shop.`day`", "shop.day; DROP TABLE x", "shop.{pipeline}", None])
def test_a_name_that_cannot_be(table: Any) -> None:
    with pytest.raises(DefinitionError, match=r'write "shop\.day" or'):
        sinks.catalog(table)


def test_an_owner_is_a_text() -> None:
    with pytest.raises(DefinitionError, match='write owner="data-team"'):
        sinks.catalog("shop.day", owner=7)  # type: ignore[arg-type]
