"""The rule for docstrings that a machine can hold: each begins with a noun or a verb, so that it can be read alone."""

import ast
import re
from pathlib import Path

import pytest

import muntin

PACKAGE = Path(muntin.__file__).parent
HANGING = re.compile(
    r"(?:What|Those|These|Others|Ones|It|They|Them|Who|Whose|Such|That|All that|As|Of|So|One (?:of|that|which|who|is|by))\b"
    r"|(?:None|All|Both|This|Likewise|The (?:same|others?|ones?|rest))[.,;]"
)
DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(file: Path) -> list[tuple[str, str]]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    texts = [(node, ast.get_docstring(node)) for node in ast.walk(tree) if isinstance(node, DEFINITIONS)]
    return [(f"{file.relative_to(PACKAGE)}:{node.body[0].lineno}", text) for node, text in texts if text]


@pytest.mark.parametrize(
    "text", ["What a task does.", "Those of the page.", "One of these.", "The same, and more.", "None.", "It is gone."]
)
def test_a_docstring_that_hangs_is_found(text: str) -> None:
    assert HANGING.match(text)


@pytest.mark.parametrize("text", ["One window per key.", "The same source below a folder.", "None: the file is whole.", "All rows."])
def test_a_docstring_with_a_noun_passes(text: str) -> None:
    assert not HANGING.match(text)


def test_every_docstring_begins_with_what_it_speaks_of() -> None:
    found = [each for file in sorted(PACKAGE.rglob("*.py")) for each in docstrings(file)]
    assert len(found) > 3000
    assert [f"{place}: {text.splitlines()[0]}" for place, text in found if HANGING.match(text)] == []
