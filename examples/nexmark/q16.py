"""NEXMark 16: bids, bidders and auctions of each day and channel, all and by how high the bids were"""

from examples.nexmark.q15 import BY_RANK
from examples.nexmark.site import EACH, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

channels = Pipeline(
    name="q16",
    source=events("bid"),
    keys=["channel"],
    windows={"day": windows.tumbling("1d")},
    aggregates={**BY_RANK, "newest": agg.max('"dateTime"')},
    **EACH,
)
