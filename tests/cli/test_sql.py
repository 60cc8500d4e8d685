"""`muntin sql`: its tables for people and for machines, and what it refuses."""

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Muntin, Project

TOTALS = "select sensor, total from quarter order by all"


def test_for_people_and_for_machines(muntin: Muntin, ran: Project, tmp_path: Path) -> None:
    told = muntin(*ran.arguments("sql", TOTALS, "--limit", "2"))
    assert (told.status, told.out.splitlines()[0].split()) == (0, ["sensor", "total"])
    assert told.out.splitlines()[-1] == "3 rows; 1 more, --limit 0 shows all; instants in UTC"
    document = json.loads(muntin(*ran.arguments("sql", TOTALS, "--json")).out)
    assert (document["total"], document["rows"][0]) == (3, {"sensor": "ä", "total": 1})
    found = list(csv.DictReader(io.StringIO(muntin(*ran.arguments("sql", TOTALS, "--csv")).out)))
    assert [row["total"] for row in found] == ["1", "3", "2"]
    out = tmp_path / "totals.parquet"
    assert muntin(*ran.arguments("sql", TOTALS, "--out", str(out))).status == 0
    assert pq.read_table(out)["total"].to_pylist() == [1, 3, 2]


def test_instants_by_the_clock_of_a_zone(muntin: Muntin, ran: Project) -> None:
    told = muntin(*ran.arguments("sql", "select min(window_start) as first from quarter", "--timezone", "Europe/Berlin"))
    assert "2020-01-01 01:00+01:00" in told.out


def test_text_of_a_query_is_no_escape_sequence(muntin: Muntin, ran: Project) -> None:
    told = muntin(*ran.arguments("sql", "select chr(27) || '[2J' as \"\x1b[31mred\""))
    assert (told.status, "\x1b" in told.out, "\\x1b[2J" in told.out) == (0, False, True)
    refused = muntin(*ran.arguments("sql", 'select "\x1b[31mred" from quarter'))
    assert (refused.status, "\x1b" in refused.err) == (2, False)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("select * from quartr", "no window 'quartr' in pipeline 'sensors'; there are quarter, visit; did you mean 'quarter'?"),
        ("select totl from quarter", "did you mean 'total'?"),
        ("delete from quarter", "give one query that reads"),
    ],
)
def test_what_is_refused(muntin: Muntin, ran: Project, query: str, words: str) -> None:
    told = muntin(*ran.arguments("sql", query))
    assert (told.status, words in told.err, told.out) == (2, True, "")


def test_without_a_state(muntin: Muntin, project: Project) -> None:
    told = muntin(*project.arguments("sql", TOTALS))
    assert (told.status, "run it first" in told.err) == (3, True)
