"""`muntin new`: projects that run at once, from a wheel, in an environment that knows no checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from muntin.cli.templates import TEMPLATES
from tests.cli.conftest import Muntin

ROOT = Path(__file__).parents[2]
EVERYWHERE = {
    "README.md",
    "docker-compose.yml",
    "Dockerfile",
    "requirements.txt",
    ".env.example",
    ".gitignore",
    "sample_data.py",
    "pytest.ini",
}


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the wheel alone, beside the packages that it depends on."""

    folder: Path

    def call(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        gone = ("PYTHONPATH", "MUNTIN_HOME", "MUNTIN_ROOT", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if name not in gone}
        paths = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "PYSPARK_PYTHON": str(self.folder / "bin/python")}
        quick = {"NUMBA_DISABLE_JIT": "1", "COLUMNS": "200"}  # kernels of a new environment are not compiled yet
        return subprocess.run(
            [self.folder / "bin" / words[0], *words[1:]], cwd=cwd, env=kept | paths | quick, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    place = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place)
    shutil.copytree(ROOT / "pipelines", place / "pipelines", ignore=shutil.ignore_patterns("__pycache__"))
    uv = str(Path(sys.executable).with_name("uv"))
    made = Environment(place / "env")
    for words in (
        [uv, "build", "--wheel", "--quiet", "--out-dir", "wheels", "."],
        [uv, "venv", "--quiet", "--python", sys.executable, made.folder],
        [
            uv,
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--python",
            made.folder / "bin/python",
            "--find-links",
            "wheels",
            "--no-index",
            "muntin",
        ],
    ):
        subprocess.run(words, cwd=place, check=True)
    shutil.rmtree(place / "pipelines")
    (site,) = made.folder.glob("lib/*/site-packages")
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "others.pth").write_text(
        packages, encoding="utf-8"
    )  # a line of a .pth file is no place for other .pth files: no checkout comes with it
    return made


def test_the_environment_knows_no_checkout(environment: Environment, tmp_path: Path) -> None:
    done = environment.call("python", "-c", "import muntin; print(muntin.__file__)", cwd=tmp_path)
    assert done.stdout.startswith(str(environment.folder)), done.stderr


@pytest.fixture
def project(environment: Environment, tmp_path: Path) -> Callable[[str], Path]:
    def make(template: str) -> Path:
        done = environment.call("muntin", "new", "it", "--template", template, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return tmp_path / "it"

    return make


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_project_of_the_wheel_is_checked_and_tested(environment: Environment, project: Callable[[str], Path], template: str) -> None:
    folder = project(template)
    assert {path.name for path in folder.iterdir()} >= EVERYWHERE
    checked = environment.call("muntin", "check", TEMPLATES[template].file, cwd=folder)
    assert " fit " in checked.stdout, checked.stderr
    tested = environment.call("python", "-m", "pytest", cwd=folder)
    assert tested.returncode == 0, tested.stdout
    assert "2 passed" in tested.stdout


@pytest.mark.spark
@pytest.mark.gx
def test_a_project_of_the_wheel_runs(environment: Environment, project: Callable[[str], Path]) -> None:
    folder, files = project("files"), TEMPLATES["files"]
    ran = environment.call("muntin", "run", files.file, "--start", files.start, "--end", files.end, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    assert "3 batches: 55 rows read, 0 quarantined, 0 late" in ran.stdout
    assert "expectations: window 'day' passed" in ran.stdout
    shown = environment.call("muntin", "show", files.file, files.window, "--format", "csv", cwd=folder).stdout
    assert "north,2024-05-01T00:00:00+00:00,2024-05-02T00:00:00+00:00,10,144.50,19.50," in shown


class TestTheFolder:
    """It is new or empty."""

    def test_what_is_there_is_never_overwritten(self, muntin: Muntin, tmp_path: Path) -> None:
        (tmp_path / "README.md").write_text("mine")
        told = muntin("new", str(tmp_path))
        assert (told.status, told.out) == (2, "")
        assert f"{tmp_path} is not empty: README.md; name a folder that is new or empty" in told.err
        assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
        assert "is a file" in muntin("new", str(tmp_path / "README.md")).err

    def test_a_new_repository_is_empty(self, muntin: Muntin, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        told = json.loads(muntin("new", str(tmp_path), "--json").out)
        assert "dags/sales.py" in told["files"]
        assert set(told["files"]) == {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}

    def test_a_misspelt_template(self, muntin: Muntin, tmp_path: Path) -> None:
        told = muntin("new", str(tmp_path / "it"), "--template", "click")
        assert (told.status, "did you mean 'clicks'?" in told.err, (tmp_path / "it").exists()) == (2, True, False)

    def test_the_list(self, muntin: Muntin) -> None:
        assert [line.split()[0] for line in muntin("new", "--list").out.splitlines()[1:]] == [*TEMPLATES]
        assert "FOLDER" in muntin("new").err


class TestWhatIsInAProject:
    """Files that no test runs, held against what they speak of."""

    @pytest.fixture
    def folder(self, muntin: Muntin, tmp_path: Path) -> Path:
        assert muntin("new", str(tmp_path), "--quiet").out == ""
        return tmp_path

    def test_the_sample_data_are_the_same_each_time(self, muntin: Muntin, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
        other = tmp_path_factory.mktemp("other")
        muntin("new", str(other))
        assert [path.read_bytes() for path in sorted((folder / "data").iterdir())] == [
            path.read_bytes() for path in sorted((other / "data").iterdir())
        ]

    def test_compose_asks_for_what_the_example_names(self, folder: Path) -> None:
        text = (folder / "docker-compose.yml").read_text()
        asked = set(re.findall(r"\$\{(\w+)|^  (AWS_\w+):$", text, re.MULTILINE))
        assert {first or second for first, second in asked} - {"COMPOSE_PROJECT_NAME"} == set(
            re.findall(r"^#?([A-Z_]+)=", (folder / ".env.example").read_text(), re.MULTILINE)
        )
        services = yaml.safe_load(text)["services"]
        assert {"postgres", "api-server", "scheduler", "dag-processor", "triggerer", "spark-connect"} <= services.keys()
        mounts = {mount.split(":")[0] for mount in services["scheduler"]["volumes"] if mount.startswith("./")}
        assert all((folder / mount).is_dir() for mount in mounts)

    def test_requirements_admit_this_version(self, folder: Path) -> None:
        from packaging.requirements import Requirement

        lines = [line for line in (folder / "requirements.txt").read_text().splitlines() if line.startswith("muntin")]
        (muntin,) = map(Requirement, lines)
        assert muntin.specifier.contains(version("muntin"))

    def test_the_plugin_is_ours(self, folder: Path) -> None:
        assert (folder / "plugins/muntin_page.py").read_bytes() == (ROOT / "plugins/muntin_page.py").read_bytes()
