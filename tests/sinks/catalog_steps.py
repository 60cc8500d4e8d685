"""What becomes of names in a catalog, step by step, in a Spark with Delta and a metastore of Hive.

Arguments: a folder, jars, the address of the metastore.
"""

import json
import os
import shutil
import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable

from muntin import Pipeline, read, sinks
from muntin.extensions.catalog.registered import register
from muntin.extensions.contracts.contract import contract
from muntin.jobs.sending.notes import Patience
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from tests.sinks.dying_catalog import Fate
from tests.storage.crashing import Crash
from tests.storage.test_changes_since import Changing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session_with_metastore(jars: str, address: str) -> "SparkSession":
    """A session whose catalog is a metastore of Hive behind thrift."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars": jars,
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": address,
        "spark.sql.warehouse.dir": "warehouse",
        "spark.sql.session.timeZone": "Asia/Kolkata",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    return SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()


@dataclass(frozen=True)
class Named(Changing):
    """As `Changing`; its windows have names in a catalog, when somebody sends them."""

    session: Any = None
    state: str = "state"
    owner: str | None = "data-team"

    def named(self, table: str = "shop.{window}", window: str | None = "hours") -> Pipeline:
        return replace(self.pipeline, to=sinks.catalog(table, window=window, owner=self.owner))

    def sent(self, *, anew: bool = False, **more: Any) -> str:
        return self.all_sent(anew=anew, **more)[0]

    def all_sent(self, *, anew: bool = False, **more: Any) -> list[str]:
        bound = bind(self.named(**more), self.folder / self.state)
        return [one.line for one in send(bound, Reach(of_environment, lambda: nullcontext(self.session)), anew=anew)]

    @property
    def commits(self) -> int:
        return len([*(self.folder / self.state / "changing/windows/hours/_delta_log").glob("*.json")])

    @property
    def definition(self) -> str:
        return bind(self.pipeline, self.folder / self.state).state

    def by_name(self) -> str:
        return told(self.session.table("shop.hours").toArrow())

    def published(self) -> str:
        return told(read(self.pipeline, "hours", root=self.folder / self.state))

    def agreed(self) -> dict[str, str]:
        """The words of `muntin check --contract`: of each column, and of the table."""
        (table,) = (each for each in contract(self.pipeline, root=self.folder / self.state)["schema"] if each["name"] == "hours")
        return {each["name"]: each["description"] for each in table["properties"]} | {"Comment": table["description"]}

    def says(self) -> dict[str, Any]:
        """Comments of columns, the table's own, and its properties."""
        rows = self.session.sql("DESCRIBE TABLE EXTENDED shop.hours").collect()
        properties = self.session.sql("SHOW TBLPROPERTIES shop.hours").collect()
        ours = {row["key"]: row["value"] for row in properties if row["key"].startswith("muntin.")}
        return {row["col_name"]: row["comment"] or row["data_type"] for row in rows if row["col_name"]} | ours


def told(rows: Any) -> str:
    """Rows of Arrow as one text, ascending."""
    return str(sorted(tuple(str(value) for value in row.values()) for row in rows.to_pylist()))


def steps(small: Named) -> dict[str, Any]:
    """A name -> what was found."""
    found: dict[str, Any] = {"before": small.sent()}
    small.write_all()
    small.ran(0, 1)
    found |= {"first": small.sent(), "rows": [small.by_name(), small.published()], "says": small.says()}
    found |= {"agreed": small.agreed(), "definition": small.definition}
    commits = small.commits
    found |= {"again": small.sent(), "commits of the second time": small.commits - commits}
    small.session.sql("DROP TABLE shop.hours")
    found |= {"dropped": small.sent()}
    small.ran(2)
    found |= {"rows after a publication": [small.by_name(), small.published()]}
    found |= {"all at once": small.all_sent(table="all.{window}", window=None)}
    found["killed"] = killed(small)
    return found | changed(small) | of_others(small) | moved(replace(small, more=True, owner=None))


@dataclass(frozen=True)
class Dying:
    """A session that dies behind one of its statements."""

    session: Any
    fate: Fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session, name)

    def sql(self, text: str) -> Any:
        return self.fate.step(text, self.session.sql, text)


def killed(small: Named) -> dict[str, list[Any]]:
    """The step behind which a run ended -> whether there was a name then; what the next run said; rows by name, and the owner."""
    found: dict[str, list[Any]] = {}
    for at in range(100):
        fate, own = Fate(at, after=True), replace(small, owner=f"team-{at}")
        bound = bind(own.named(table=(table := f"killed_{at}.{{window}}")), small.folder / small.state)
        reach = Reach(of_environment, lambda fate=fate: fate.step("the log has the properties", nullcontext, Dying(small.session, fate)))
        try:
            register(bound, bound.sinks[0], reach, Patience(300))
        except Crash as crash:
            name = f"killed_{at}.hours"
            there, line = small.session.catalog.tableExists(name), own.sent(table=table)
            owner = DeltaTable(str(small.table("hours"))).metadata().configuration["muntin.owner"]
            found[str(crash)] = [there, line[:6], told(small.session.table(name).toArrow()), owner]
        else:
            return found
    raise AssertionError(found)


def changed(small: Named) -> dict[str, Any]:
    """The definition gets another result and loses its owner. A run promotes it when it has all batches."""
    more = replace(small, more=True, owner=None)
    more.ran(0)
    told = {"not promoted": [more.sent(), more.says()]}
    more.ran(1, 2)
    told |= {"promoted": [more.sent(), more.says()]}
    return told | {"rows of the new definition": [more.by_name(), more.published()], "new definition": more.definition}


def of_others(small: Named) -> dict[str, Any]:
    """Names that other people gave: to a managed table, a view, tables of CSV and of Delta."""
    small.session.sql("CREATE TABLE shop.managed USING delta AS SELECT 1 AS x")
    small.session.sql("CREATE VIEW shop.view AS SELECT 1 AS x")
    small.session.sql(f"CREATE TABLE shop.elsewhere USING delta LOCATION '{small.folder}/elsewhere' AS SELECT 1 AS x")
    small.session.sql(f"CREATE TABLE shop.csv (x INT) USING csv LOCATION '{small.table('hours')}'")
    small.session.sql(
        f"CREATE TABLE shop.purged (x INT) USING csv LOCATION '{small.folder}' TBLPROPERTIES ('external.table.purge' = 'true')"
    )
    names = ["managed", "purged", "view", "elsewhere", "csv"]
    found = {name: [small.sent(table=f"shop.{name}"), small.sent(table=f"shop.{name}", anew=True)] for name in names}
    left = [small.session.table(name).count() for name in ("shop.managed", "shop.view", f"delta.`{small.folder}/elsewhere`")]
    return {"others": found, "rows of others": left}


def moved(small: Named) -> dict[str, Any]:
    """A copy of the root is refused the name; the root itself, moved, keeps it."""
    shutil.copytree(small.folder / "state", small.folder / "copy")
    copied = replace(small, state="copy").sent()
    shutil.move(small.folder / "state", small.folder / "moved")
    there = replace(small, state="moved")
    return {"copied": copied, "moved": there.sent(), "rows of the moved root": [there.by_name(), there.published()]}


if __name__ == "__main__":
    folder, jars, address = sys.argv[1:]
    print(json.dumps(steps(Named(Path(folder), session=session_with_metastore(jars, address)))))
