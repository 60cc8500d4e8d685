"""NEXMark 12: how many bids of a bidder arrived in each ten seconds of the clock that stamps arrivals?"""

from examples.nexmark.site import EACH, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

arrived = Pipeline(
    name="q12",
    source=events("bid"),  # a batch that is read again has no processing time: the generator's bids are stamped as they arrive
    keys=["bidder"],
    windows={"clock": windows.tumbling("10s")},
    aggregates={"bids": agg.count()},
    **EACH,
)
