"""NEXMark 20: the bids for auctions of category 10, with facts of the auction"""

from examples.nexmark.site import EACH, FOLDER, events
from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

bids = Pipeline(
    name="q20",
    source=events("bid"),
    lookups={"auctions": sources.lookup(sources.files(f"{FOLDER}/auction/*.parquet"), keys=["auction"], since="dateTime")},
    where="auctions.category = 10",
    keys=["auction"],
    windows={"minute": windows.tumbling("1m")},
    aggregates={"seller": agg.max("auctions.seller"), "prices": agg.collect("price"), "bidders": agg.collect("bidder")},
    **EACH,
)
