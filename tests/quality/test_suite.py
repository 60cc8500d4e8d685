"""A suite is a file; what is wrong with the file is said when it is read."""

import subprocess
import sys
from pathlib import Path

import pytest

from muntin.errors import DefinitionError
from muntin.quality import load_suite
from muntin.quality.suite import Expectation, Suite, SuiteError

SHIPPED = Path(__file__).parents[2] / "expectations" / "flights_last_6_hours.json"


def loaded(tmp_path: Path, content: str) -> Suite:
    path = tmp_path / "flights.json"
    path.write_text(content, encoding="utf-8")
    return load_suite(path)


def test_a_failure_is_critical_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    content = '{"expectations": [{"type": "a"}, {"type": "b", "kwargs": {"column": "é"}, "severity": "info"}]}'
    suite = loaded(tmp_path, content)
    assert suite.expectations == (Expectation("a", {}, "critical"), Expectation("b", {"column": "é"}, "info"))
    assert suite.name == "flights"


@pytest.mark.parametrize(
    ("kwargs", "columns"),
    [
        ({"min_value": 1}, ()),
        ({"column": "delay"}, ("delay",)),
        ({"column_B": "late", "column_A": "flights"}, ("flights", "late")),
        ({"column_list": ["b", "a"], "sum_total": 3}, ("b", "a")),
    ],
)
def test_an_expectation_knows_its_columns(kwargs: dict[str, object], columns: tuple[str, ...]) -> None:
    assert Expectation("any", kwargs).columns == columns


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{'expectations': []}", "not JSON"),
        ("[]", "an object was expected, found list"),
        ("{}", "no expectations"),
        ('{"expectations": []}', "no expectations"),
        ('{"expectations": {}}', "no expectations"),
        ('{"expectation": []}', "unknown field 'expectation'; did you mean expectations?"),
        ('{"expectations": [{"type": "a"}, 7]}', "expectation 2: an object was expected, found int"),
        ('{"expectations": [{"type": "a", "severty": "info"}]}', "'severty'; did you mean severity?"),
        ('{"expectations": [{"type": "a", "severity": "Critical"}]}', "'Critical'; did you mean critical?"),
        ('{"expectations": [{"type": "a", "severity": ["info"]}]}', "one of critical, warning, info"),
        ('{"expectations": [{"kwargs": {}}]}', "`type` must name an expectation"),
        ('{"expectations": [{"type": "a", "kwargs": []}]}', "`kwargs` must be an object"),
        ('{"expectations": [{"type": "a", "kwargs": {"max_value": {"$PARAMETER": "m"}}}]}', "not supported"),
    ],
)
def test_a_suite_that_cannot_be_is_refused_with_its_file_and_the_reason(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(SuiteError) as refused:
        loaded(tmp_path, content)
    assert said in str(refused.value)
    assert "flights.json" in str(refused.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="no such suite"):
        load_suite(tmp_path / "nowhere.json")
    with pytest.raises(SuiteError, match="cannot be read"):
        load_suite(tmp_path)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(SuiteError, match="not JSON"):
        load_suite(path)


def test_a_wrong_suite_is_a_wrong_definition() -> None:
    assert issubclass(SuiteError, DefinitionError)


def test_the_shipped_suite_can_be_read_and_uses_both_severities() -> None:
    suite = load_suite(str(SHIPPED))
    assert {expectation.severity for expectation in suite.expectations} == {"critical", "warning"}


def test_importing_the_package_and_reading_a_suite_import_neither_spark_nor_great_expectations() -> None:
    script = (
        "import sys; from muntin.quality import load_suite; load_suite(sys.argv[1]);"
        "print(sorted({'pyspark', 'great_expectations'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", script, SHIPPED]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (ran.stdout.strip(), ran.returncode) == ("[]", 0), ran.stderr
