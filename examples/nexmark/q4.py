"""NEXMark 4: the mean of the winning bids of each category"""

from examples.nexmark.q9 import winners
from examples.nexmark.site import EACH
from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

means = Pipeline(
    name="q4",
    source=sources.windows(winners, "auction", event_time="window_end"),
    keys=["category"],
    windows={"ever": windows.all_time()},
    aggregates={"mean": agg.mean("price")},
    **EACH,
)
