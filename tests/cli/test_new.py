"""`muntin new`: what it writes, and where. tests/installs runs the projects, from a wheel."""

import json
import re
import stat
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from muntin.cli.new import TEMPLATES
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


def test_every_template_makes_a_whole_project(muntin: Muntin, tmp_path: Path) -> None:
    for template in TEMPLATES:
        assert muntin("new", str(tmp_path / template), "--template", template).status == 0
        assert {path.name for path in (tmp_path / template).iterdir()} >= EVERYWHERE
        assert f'expectations={{"{TEMPLATES[template].window}": ' in (tmp_path / template / TEMPLATES[template].file).read_text()


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

    def test_no_index_is_asked_for_muntin(self, folder: Path) -> None:
        wheel = f"./wheels/muntin-{version('muntin')}-py3-none-any.whl"
        required = [line for line in (folder / "requirements.txt").read_text().splitlines() if "muntin" in line and line[0] != "#"]
        assert [line.partition("[")[0] for line in required] == [wheel]
        for file in ("README.md", "wheels/README.md"):
            text = (folder / file).read_text()
            assert wheel.rpartition("/")[2] in text
            assert not re.search(r"pip install '?muntin(?!\[quality\])", text)  # that of an installed Muntin adds an extra's packages
        assert re.search(r"^COPY wheels wheels$", (folder / "Dockerfile").read_text(), re.MULTILINE)

    def test_a_database_for_airflow_starts_and_ends(self, folder: Path) -> None:
        import psycopg2

        def call(*words: str) -> str:
            command = [sys.executable, "database.py", *words]
            for _ in range(3):  # the package gives the server ten seconds to start, which is short on a machine at work
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
                if done.returncode == 0:
                    return done.stdout.strip()
            raise AssertionError(done.stderr)

        address = call()
        try:
            psycopg2.connect(address).close()
            assert stat.S_IMODE((folder / ".airflow/database").stat().st_mode) == 0o700
        finally:
            call("stop")
        with pytest.raises(psycopg2.OperationalError):
            psycopg2.connect(address)

    def test_the_plugin_is_ours(self, folder: Path) -> None:
        assert (folder / "plugins/muntin_page.py").read_bytes() == (ROOT / "plugins/muntin_page.py").read_bytes()
