"""`private-names.md` has a row for each private use that the code has, and each row a use, and a test that `make newest` runs."""

import re
from dataclasses import dataclass
from functools import cache

import pytest

from tests.contracts.leaned_on import ERROR_TEXT, FOLDERS, ROOT, leaned_on

PAGE = ROOT / "tests/contracts/private-names.md"
ROW = re.compile(r"^\| `(?P<name>[^|]+)` \| (?P<modules>[^|]+) \| (?P<why>[^|]+) \| `(?P<test>\w+)` \|$", re.MULTILINE)
TESTS = "".join(
    file.read_text(encoding="utf-8") for folder in ("contracts", "end_to_end") for file in (ROOT / "tests" / folder).rglob("*.py")
)


@dataclass(frozen=True)
class Row:
    """A row of the page."""

    name: str
    modules: frozenset[str]
    test: str
    is_text: bool

    def is_of(self, found: str) -> bool:
        """Whether the row is about a name that the code has: the same, or its last word."""
        return self.name == found or self.name.endswith(f".{found}")


def rows() -> list[Row]:
    page, _, texts = PAGE.read_text(encoding="utf-8").partition("## Texts of errors")
    return [
        Row(found["name"], frozenset(re.findall(r"`(\w+)`", found["modules"])), found["test"], text is texts)
        for text in (page, texts)
        for found in ROW.finditer(text)
    ]


def lines(page: str) -> int:
    return len([line for line in page.splitlines() if line.startswith("| `")])


@cache
def modules(name: str) -> list[str]:
    """The code of the modules of a name, whatever folders they lie in."""
    return [file.read_text(encoding="utf-8") for folder in FOLDERS for file in folder.rglob(f"{name}.py")]


def test_every_line_of_a_table_is_a_row() -> None:
    assert len(rows()) == lines(PAGE.read_text(encoding="utf-8"))


def test_every_private_use_has_a_row() -> None:
    of_names = [row for row in rows() if not row.is_text]
    named = {found: {module for row in of_names if row.is_of(found) for module in row.modules} for found in leaned_on()}
    lacking = {found for found in leaned_on().keys() - {ERROR_TEXT} if not leaned_on()[found] <= named[found]}
    assert lacking == set(), f"give each a row in {PAGE.name}, with a test in tests/contracts, or do without it"


def test_every_module_that_looks_into_the_text_of_an_error_has_a_row() -> None:
    assert leaned_on()[ERROR_TEXT] <= {module for row in rows() if row.is_text for module in row.modules}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_every_row_is_about_code_that_is_there(row: Row) -> None:
    words = {row.name, row.name.rpartition(".")[2]} if re.fullmatch(r"[\w.]+", row.name) else {row.name}
    using = {module for module in row.modules if any(word in code for word in words for code in modules(module))}
    assert using == row.modules or (using and row.is_text), f"{sorted(row.modules - using)} has no {row.name!r}: mend the row, or remove it"


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_every_row_has_a_test(row: Row) -> None:
    assert f"def {row.test}(" in TESTS


def test_every_test_of_a_contract_has_a_row() -> None:
    of_ours = ("test_airflow.py", "test_size.py", "test_public_names.py", "test_private_names.py")
    files = [file for file in (ROOT / "tests/contracts").glob("*.py") if file.name not in of_ours]
    tests = {name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)}
    assert tests - {row.test for row in rows()} == set()
