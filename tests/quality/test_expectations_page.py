"""The code of docs/expectations.md: its suites can be loaded, and its trial of a suite runs."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from muntin.quality import load_suite
from tests.quality.conftest import Stage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/expectations.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_its_suites_can_be_loaded(tmp_path: Path) -> None:
    whole, one = map(json.loads, blocks("json"))
    for suite in (whole, {"name": "one", "expectations": [one]}):
        path = tmp_path / "suite.json"
        path.write_text(json.dumps(suite), encoding="utf-8")
        assert load_suite(path)


def test_its_trial_of_a_suite_runs(
    spark: "SparkSession", stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stage("windows.parquet", flights=[10] * 216, late=[2] * 216, delay=[12.5] * 216, worst=[80.0] * 216, batch=None)
    (tmp_path / "expectations").symlink_to(ROOT / "expectations")
    monkeypatch.chdir(tmp_path)
    (code,) = (code for code in blocks("python") if "load_suite" in code)
    names: dict[str, Any] = {"spark": spark}
    code = code.replace("windows.parquet", str(tmp_path / "windows.parquet"))  # Spark was started in another folder
    exec(compile(code, "expectations.md", "exec"), names)  # noqa: S102 - our own page
    assert "passed: 9 checks on 216 rows" in capsys.readouterr().out
