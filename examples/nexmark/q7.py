"""NEXMark 7: the highest bid of every ten seconds"""

from examples.nexmark.site import EACH, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

highest = Pipeline(
    name="q7",
    source=events("bid"),
    windows={"highest": windows.tumbling("10s")},
    aggregates={
        "price": agg.max("price"),
        "auctions": agg.max_by("auction", "price", ties=True),
        "bidders": agg.max_by("bidder", "price", ties=True),
    },
    **EACH,
)
