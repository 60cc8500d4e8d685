"""NEXMark 18: the last bid of each bidder in each auction"""

from examples.nexmark.site import EACH, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

last_bids = Pipeline(
    name="q18",
    source=events("bid"),
    keys=["bidder", "auction"],
    windows={"ever": windows.all_time()},  # never final: read(..., provisional=True) shows it
    aggregates={"price": agg.last("price"), "channel": agg.last("channel")},
    **EACH,
)
