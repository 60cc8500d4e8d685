"""`muntin check --contract`: JSON that is YAML; and `muntin check --against`, what a change of the definition breaks."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Muntin, Project, muntin, project, ran

__all__ = ["muntin", "project", "ran"]  # pytest looks for them here


def test_it_is_json_and_yaml(muntin: Muntin, ran: Project) -> None:
    told = muntin("check", "--contract", ran.file, "--root", ran.root)
    assert told.status == 0, told.err
    assert [table["name"] for table in json.loads(told.out)["schema"]] == ["quarter", "visit"]
    assert yaml.safe_load(told.out) == json.loads(told.out)


def test_text_of_a_definition_is_no_escape_sequence(muntin: Muntin, project: Project) -> None:
    project.define(**{'name="sensors",': 'name="sensors", description="a\\x1b[2J",'})
    told = muntin(*project.arguments("check", "--contract"))
    assert (told.status, "\x1b" in told.out) == (0, False)
    assert json.loads(told.out)["description"]["purpose"] == "a\x1b[2J"


def test_without_files_it_says_so(muntin: Muntin, project: Project) -> None:
    for path in project.folder.glob("*.csv"):
        path.unlink()
    told = muntin(*project.arguments("check", "--contract"))
    assert (told.status, "are not known" in told.err, told.out) == (3, True, "")


@pytest.fixture
def agreed(muntin: Muntin, project: Project) -> Path:
    """The contract of the project, in a file."""
    path = project.folder / "contract.yaml"
    path.write_text(muntin(*project.arguments("check", "--contract")).out)
    return path


def test_the_same_definition_breaks_nothing(muntin: Muntin, project: Project, agreed: Path) -> None:
    told = muntin(*project.arguments("check", "--against", str(agreed)))
    assert (told.status, told.out.splitlines()[-1]) == (0, f"{agreed}: no promise is broken")


def test_each_break_is_a_sentence(muntin: Muntin, project: Project, agreed: Path) -> None:
    project.define(**{'"total": agg.sum("value")': '"total": agg.mean("value"), "more": agg.count()', '"visit"': '"stay"'})
    told = muntin(*project.arguments("check", "--against", str(agreed)))
    assert told.status == 2
    assert told.out.splitlines()[1:] == [
        f"{agreed}: 2 promises broken",
        "  quarter.total: the type is wider: before BIGINT, now DOUBLE",
        "  visit: the table is gone",
        "  added, which breaks nothing: stay, quarter.more",
    ]
    document = json.loads(muntin(*project.arguments("check", "--against", str(agreed), "--json")).out)
    assert document["breaks"][0] == {
        "table": "quarter", "column": "total", "what": "the type is wider", "before": "BIGINT", "now": "DOUBLE",
    }  # fmt: skip
    assert document["added"] == ["stay", "quarter.more"]


def test_what_is_only_added_breaks_nothing(muntin: Muntin, project: Project, agreed: Path) -> None:
    project.define(**{'"readings": agg.count()': '"readings": agg.count(), "more": agg.count()'})
    told = muntin(*project.arguments("check", "--against", str(agreed)))
    assert told.status == 0
    assert told.out.endswith("no promise is broken\n  added, which breaks nothing: quarter.more, visit.more\n")


def test_a_renamed_window_keeps_its_name_in_the_sentence(muntin: Muntin, project: Project, agreed: Path) -> None:
    project.define(**{'"quarter": windows': '"six": windows', "keys=": 'renamed=Renamed(windows={"six": "quarter"}), keys='})
    told = muntin(*project.arguments("check", "--against", str(agreed)))
    assert (told.status, "  quarter: the table has another name: before quarter, now six\n" in told.out) == (2, True)


def test_names_in_a_contract_are_no_escape_sequences(muntin: Muntin, project: Project, agreed: Path) -> None:
    document = json.loads(agreed.read_text())
    document["schema"][0]["name"] = "a\x1b[2J\nb"
    agreed.write_text(json.dumps(document))
    told = muntin(*project.arguments("check", "--against", str(agreed)))
    assert (told.status, "\x1b" in told.out, "  a\\x1b[2J\\nb: the table is gone\n" in told.out) == (2, False, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("columns: [a, b]", "it is no JSON"),
        ("{}", "it is no data contract"),
        (
            '{"kind": "DataContract", "apiVersion": "v3.1.0", "id": "other", "schema": []}',
            "contract of 'other', and this pipeline is 'sensors'",
        ),
    ],
)
def test_what_is_no_contract_of_the_pipeline(muntin: Muntin, project: Project, agreed: Path, text: str, words: str) -> None:
    agreed.write_text(text)
    told = muntin(*project.arguments("check", "--against", str(agreed)))
    assert (told.status, words in told.err) == (2, True)
