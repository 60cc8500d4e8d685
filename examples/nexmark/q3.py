"""NEXMark 3: who sells in Oregon, Idaho or California, and which auctions of category 10?"""

from examples.nexmark.site import EACH, FOLDER, events
from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

sellers = Pipeline(
    name="q3",
    source=events("auction"),
    lookups={"persons": sources.lookup(sources.files(f"{FOLDER}/person/*.parquet"), keys=["seller"], since="dateTime")},
    where="category = 10 AND persons.state IN ('OR', 'ID', 'CA')",
    keys=["seller"],
    windows={"minute": windows.tumbling("1m")},
    aggregates={"name": agg.max("persons.name"), "city": agg.max("persons.city"), "auctions": agg.collect("id")},
    **EACH,
)
