"""Links between the documents lead to files and headings that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]


def headings(document: Path) -> set[str]:
    """As links write them."""
    found = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for path, heading in re.findall(r"\]\((?!http)([^)#\s]*)(?:#([^)]*))?\)", document.read_text(encoding="utf-8")):
        target = document.parent / path if path else document
        assert target.exists(), path
        assert not heading or heading in headings(target), f"{path}#{heading}"
