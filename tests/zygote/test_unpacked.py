"""The path of Spark's Python: no archive is read where PySpark's folder holds the same."""

import sys
from pathlib import Path

import pytest

from muntin.extensions.zygote.quick_answers import use_folders, without_archives


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Where pip installed PySpark."""
    return with_pyspark(tmp_path / "site-packages")


def with_pyspark(folder: Path) -> Path:
    (folder / "pyspark").mkdir(parents=True)
    (folder / "pyspark/__init__.py").write_text("")
    return folder


def archives(home: Path) -> list[str]:
    return [f"{home}/python/lib/pyspark.zip", f"{home}/python/lib/py4j-0.10.9.9-src.zip", f"{home}/jars/spark-core_2.13-4.1.3.jar"]


def test_of_an_installed_pyspark_the_archive_is_not_needed(packages: Path) -> None:
    _, py4j, _ = here = archives(packages / "pyspark")
    assert without_archives(["", *here, "/mine", str(packages)]) == ["", py4j, "/mine", str(packages)]


def test_of_a_distribution_of_spark_the_folder_stands_where_the_archive_stood(tmp_path: Path, packages: Path) -> None:
    _, py4j, _ = here = archives(tmp_path / "spark")
    folder = with_pyspark(tmp_path / "spark/python")
    assert without_archives(["", *here, "/mine", str(packages)]) == ["", str(folder), py4j, "/mine", str(packages)]


def test_another_pyspark_in_the_path_does_not_come_first(tmp_path: Path, packages: Path) -> None:
    pyspark, py4j, _ = here = archives(packages / "pyspark")
    other = with_pyspark(tmp_path / "other")
    assert without_archives([*here, str(other), str(packages)]) == [pyspark, py4j, str(other), str(packages)]


def test_an_archive_alone_stays(tmp_path: Path) -> None:
    pyspark, py4j, _ = here = archives(tmp_path / "spark")
    assert without_archives(here) == [pyspark, py4j]


def test_what_is_left_out_is_not_read_again(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = archives(packages / "pyspark")
    monkeypatch.setattr(sys, "path", [*here, str(packages)])
    monkeypatch.setattr(sys, "path_importer_cache", dict.fromkeys([*here, str(packages)]))
    use_folders()
    assert [*sys.path_importer_cache] == sys.path == [here[1], str(packages)]
