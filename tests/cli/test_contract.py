"""`muntin contract`: JSON that is YAML."""

import json

import yaml

from tests.cli.conftest import Muntin, Project


def test_it_is_json_and_yaml(muntin: Muntin, ran: Project) -> None:
    told = muntin("contract", ran.file, "--root", ran.root)
    assert told.status == 0, told.err
    assert [table["name"] for table in json.loads(told.out)["schema"]] == ["quarter", "visit"]
    assert yaml.safe_load(told.out) == json.loads(told.out)


def test_text_of_a_definition_is_no_escape_sequence(muntin: Muntin, project: Project) -> None:
    project.define(**{'name="sensors",': 'name="sensors", description="a\\x1b[2J",'})
    told = muntin(*project.arguments("contract"))
    assert (told.status, "\x1b" in told.out) == (0, False)
    assert json.loads(told.out)["description"]["purpose"] == "a\x1b[2J"


def test_without_files_it_says_so(muntin: Muntin, project: Project) -> None:
    for path in project.folder.glob("*.csv"):
        path.unlink()
    told = muntin(*project.arguments("contract"))
    assert (told.status, "are not known" in told.err, told.out) == (3, True, "")
