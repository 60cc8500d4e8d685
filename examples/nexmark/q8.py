"""NEXMark 8: who opened an account and an auction within the same ten seconds?"""

from examples.nexmark.site import EACH, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

newcomers = Pipeline(
    name="q8",
    source={"persons": events("person"), "auctions": events("auction")},
    keys=["seller"],
    windows={"new": windows.tumbling("10s", having="name is not null and auctions > 0")},
    aggregates={"name": agg.max("name", source="persons"), "auctions": agg.count(source="auctions")},
    **EACH,
)
