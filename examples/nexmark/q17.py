"""NEXMark 17: the bids of each day and auction: how many, how high, and how many of each height"""

from examples.nexmark.site import EACH, RANKS, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

auctions = Pipeline(
    name="q17",
    source=events("bid"),
    keys=["auction"],
    windows={"day": windows.tumbling("1d")},
    aggregates={
        "total": agg.count(),
        **{f"bids_{rank}": agg.count_if(is_rank) for rank, is_rank in RANKS.items()},
        "least": agg.min("price"),
        "greatest": agg.max("price"),
        "mean": agg.mean("price"),
        "sum": agg.sum("price"),
    },
    **EACH,
)
