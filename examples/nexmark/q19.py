"""NEXMark 19: the ten highest bids of each auction"""

from examples.nexmark.site import EACH, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

highest = Pipeline(
    name="q19",
    source=events("bid"),
    keys=["auction"],
    windows={"ever": windows.all_time()},  # never final: read(..., provisional=True) shows it
    aggregates={"prices": agg.max("price", n=10), "bidders": agg.max_by("bidder", "price", n=10)},
    **EACH,
)
