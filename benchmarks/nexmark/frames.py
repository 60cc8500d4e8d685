"""NEXMark's queries by Polars' own expressions, over frames `bid`, `auction` and `person` that are read when they are asked for."""

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
from polars import col

from benchmarks.nexmark.queries import KINDS

_TWO, _TEN, _MINUTE, _DAY = 2_000_000, 10_000_000, 60_000_000, 86_400_000_000
_RANKS = {"low": col("price") < 10_000, "middle": col("price").is_between(10_000, 999_999), "high": col("price") >= 1_000_000}


def frames(folder: Path) -> dict[str, pl.LazyFrame]:
    """The events of each kind, with `us`, microseconds since 1970."""
    return {kind: pl.scan_parquet(folder / kind / "*.parquet").with_columns(us=col("dateTime").dt.epoch("us")) for kind in KINDS}


def _placed(frame: pl.LazyFrame, width: int) -> pl.LazyFrame:
    return frame.with_columns(begins=col("us") - col("us") % width)


def _until(frame: pl.LazyFrame, width: int) -> pl.LazyFrame:
    return frame.with_columns(ends=col("begins") + width)


def _counted() -> dict[str, pl.Expr]:
    return {"total": pl.len().cast(pl.Int64), **{f"bids_{word}": rank.sum().cast(pl.Int64) for word, rank in _RANKS.items()}}


def _by_rank(bid: pl.LazyFrame, *keys: str) -> pl.LazyFrame:
    """Rows of a bidder or an auction become one before they are counted."""
    bids, sums = _placed(bid, _DAY), [col("newest").max(), *(col(name).sum() for name in _counted())]

    def each(of: str, *more: pl.Expr) -> pl.LazyFrame:
        some = {f"{of}s_{word}": (col(f"bids_{word}") > 0).sum().cast(pl.Int64) for word in _RANKS}
        rows = bids.group_by(*keys, "begins", of).agg(newest=col("us").max(), **_counted())
        return rows.group_by(*keys, "begins").agg(*more, **{f"{of}s": pl.len().cast(pl.Int64)}, **some)

    return _until(each("bidder", *sums).join(each("auction"), on=[*keys, "begins"]), _DAY)


def _q3(auction: pl.LazyFrame, person: pl.LazyFrame) -> pl.LazyFrame:
    sellers = person.filter(col("state").is_in(["OR", "ID", "CA"])).select("seller", "name", "city", since="us")
    sold = auction.filter(col("category") == 10).join(sellers, on="seller").filter(col("since") <= col("us"))
    lists = {"name": col("name").max(), "city": col("city").max(), "auctions": col("auction").sort_by("us")}
    return _until(_placed(sold, _MINUTE).group_by("seller", "begins").agg(**lists), _MINUTE)


def _winners(auction: pl.LazyFrame, bid: pl.LazyFrame) -> pl.LazyFrame:
    opened = auction.select("auction", "category", "seller", begins="us", ends=col("closes").dt.epoch("us"))
    within = bid.join(opened, on="auction").filter((col("us") >= col("begins")) & (col("us") < col("ends")))
    first = col("bidder").sort_by("price", "turn", descending=[True, False]).first()
    return within.group_by("auction", "begins", "ends", "category", "seller").agg(price=col("price").max(), bidder=first)


def _closed(auction: pl.LazyFrame, bid: pl.LazyFrame) -> pl.LazyFrame:
    known = bid.select(known=col("us").max() // _MINUTE * _MINUTE + _MINUTE)
    return _winners(auction, bid).join(known, how="cross").filter(col("ends") <= col("known"))


def _q4(auction: pl.LazyFrame, bid: pl.LazyFrame) -> pl.LazyFrame:
    bounds = {"begins": col("ends").min(), "ends": col("ends").max()}
    return _closed(auction, bid).group_by("category").agg(**bounds, mean=col("price").mean())


def _q5(bid: pl.LazyFrame) -> pl.LazyFrame:
    panes = _placed(bid, _TWO).group_by("auction", "begins").agg(bids=pl.len().cast(pl.Int64))
    back = pl.LazyFrame({"back": [n * _TWO for n in range(5)]})
    spread = panes.join(back, how="cross").with_columns(begins=col("begins") - col("back"))
    counts = spread.group_by("auction", "begins").agg(bids=col("bids").sum())
    most = counts.filter(col("bids") == col("bids").max().over("begins"))
    return _until(most.group_by("begins").agg(auctions=col("auction").sort(), bids=col("bids").max()), _TWO)


def _q6(auction: pl.LazyFrame, bid: pl.LazyFrame) -> pl.LazyFrame:
    inside = _closed(auction, bid).sort("ends", "begins", "auction")
    first, mean = col("ends").rolling_min(10, min_samples=1), col("price").cast(pl.Float64).rolling_mean(10, min_samples=1)
    return inside.select("seller", "ends", begins=first.over("seller"), mean=mean.over("seller"))


def _q7(bid: pl.LazyFrame) -> pl.LazyFrame:
    placed = _placed(bid, _TEN)
    highest = placed.join(placed.group_by("begins").agg(col("price").max()), on=["begins", "price"])
    lists = {name: col(column).unique().sort() for name, column in (("auctions", "auction"), ("bidders", "bidder"))}
    return _until(highest.group_by("begins").agg(price=col("price").max(), **lists), _TEN)


def _q8(person: pl.LazyFrame, auction: pl.LazyFrame) -> pl.LazyFrame:
    came = _placed(person, _TEN).select("seller", "begins", "name")
    sold = _placed(auction, _TEN).group_by("seller", "begins").agg(auctions=pl.len().cast(pl.Int64))
    return _until(came.join(sold, on=["seller", "begins"]), _TEN)


def _q11(bid: pl.LazyFrame) -> pl.LazyFrame:
    figures = {"oldest": col("us").min(), "newest": col("us").max(), "bids": pl.len().cast(pl.Int64)}
    panes = _placed(bid, _TEN).group_by("bidder", "begins").agg(**figures).sort("bidder", "oldest")
    begins = (col("bidder") != col("bidder").shift()) | (col("oldest") - col("newest").shift() > _TEN)
    numbered = panes.with_columns(nth=begins.fill_null(value=True).cum_sum())
    bounds = {"begins": col("oldest").min(), "ends": col("newest").max() + _TEN}
    return numbered.group_by("bidder", "nth").agg(**bounds, bids=col("bids").sum()).drop("nth")


def _q12(bid: pl.LazyFrame) -> pl.LazyFrame:
    return _until(_placed(bid, _TEN).group_by("bidder", "begins").agg(bids=pl.len().cast(pl.Int64)), _TEN)


def _q15(bid: pl.LazyFrame) -> pl.LazyFrame:
    return _by_rank(bid).drop("newest")


def _q16(bid: pl.LazyFrame) -> pl.LazyFrame:
    return _by_rank(bid, "channel")


def _q17(bid: pl.LazyFrame) -> pl.LazyFrame:
    price, ranks = col("price"), _counted()
    figures = {"least": price.min(), "greatest": price.max(), "mean": price.mean(), "sum": price.sum()}
    return _until(_placed(bid, _DAY).group_by("auction", "begins").agg(**ranks, **figures), _DAY)


def _q18(bid: pl.LazyFrame) -> pl.LazyFrame:
    last = {name: col(name).get(col("turn").arg_max()) for name in ("price", "channel")}
    return bid.group_by("bidder", "auction").agg(begins=col("us").min(), ends=col("us").max(), **last)


def _q19(bid: pl.LazyFrame) -> pl.LazyFrame:
    highest = {f"{name}s": col(name).sort_by("price", "turn", descending=[True, False]).head(10) for name in ("price", "bidder")}
    return bid.group_by("auction").agg(begins=col("us").min(), ends=col("us").max(), **highest)


def _q20(bid: pl.LazyFrame, auction: pl.LazyFrame) -> pl.LazyFrame:
    known = auction.filter(col("category") == 10).select("auction", "seller", since="us")
    inside = _placed(bid.join(known, on="auction").filter(col("since") <= col("us")), _MINUTE)
    lists = {f"{name}s": col(name).sort_by("turn") for name in ("price", "bidder")}
    return _until(inside.group_by("auction", "begins").agg(seller=col("seller").max(), **lists), _MINUTE)


FRAMES: Mapping[str, Callable[[Mapping[str, pl.LazyFrame]], pl.LazyFrame]] = {
    "q3": lambda of: _q3(of["auction"], of["person"]),
    "q4": lambda of: _q4(of["auction"], of["bid"]),
    "q5": lambda of: _q5(of["bid"]),
    "q6": lambda of: _q6(of["auction"], of["bid"]),
    "q7": lambda of: _q7(of["bid"]),
    "q8": lambda of: _q8(of["person"], of["auction"]),
    "q9": lambda of: _winners(of["auction"], of["bid"]),
    "q11": lambda of: _q11(of["bid"]),
    "q12": lambda of: _q12(of["bid"]),
    "q15": lambda of: _q15(of["bid"]),
    "q16": lambda of: _q16(of["bid"]),
    "q17": lambda of: _q17(of["bid"]),
    "q18": lambda of: _q18(of["bid"]),
    "q19": lambda of: _q19(of["bid"]),
    "q20": lambda of: _q20(of["bid"], of["auction"]),
}
"""Query -> its frame, of the frames of events; columns as in `queries`."""
