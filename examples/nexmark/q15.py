"""NEXMark 15: bids, bidders and auctions of each day, all and by how high the bids were"""

from examples.nexmark.site import EACH, RANKS, events
from muntin import Pipeline, windows
from muntin import aggregates as agg

BY_RANK = {
    "total": agg.count(),
    **{f"bids_{rank}": agg.count_if(is_rank) for rank, is_rank in RANKS.items()},
    "bidders": agg.count_distinct("bidder"),
    **{f"bidders_{rank}": agg.count_distinct("bidder", where=is_rank) for rank, is_rank in RANKS.items()},
    "auctions": agg.count_distinct("auction"),
    **{f"auctions_{rank}": agg.count_distinct("auction", where=is_rank) for rank, is_rank in RANKS.items()},
}

days = Pipeline(
    name="q15",
    source=events("bid"),
    windows={"day": windows.tumbling("1d")},
    aggregates=BY_RANK,
    **EACH,
)
