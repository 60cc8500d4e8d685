"""NEXMark 12: how many bids of a bidder in each ten seconds?"""

from examples.nexmark.site import EACH, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

arrived = Pipeline(
    name="q12",
    source=events("bid"),  # by event time: a batch that is read again has no processing time, which the original asks for
    keys=["bidder"],
    windows={"clock": windows.tumbling("10s")},
    aggregates={"bids": agg.count()},
    **EACH,
)
