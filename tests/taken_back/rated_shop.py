"""Orders that change, and whose amounts look up the rate of their city; and the naive answer: a loop over all rates."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import aggregates as agg
from muntin import sources
from tests.taken_back.stories import AGGREGATES, DELETES, Row, Shop, city, moment

Rate = tuple[str, int, float]  # city, minute from which on it is valid, rate
RATES = pa.schema([("city", pa.string()), ("since", pa.timestamp("us", "UTC")), ("rate", pa.float64())])


class RatedShop(Shop):
    """A story whose orders look up rates. `required`: whether an order without a rate is refused."""

    def __init__(self, folder: Path, within: int = 3, form: str = "parquet", *, required: bool = False, **told: Any) -> None:
        super().__init__(folder, within, form, **told)
        self.path, self.required, self.rates = folder / "rates.parquet", required, list[Rate]()
        rates = sources.lookup(sources.files(str(self.path)), keys=["city"], since="since", columns=["rate"], required=required)
        for hours, name in ((self.hours, "rates.rate"), (self.clean, "rate")):
            rated = {"euros": agg.sum(f"amount * {name}"), "rated": agg.count_if(f"{name} IS NOT NULL")}
            hours.other["aggregates"] = {**AGGREGATES, **rated}  # type: ignore[index]
        self.hours.other["lookups"] = {"rates": rates}  # type: ignore[index]

    def rate(self, rates: Sequence[Rate]) -> None:
        """Write the dimension."""
        self.rates = [*rates]
        told = [{"city": city, "since": moment(since), "rate": rate} for city, since, rate in rates]
        pq.write_table(pa.Table.from_pylist(told, RATES), self.path)

    def rate_anew(self, dice: random.Random) -> None:
        """Draw another dimension: some rates stay, some go, some come."""
        kept = {(city, since): rate for city, since, rate in self.rates if dice.random() < 0.7}
        new = {(dice.choice(["Graz", "Linz"]), dice.randrange(-60, 420, 30)): dice.uniform(1, 2) for _ in range(dice.randint(0, 4))}
        self.rate([(*key, rate) for key, rate in (kept | new).items()])

    def found(self, row: Row) -> float | None:
        """The rate of an order."""
        best: Rate | None = None
        for each in self.rates:
            valid = each[0] == city(row) and row[2] is not None and each[1] <= row[2]
            if valid and (best is None or each[1] > best[1]):
                best = each
        return best and best[2]

    def takes(self, row: Row) -> bool:
        return super().takes(row) and (not self.required or row[0] in DELETES or self.found(row) is not None)

    def cleaned(self, rows: Sequence[Row]) -> Mapping[str, pa.Array]:
        return {**super().cleaned(rows), "rate": pa.array(map(self.found, rows), pa.float64())}
