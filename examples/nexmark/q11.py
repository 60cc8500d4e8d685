"""NEXMark 11: how many bids did a bidder make in each session of activity?"""

from examples.nexmark.site import EACH, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

sessions = Pipeline(
    name="q11",
    source=events("bid"),
    keys=["bidder"],
    windows={"active": windows.session("10s")},
    aggregates={"bids": agg.count()},
    **EACH,
)
