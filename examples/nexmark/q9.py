"""NEXMark 9: the winning bid of each auction: the highest while it was open, of several the first"""

from examples.nexmark.site import EACH, FOLDER, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

auctions = f"{FOLDER}/auction/*.parquet"
winners = Pipeline(
    name="q9",
    source=events("bid"),
    keys=["auction"],
    windows={
        "auction": windows.given(
            auctions, start="dateTime", end="closes", keys=["auction"], columns=["category", "seller"], resolution="1ms"
        )
    },
    aggregates={"price": agg.max("price"), "bidder": agg.max_by("bidder", "price")},
    **EACH,
)
