"""Great Expectations: what a new minor version may move without a word. See `tests/contracts/private-names.md`."""

import logging
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muntin.quality import gx
from muntin.quality.spark_frame import SparkFrame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.gx
SEVEN = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "n", "max_value": 7}, "meta": {"position": 3}}


def test_the_registry_lists_expectations_by_type() -> None:
    gx.imported()
    from great_expectations.expectations.registry import list_registered_expectation_implementations

    assert {SEVEN["type"], "unexpected_rows_expectation"} <= {*list_registered_expectation_implementations()}


def test_a_configuration_becomes_an_expectation() -> None:
    gx.imported()
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    expectation = ExpectationConfiguration(**SEVEN).to_domain_obj()
    assert (gx.position(expectation), gx.kind(expectation)) == (3, "rows")
    with pytest.raises((TypeError, ValueError), match="colum"):
        ExpectationConfiguration(type=SEVEN["type"], kwargs={"colum": "n"}).to_domain_obj()


def test_questions_go_to_the_session_that_is_given(spark: "SparkSession") -> None:
    other = spark.newSession()
    source = gx.imported().get_context(mode="ephemeral").data_sources.add_spark("some", persist=False)
    source._spark = other
    assert source.get_execution_engine().spark is other


def test_no_progress_is_shown(capfd: pytest.CaptureFixture[str], spark: "SparkSession") -> None:
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    expectation = ExpectationConfiguration(**SEVEN).to_domain_obj()
    outcome = gx.judge(SparkFrame(spark, spark.range(9).selectExpr("id as n")), [expectation], gx.NUMBERS)[3]
    assert (outcome.success, outcome.error, outcome.result["unexpected_count"]) == (False, None, 1)
    assert "Calculating Metrics" not in "".join(capfd.readouterr())


def test_what_broke_is_told_by_metric(spark: "SparkSession") -> None:
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    expectation = ExpectationConfiguration(**{**SEVEN, "kwargs": {"column": "gone", "max_value": 7}}).to_domain_obj()
    outcome = gx.judge(SparkFrame(spark, spark.range(9).selectExpr("id as n")), [expectation], gx.NUMBERS)[3]
    assert outcome.error is not None
    assert "gone" in outcome.error


def test_a_log_of_its_own_level_is_where_we_look_for_it() -> None:
    gx.imported()
    assert "great_expectations.data_context.types.base" in logging.Logger.manager.loggerDict
    assert logging.getLogger("great_expectations.data_context.types.base").level != logging.INFO


def test_it_imports_what_it_seldom_uses(tmp_path: Path) -> None:
    words = f"import sys, great_expectations; print(*[name for name in {gx.SELDOM_USED} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", words], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [*gx.SELDOM_USED], "what it no longer imports need not be put off"
