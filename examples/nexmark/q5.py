"""NEXMark 5: which auctions have the most bids of the last ten seconds, every two seconds?"""

from examples.nexmark.site import EACH, events
from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

counts = Pipeline(
    name="q5_counts",
    source=events("bid"),
    keys=["auction"],
    windows={"recent": windows.sliding("10s", step="2s")},
    aggregates={"bids": agg.count()},
    **EACH,
)
hottest = Pipeline(
    name="q5",
    source=sources.windows(counts, "recent", event_time="window_start"),  # windows of one start are rows of one instant
    windows={"hot": windows.tumbling("2s")},
    aggregates={"auctions": agg.max_by("auction", "bids", ties=True), "bids": agg.max("bids")},
    **EACH,
)
