"""Delta tables as Spark writes them, with the features of which a reader must know.

`python -m tests.tables.delta_of_spark` writes the record anew, from which `make test` reads them: Spark takes a minute.
No Delta is there for this Spark that alters a table, or reads a checkpoint. So a line RENAME, DROP or MAP of ours writes the commit
that ALTER TABLE would write, and RESTORE, which makes a checkpoint, comes last: what it gives back is read before.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zipfile import ZipFile

from tests.conftest import JARS

RECORD = Path(__file__).with_name("delta_of_spark.zip")
AT = "timestamp'2024-05-01 10:00:00'"
COLUMNS = "(id BIGINT, at TIMESTAMP, x DOUBLE, city STRING)"
THIRTY = f"INSERT INTO {{t}} SELECT id, {AT}, cast(id AS double), concat('c', id % 3) FROM range(0, 30, 1, 1)"
MORE = f"INSERT INTO {{t}} VALUES (100, {AT}, 0.5, 'd')"
MARKED, PLAIN = "delta.enableDeletionVectors = true", "delta.enableDeletionVectors = false"
MERGED = "SET spark.databricks.delta.schema.autoMerge.enabled = true"
BY_NAME = "delta.columnMapping.mode = 'name'"
CHANGED = (
    "DELETE FROM {t} WHERE id IN (3, 4, 7)",
    "DELETE FROM {t} WHERE id IN (11, 12)",
    "UPDATE {t} SET x = 1000 WHERE id = 5",
    "RESTORE TABLE {t} TO VERSION AS OF 3",
)
RENAMED = ("RENAME {t} x y", MORE, "DELETE FROM {t} WHERE id = 2")
IN_PARTITIONS = (
    "RENAME {t} x y",
    "RENAME {t} city town",
    f"INSERT INTO {{t}} VALUES (100, {AT}, 0.5, 'a/b=c#d%41 é'), (101, {AT}, 1.5, NULL), (102, {AT}, 2.5, 'c1')",
    "DELETE FROM {t} WHERE id IN (2, 7)",
    "DELETE FROM {t} WHERE town = 'c0'",
)


class Table(NamedTuple):
    """Its properties, its commits behind the insert, and a column of it that is read."""

    properties: str
    more: tuple[str, ...] = ()
    value: str = "x"
    columns: str = COLUMNS
    insert: str = THIRTY
    form: str = ""


NESTED = Table(
    f"{PLAIN}, {BY_NAME}",
    ("RENAME {t} a b", f"INSERT INTO {{t}} VALUES (2, {AT}, named_struct('b', 5, 'c d', 6), array(named_struct('k', 1)))"),
    "s.b",
    "(id BIGINT, at TIMESTAMP, s STRUCT<a: INT, `c d`: INT>, l ARRAY<STRUCT<k: INT>>)",
    f"INSERT INTO {{t}} VALUES (1, {AT}, named_struct('a', 1, 'c d', 2), array(named_struct('k', 7)))",
)
WIDENED = Table(
    f"{MARKED}, delta.enableTypeWidening = true",
    (MERGED, f"INSERT INTO {{t}} VALUES (2, {AT}, 5000000000)", "DELETE FROM {t} WHERE id = 0"),
    columns="(id BIGINT, at TIMESTAMP, x INT)",
    insert=f"INSERT INTO {{t}} SELECT id, {AT}, cast(id AS int) FROM range(0, 2, 1, 1)",
)
TABLES: Mapping[str, Table] = {
    "marked": Table(MARKED, CHANGED),
    "marked and fed": Table(f"{MARKED}, delta.enableChangeDataFeed = true", CHANGED),
    "marked in partitions": Table(MARKED, CHANGED[:2], form="PARTITIONED BY (city)"),
    "checkpoints of the second kind": Table(f"{MARKED}, delta.checkpointPolicy = 'v2'", CHANGED),
    "mapped by name": Table(f"{MARKED}, {BY_NAME}", RENAMED, "y"),
    "mapped by name and fed": Table(f"{MARKED}, {BY_NAME}, delta.enableChangeDataFeed = true", RENAMED, "y"),
    "mapped by number": Table(f"{MARKED}, delta.columnMapping.mode = 'id'", RENAMED, "y"),
    "mapped later": Table(PLAIN, ("MAP {t}", *RENAMED), "y"),
    "dropped and added": Table(
        f"{PLAIN}, {BY_NAME}", ("DROP {t} x", MERGED, f"INSERT INTO {{t}} BY NAME SELECT 100L AS id, {AT} AS at, 'd' AS city, 0.5D AS x")
    ),
    "members": NESTED,
    "numbers of rows": Table(f"{MARKED}, delta.enableRowTracking = true", CHANGED),
    "clustered": Table(MARKED, ("OPTIMIZE {t}", *CHANGED[:2]), form="CLUSTER BY (city)"),
    "widened": WIDENED,
    "without a zone": Table(
        MARKED,
        CHANGED[:1],
        columns="(id BIGINT, at TIMESTAMP_NTZ, x DOUBLE)",
        insert="INSERT INTO {t} SELECT id, timestamp_ntz'2024-05-01 10:00:00', cast(id AS double) FROM range(0, 9, 1, 1)",
    ),
    "variant": Table(PLAIN, (), "id", "(id BIGINT, at TIMESTAMP, v VARIANT)", f"INSERT INTO {{t}} SELECT 1, {AT}, parse_json('[1]')"),
    "mapped in partitions": Table(f"{MARKED}, {BY_NAME}", IN_PARTITIONS, "y", form="PARTITIONED BY (city)"),
    "mapped by number in partitions": Table(
        f"{MARKED}, delta.columnMapping.mode = 'id', delta.enableChangeDataFeed = true", IN_PARTITIONS, "y", form="PARTITIONED BY (city)"
    ),
    "mapped later in partitions": Table(PLAIN, ("MAP {t}", *IN_PARTITIONS), "y", form="PARTITIONED BY (city)"),
}
PROGRAM = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession

def alter(what, table, names):
    names, commits = names.split(), sorted(Path(table, "_delta_log").glob("*.json"))
    lines = [json.loads(line) for file in commits for line in file.read_text().splitlines()]
    [metadata] = [line["metaData"] for line in lines if "metaData" in line][-1:]
    schema, written = json.loads(metadata["schemaString"]), []
    if what.startswith("DROP"):
        schema["fields"] = [field for field in schema["fields"] if field["name"] not in names]
    elif what.startswith("MAP"):
        for number, field in enumerate(schema["fields"], 1):
            field["metadata"] = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": field["name"]}
        metadata["configuration"] |= {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": str(len(schema["fields"]))}
        written.append({"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}})
    else:
        structs = [field["type"] for field in schema["fields"] if isinstance(field["type"], dict)]
        for field in [*schema["fields"], *(inner for struct in structs for inner in struct.get("fields", []))]:
            field["name"] = names[1] if field["name"] == names[0] else field["name"]
        metadata["partitionColumns"] = [names[1] if each == names[0] else each for each in metadata["partitionColumns"]]
    metadata["schemaString"] = json.dumps(schema)
    lines = [{"commitInfo": {"operation": what, "timestamp": 0}}, {"metaData": metadata}, *written]
    commits[-1].with_name(f"{int(commits[-1].stem) + 1:020d}.json").write_text("\\n".join(map(json.dumps, lines)))

settings = {
    "spark.jars": ",".join(sys.argv[1:]),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
for line in sys.stdin:
    if line.split(" ")[0] in ("RENAME", "DROP", "MAP"):
        alter(*line.split("`"))
        continue
    answer = session.sql(line)
    if line.startswith("SELECT"):
        print("VALUES", json.dumps([row[0] for row in answer.collect()]))
session.stop()
"""


def write(folder: Path) -> dict[str, list[float | None]]:
    """Let Spark write the tables below a folder; the values that it then reads of each."""
    lines = list[str]()
    for name, table in TABLES.items():
        place = f"delta.`{folder / name}`"
        lines.append(f"CREATE TABLE {place} {table.columns} USING delta {table.form} TBLPROPERTIES ({table.properties})")
        select, statements = f"SELECT {table.value} FROM {place} ORDER BY id", (table.insert, *table.more)
        lines += [line for each in statements for line in (*([select] * each.startswith("UPDATE")), each.format(t=place))]
        lines += [select] * (table.more != CHANGED)
    here = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", PROGRAM, *map(str, JARS)]
    answers = subprocess.run(command, input="\n".join(lines), text=True, check=True, env=here, cwd=folder, stdout=subprocess.PIPE).stdout
    values = [json.loads(line.removeprefix("VALUES ")) for line in answers.splitlines() if line.startswith("VALUES ")]
    return dict(zip(TABLES, values, strict=True))


def recorded(folder: Path) -> dict[str, list[float | None]]:
    """Lay the recorded tables below a folder; the values that Spark read of each."""
    with ZipFile(RECORD) as record:
        record.extractall(folder)
    return json.loads((folder / "values.json").read_text())  # type: ignore[no-any-return]


if __name__ == "__main__":
    with TemporaryDirectory() as made, ZipFile(RECORD, "w", compression=8) as new:
        values = write(Path(made))
        Path(made, "values.json").write_text(json.dumps(values))
        for file in sorted(Path(made).rglob("*")):
            if file.is_file() and not file.name.endswith(".crc"):
                new.write(file, file.relative_to(made))
