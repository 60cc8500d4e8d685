"""NEXMark 6: the mean of the winning bids of each seller's last ten auctions"""

from examples.nexmark.q9 import winners
from examples.nexmark.site import EACH
from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

means = Pipeline(
    name="q6",
    source=sources.windows(winners, "auction", event_time="window_end"),  # auctions come in the order in which they close
    keys=["seller"],
    windows={"last_ten": windows.arrival(windows.by_count(10), trigger=windows.by_count(1), incomplete=True)},
    aggregates={"mean": agg.mean("price")},
    **EACH,
)
