"""The site of the docs builds without a broken link, and the tutorial is true, word for word."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from docs.beside import BESIDE
from muntin.cli.main import main
from tests.cli.conftest import without_spark

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r'```(?:(?:csv|python) title="(?P<file>[^"]+)"|console)\n(?P<text>.*?)```', re.DOTALL)


def test_the_site_builds_strictly(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path / "site").with_suffix(".md") for path in (tmp_path / "site").rglob("*.html")}
    documents = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    beside = {Path(site) for site in BESIDE.values() if site.endswith(".md")}
    assert {each.with_name("index.md") if each.name == "README.md" else each for each in documents} | beside <= pages
    first = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert 'href="how-it-works.html"' in first  # of the README, whose links begin with docs/
    assert "https://fonts" not in first


def test_the_tutorial_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """tests/cli/test_extras.py and test_own_pipelines.py start the command as a program."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for block in BLOCK.finditer((ROOT / "docs/tutorial.md").read_text(encoding="utf-8")):
        if block["file"]:
            path = tmp_path / block["file"]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block["text"], encoding="utf-8")
            continue
        command, _, wanted = block["text"].partition("\n")
        program, *arguments = shlex.split(command[2:])
        with without_spark():
            status = main(arguments)
        printed, errors = capfd.readouterr()
        assert (program, status) == ("muntin", 0), errors
        assert words(printed.replace(str(tmp_path), "/project")) == words(wanted), command


def words(text: str) -> list[list[str]]:
    """Lines by their words: a longer path makes a wider column."""
    return [line.split() for line in text.splitlines() if line.strip()]
