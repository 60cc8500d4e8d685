"""Rollups at the command line: a window of fewer keys is named like any, and takes its own keys alone."""

import json
from pathlib import Path

from tests.cli.conftest import RANGE, Muntin, Project, without_spark


def rolled(project: Project) -> Project:
    """Readings by sensor and value, and of all sensors."""
    project.define(**{'keys=["sensor"]': 'keys=["sensor", "value"],\n    rollups={"by_sensor": ["sensor"], "all": []}'})
    return project


def test_shown_explained_planned_and_late(muntin: Muntin, project: Project) -> None:
    with without_spark():
        done = rolled(project)
        assert muntin(*done.arguments("run", *RANGE)).status == 0
        rows = json.loads(muntin(*done.arguments("show", "quarter.by_sensor", "--key", "ä", "--json")).out)["rows"]
        assert [(row["sensor"], row["readings"], "value" in row) for row in rows] == [("ä", 1, False), ("ä", 1, False)]
        [one] = json.loads(muntin(*done.arguments("explain", "quarter.all", "--at", "2020-01-01T01:00", "--json")).out)["windows"]
        assert (one["window"]["readings"], len(one["missed"])) == (1, 1)
        said = muntin(*done.arguments("explain", "quarter.by_sensor", "--at", "2020-01-01T01:00"))
        assert (said.status, "give one value for sensor, as --key sensor=VALUE" in said.err) == (2, True)
        assert "there are none" in muntin(*done.arguments("show", "quarter.all", "--key", "ä")).err
        assert "quarter.all" in muntin(*done.arguments("show", "--late")).out
        project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,ä,5\n")
        touched = json.loads(muntin(*done.arguments("plan", *RANGE, "--json")).out)["may_change"]
        assert {*touched["quarter.by_sensor"][0]} == {"sensor", "window_start", "window_end", "batch"}
        lines = json.loads(muntin(*done.arguments("show", "--timeline", "--key", "sensor=ä", "--key", "value=1", "--json")).out)[
            "timelines"
        ]
        assert {line["window"]: line["key"] for line in lines if line["window"].startswith("quarter")} == {
            "quarter": {"sensor": "ä", "value": "1"}, "quarter.by_sensor": {"sensor": "ä"}, "quarter.all": {}
        }  # fmt: skip
        assert "quarter.by_sensor, sensor=ä" in muntin(*done.arguments("show", "--timeline", "quarter.by_sensor")).out
        assert "quarter.all" in muntin(*done.arguments("status")).out
        assert "('default', 'sensors_quarter_all', '" in muntin(*done.arguments("status", "--paths", "quarter.all")).out


def test_a_name_in_a_catalog_is_told_beside_the_address(muntin: Muntin, project: Project) -> None:
    done = rolled(project)
    text = Path(done.file).read_text(encoding="utf-8").replace("dag = airflow_dag(sensors)\n", "")
    text = text.replace("import Pipeline,", "import Pipeline, sinks,").replace(
        "    schedule=", "    to=sinks.catalog('shop.{window}'),\n    schedule="
    )
    Path(done.file).write_text(text, encoding="utf-8")
    assert "  Catalog SELECT * FROM shop.quarter_all;\n" in muntin(*done.arguments("status", "--paths", "quarter.all")).out


def test_no_such_rollup_has_a_name_that_is_similar(muntin: Muntin, project: Project) -> None:
    failed = muntin(*rolled(project).arguments("show", "quarter.by_sensors"))
    assert (failed.status, "did you mean 'quarter.by_sensor'" in failed.err) == (2, True)
