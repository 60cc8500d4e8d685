"""Processes that open a new catalog at once each make the tables of its database, and one of them comes first; and disks are full."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.sql import IcebergNamespaceProperties, IcebergTables
from sqlalchemy import Table, event
from sqlalchemy.schema import CreateTable

from muntin.extensions.iceberg.catalogs import catalog_of
from muntin.sinks.addresses import of_environment
from muntin.sinks.errors import SinkError
from tests.soak.disks import can_mount, mounted

BOTH = [IcebergTables.__table__, IcebergNamespaceProperties.__table__]


@contextmanager
def another_first(database: Path, tables: list[Any]) -> Iterator[list[str]]:
    """Another process makes some tables, each after it was seen that the table lacks, and before it is made here; their names."""
    made = list[str]()

    def make(table: Table, *_: Any, **__: Any) -> None:
        if table.name not in made:
            made.append(table.name)
            with sqlite3.connect(database) as other:
                other.execute(str(CreateTable(table)))

    for table in tables:
        event.listen(table, "before_create", make)
    try:
        yield made
    finally:
        for table in tables:
            event.remove(table, "before_create", make)


@pytest.mark.parametrize("tables", [[], *([each] for each in BOTH), BOTH], ids=["none", "tables", "namespaces", "both"])
def test_a_catalog_whose_tables_another_process_makes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: list[Any]) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{tmp_path}/lake.db")
    with (
        another_first(tmp_path / "lake.db", tables) as made,
        catalog_of("lake", of_environment, down=SinkError, refused=SinkError) as catalog,
    ):
        catalog.create_namespace("shop")
        assert catalog.list_namespaces() == [("shop",)]
    assert made == [each.name for each in tables]


@pytest.mark.skipif(not can_mount(), reason="needs the right to mount")
def test_the_catalog_lies_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{tmp_path}/disk/lake.db")
    with mounted(tmp_path / "disk"):
        with suppress(OSError), (tmp_path / "disk/other").open("wb", buffering=0) as file:
            while file.write(bytes(1 << 20)):
                pass
        with (
            pytest.raises(SinkError, match=r"disk is full .+; free space on the disk where the catalog's file lies$"),
            catalog_of("lake", of_environment, down=SinkError, refused=SinkError),
        ):
            pass
