"""Modules beside a definition travel with their code; packages of an environment in the same folder do not."""

import sys
from pathlib import Path

import pytest

import muntin
from muntin.tasks import runner


@pytest.mark.parametrize(
    ("file", "travels"),
    [
        ("shared.py", True),
        ("team/counted.py", True),
        (".venv/lib/python3.11/site-packages/numpy/__init__.py", False),
        ("../elsewhere.py", False),
        (muntin.__file__, False),
        (f"{sys.prefix}/lib/x.py", False),
    ],
)
def test_what_travels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, travels: bool) -> None:
    monkeypatch.setattr(runner, "_folders", {tmp_path / "project", Path("/")} if file.startswith("/") else {tmp_path / "project"})
    assert runner._is_of_a_definition((tmp_path / "project" / file).resolve()) is travels
