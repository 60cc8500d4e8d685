"""What a project's host reads names what is there: workflows the targets of make, CODEOWNERS paths, hooks programs of `.venv`."""

import re
from pathlib import Path

import pytest
import yaml

from tests import durations

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.stem)
def test_workflows_make_what_there_is_to_make_and_ask_for_no_secret(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    made = set(re.findall(r"run: make ([a-z-]+)", text))
    assert made
    assert made <= TARGETS
    assert "secrets." not in text


def test_each_week_every_folder_of_tests_runs() -> None:
    long = yaml.safe_load((ROOT / ".github/workflows/long.yml").read_text(encoding="utf-8"))["jobs"]["test"]
    assert long["strategy"]["matrix"]["folder"] == sorted({path.relative_to(ROOT / "tests").parts[0] for path in durations.files()})


def test_only_the_job_that_publishes_may_ask_for_an_identity() -> None:
    jobs = {
        (workflow.stem, name): job.get("permissions", {})
        for workflow in WORKFLOWS
        for name, job in yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].items()
    }
    assert [job for job, rights in jobs.items() if "id-token" in rights] == [("release", "publish")]


def test_owned_paths_are_there() -> None:
    lines = (ROOT / ".github/CODEOWNERS").read_text(encoding="utf-8").splitlines()
    paths = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert paths[0] == "*"
    assert [path for path in paths[1:] if not (ROOT / path.strip("/")).exists()] == []


def test_hooks_run_what_make_lint_runs() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [each["repo"] for each in config["repos"]] == ["local"], "nothing is fetched"
    programs = {hook["entry"].split()[0] for hook in config["repos"][0]["hooks"]}
    linted = re.search(r"^lint:.*?\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert linted
    assert programs <= set(re.findall(r"^\t(\S+)", linted[1], re.MULTILINE))
