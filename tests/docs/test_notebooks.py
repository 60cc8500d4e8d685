"""The notebooks run, and show what their files say they show."""

import re
from pathlib import Path
from typing import Any

import pytest

from docs.notebooks import FOLDER, NOTEBOOKS, executed, loaded

ROOT = Path(__file__).parents[2]


def shown(notebook: dict[str, Any]) -> list[str]:
    """What each output says, in order."""
    cells = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    return ["".join(output.get("text") or output["data"]["text/plain"]) for cell in cells for output in cell["outputs"]]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_says(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    notebook = loaded(path)
    assert shown(executed(notebook)) == shown(notebook), "write it anew by python -m docs.notebooks"
    assert len(shown(notebook)) >= 3


def test_notebooks_are_those_that_the_docs_link() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"examples/notebooks/(\w+\.ipynb)", page)) == {path.name for path in FOLDER.glob("*.ipynb")}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_of_notebooks_lead_somewhere(path: Path) -> None:
    text = "".join("".join(cell["source"]) for cell in loaded(path)["cells"] if cell["cell_type"] == "markdown")
    links = re.findall(r"\]\(([^)#]+)", text)
    assert links
    assert all((path.parent / link).exists() for link in links)
