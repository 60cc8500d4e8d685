"""What the README and the README of a new project print, run as it stands there, each in a folder with a space in its name."""

import re
import shutil
from pathlib import Path

import pytest

from muntin.cli.new import TEMPLATES
from tests.case_counts import some
from tests.installs.install import ROOT, Place


def typed(place: Place, lines: str, folder: Path) -> str:
    """What lines print that a person types into bash, of which each must succeed."""
    done = place.call("bash", "-ec", lines, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def block(folder: Path) -> str:
    """The commands in the README of a project."""
    return "\n".join(re.findall(r"^    (\S.*)$", (folder / "README.md").read_text(encoding="utf-8").split("\n| ")[0], re.MULTILINE))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "my projects"
    made.mkdir()
    return made


def test_the_first_block_of_the_readme(place: Place, folder: Path) -> None:
    (first, *_) = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    place.install()
    checkout = shutil.copytree(place.folder / "source", folder / "checkout")
    printed = typed(place, first, checkout)
    assert "sales: 2 windows, 3 aggregates fit " in printed
    assert "3 batches: 55 rows read" in printed
    assert re.search(r"^north +2024-05-01 00:00", printed, re.MULTILINE)


class TestNewProjects:
    """Made by a core install."""

    @pytest.fixture(scope="class")
    def core(self, place: Place) -> Place:
        place.install("muntin", "pytest")  # as their README says
        return place

    @pytest.mark.parametrize("template", some(TEMPLATES))
    def test_a_readme_and_what_new_says(self, core: Place, folder: Path, template: str) -> None:
        said = typed(core, f"muntin new 'a project' --template {template}", folder)
        assert "expectations: great_expectations is not installed" in said
        enter, *steps = re.findall(r"^  ((?:cd|muntin|pytest).*)$", said, re.MULTILINE)
        first, *others = block(folder / "a project").splitlines()
        assert (first, len(steps)) == ("pip install -r requirements.txt", 4)
        assert set(steps) <= set(others)
        assert "2 passed" in typed(core, "\n".join([enter, *others]), folder)


def test_the_requirements_of_a_project_and_its_suite(place: Place, folder: Path) -> None:
    place.install("muntin")
    typed(place, "muntin new 'a project'", folder)
    project = folder / "a project"
    (wheel,) = (place.folder / "wheels").glob("*.whl")
    shutil.copy(wheel, project / "wheels")  # as it says there
    place.install()  # nothing: all comes from the requirements
    assert "2 passed" in typed(place, f"unset UV_FIND_LINKS; {block(project)}", project)
    there = [path.relative_to(place.environment) for path in place.environment.glob("lib/*/site-packages/muntin-*/*")]
    origin = next((path for path in there if path.name == "direct_url.json"), None)
    assert origin, there
    assert f"wheels/{wheel.name}" in (place.environment / origin).read_text(encoding="utf-8")
    definition = project / "dags/sales.py"
    definition.write_text(definition.read_text(encoding="utf-8").replace("# expectations", "expectations"), encoding="utf-8")
    judged = typed(place, "muntin run dags/sales.py --start 2024-05-01 --end 2024-05-04 --root judged", project)
    assert "expectations: window 'day' passed" in judged
