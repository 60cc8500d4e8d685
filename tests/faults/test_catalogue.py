"""The catalogue of faults has all of them, names tests that are there, and the page is made of it."""

import ast
import re
from pathlib import Path

import pytest

from docs.faults import PAGE, page
from tests.faults.catalogue import FAULTS, Fault

TESTS = Path(__file__).parents[1]
EVERY = [fault for faults in FAULTS.values() for fault in faults]


def test_there_are_forty_two() -> None:
    assert [fault.number for fault in EVERY] == [*range(1, 43)]


@pytest.mark.parametrize("fault", EVERY, ids=lambda fault: str(fault.number))
def test_its_tests_are_there(fault: Fault) -> None:
    assert fault.tests
    for path, name in (test.split("::") for test in fault.tests):
        tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, f"{path}::{name}"


def test_each_file_of_this_folder_is_named_by_its_fault() -> None:
    for file in sorted(Path(__file__).parent.glob("test_[0-9]*.py")):
        number = int(re.findall(r"\d+", file.name)[0])
        assert any(test.startswith(f"faults/{file.name}::") for test in EVERY[number - 1].tests), file.name


def test_the_page_is_made_of_it() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "write it anew by python -m docs.faults"
