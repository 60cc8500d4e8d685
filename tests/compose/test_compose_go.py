"""docker-compose.yml through the parser of docker compose itself, for each choice of profiles; our own reading of the file is the same."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.compose.compose_file import CHECKOUT, FILE, example_variables, services

BINARY = CHECKOUT / "build/bin/compose-check"
pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="no reader of compose files: bash setup/compose.sh builds one where Go is")


def loaded(folder: Path, file: Path, variables: dict[str, str], *profiles: str) -> subprocess.CompletedProcess[str]:
    given = folder / "variables"
    given.write_text("".join(f"{name}={value}\n" for name, value in variables.items()), encoding="utf-8")
    return subprocess.run([BINARY, file, given, *profiles], capture_output=True, text=True, check=False, env={}, cwd=folder)


@pytest.mark.parametrize("profiles", [(), ("kafka",), ("s3",), ("kafka", "s3")], ids="+".join)
@pytest.mark.parametrize("optional", [False, True], ids=["least", "all"])
def test_it_is_valid_and_we_read_it_so(tmp_path: Path, profiles: tuple[str, ...], optional: bool) -> None:
    variables = example_variables(optional=optional)
    done = loaded(tmp_path, FILE, variables, *profiles)
    assert done.returncode == 0, done.stderr
    theirs: dict[str, Any] = json.loads(done.stdout)["services"]
    ours = services(variables)
    assert theirs.keys() == {name for name, each in ours.items() if {*each.said.get("profiles", profiles)} <= {*profiles}}
    for name, each in theirs.items():
        assert ours[name].command == tuple(each["command"] or ())
        assert ours[name].environment == {key: value for key, value in each.get("environment", {}).items() if value is not None}
        assert ours[name].healthcheck == tuple(each.get("healthcheck", {}).get("test", ["CMD"])[1:])
        assert ours[name].mounts.keys() == {mount["target"] for mount in each.get("volumes", ())}
        assert ours[name].replicas == each.get("deploy", {}).get("replicas", 1)


def test_what_muntin_new_writes_is_valid(tmp_path: Path) -> None:
    file = CHECKOUT / "pipelines/muntin/templates/shared/docker-compose.yml"
    done = loaded(tmp_path, file, example_variables(optional=True) | {"COMPOSE_PROJECT_NAME": "shop"})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("    mem_limit: 512m", "    memory_limit: 512m", "memory_limit"),
        ("      spark-master:\n", "      spark-mastre:\n", "spark-mastre"),
        ('"state:/opt', '"state:/opt', "POSTGRES_PASSWORD"),
    ],
    ids=["no such key", "no such service", "no secret"],
)
def test_it_would_say_what_is_wrong(tmp_path: Path, before: str, after: str, says: str) -> None:
    wrong = tmp_path / "compose.yml"
    wrong.write_text(FILE.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
    done = loaded(tmp_path, wrong, {} if says.isupper() else example_variables())
    assert done.returncode == 1
    assert says in done.stderr
