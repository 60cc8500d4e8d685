"""Orders that change, and whose amounts look up a rate; and the naive answer: a loop over all rates."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import aggregates as agg
from muntin import sources
from muntin.sources.reading.lookup import Lookup
from tests.taken_back.delta_shop import AGGREGATES as OF_TABLES
from tests.taken_back.delta_shop import DeltaShop
from tests.taken_back.stories import AGGREGATES, Row, Shop, city, columns, moment

Key = str | int | None
Rate = tuple[Key, int, float]  # city or order, minute from which on it is valid, rate
SCHEMAS = {
    name: pa.schema([(name, kind), ("since", pa.timestamp("us", "UTC")), ("rate", pa.float64())])
    for name, kind in (("city", pa.string()), ("order", pa.int64()))
}


class Rates:
    """Rates in a file. `name`: of the key, city or order; `required`: whether an order without a rate is refused."""

    def __init__(self, path: Path, name: str, *, required: bool = False) -> None:
        self.path, self.name, self.required, self.all = path, name, required, list[Rate]()

    @property
    def lookup(self) -> Lookup:
        return sources.lookup(sources.files(str(self.path)), keys=[self.name], since="since", columns=["rate"], required=self.required)

    def write(self, rates: Sequence[Rate]) -> None:
        self.all = [*rates]
        told = [{self.name: key, "since": moment(since), "rate": rate} for key, since, rate in rates]
        pq.write_table(pa.Table.from_pylist(told, SCHEMAS[self.name]), self.path)

    def draw(self, dice: random.Random) -> None:
        """Draw other rates: some stay, some go, some come."""
        keys = ["Graz", "Linz"] if self.name == "city" else [*range(12)]
        kept = {(key, since): rate for key, since, rate in self.all if dice.random() < 0.7}
        new = {(dice.choice(keys), dice.randrange(-60, 420, 30)): dice.uniform(1, 2) for _ in range(dice.randint(0, 2 * len(keys)))}
        self.write([(*key, rate) for key, rate in (kept | new).items()])

    def found(self, row: Row) -> float | None:
        """The rate of an order."""
        best: Rate | None = None
        for each in self.all:
            valid = each[0] == (city(row) if self.name == "city" else row[1]) and row[2] is not None and each[1] <= row[2]
            if valid and (best is None or each[1] > best[1]):
                best = each
        return best and best[2]

    def beside(self, rows: Sequence[Row]) -> Mapping[str, pa.Array]:
        """The rows with their rates, as columns."""
        return {**columns(rows), "rate": pa.array(map(self.found, rows), pa.float64())}


class RatedShop(Shop):
    """A story whose orders look up the rate of their city. `required`: whether an order without a rate is refused."""

    def __init__(self, folder: Path, within: int = 3, form: str = "parquet", *, required: bool = False, **told: Any) -> None:
        super().__init__(folder, within, form, **told)
        self.rates = Rates(folder / "rates.parquet", "city", required=required)
        for hours, name in ((self.hours, "rates.rate"), (self.clean, "rate")):
            rated = {"euros": agg.sum(f"amount * {name}"), "rated": agg.count_if(f"{name} IS NOT NULL")}
            hours.other["aggregates"] = {**AGGREGATES, **rated}  # type: ignore[index]
        self.hours.other["lookups"] = {"rates": self.rates.lookup}  # type: ignore[index]

    def takes(self, row: Row) -> bool:
        return super().takes(row) and (not self.rates.required or row[0] in self.backs or self.rates.found(row) is not None)

    def cleaned(self, rows: Sequence[Row]) -> Mapping[str, pa.Array]:
        return self.rates.beside(rows)


class RatedTable(DeltaShop):
    """A table whose orders look up the rate of their number."""

    def __init__(self, folder: Path, *told: Any, **named: Any) -> None:
        super().__init__(folder, *told, **named)
        self.rates = Rates(folder / "rates.parquet", "order")

    @property
    def more(self) -> Mapping[str, Any]:
        return {"lookups": {"rates": self.rates.lookup}, "aggregates": _rated("rates.rate")}

    @property
    def more_when_clean(self) -> Mapping[str, Any]:
        return {"aggregates": _rated("rate")}

    def cleaned(self, rows: Sequence[Row]) -> Mapping[str, pa.Array]:
        return self.rates.beside(rows)


def _rated(rate: str) -> Mapping[str, Any]:
    return {**OF_TABLES, "euros": agg.sum(f"(amount * {rate} * 100)::BIGINT"), "rated": agg.count_if(f"{rate} IS NOT NULL")}
