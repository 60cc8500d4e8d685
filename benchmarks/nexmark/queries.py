"""NEXMark's queries as SQL that DuckDB, Spark and Flink read alike, but for the names of a few functions.

After the SQL of https://github.com/nexmark/nexmark, with windows by start and end (`begins`, `ends`), in microseconds since 1970 as each
event has them (`us`). Of bids of the same millisecond the first is that of the least `turn`. A query is written as is quickest in all
three: NEXMark's own joins and ranks, panes for q5 and q11, counts of each bidder and auction before those of all for q15 and q16,
`arg_max` for DuckDB, which has it. Other engines import this module: it imports none.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muntin import Pipeline

KINDS = ("bid", "auction", "person")
ROWS = "rows.parquet"
"""The result of an engine: a file, or a folder of files `part-...`."""
_TWO, _TEN, _MINUTE, _DAY = 2_000_000, 10_000_000, 60_000_000, 86_400_000_000


def _bids(width: int) -> str:
    return f"(SELECT *, us - us % {width} AS begins FROM bid)"


_RANKS = {"low": "price < 10000", "middle": "price >= 10000 AND price < 1000000", "high": "price >= 1000000"}


def _ranked(name: str, all_of_them: str) -> str:
    parts = (f"count(*) FILTER (WHERE {rank}) AS {name}_{word}" for word, rank in _RANKS.items())
    return ", ".join([f"count(*) AS {all_of_them}", *parts])


def _by_rank(key: str = "") -> str:
    """Bids, bidders and auctions of each day; rows of a bidder, or of an auction, become one first. `key`: a column and a comma."""
    sums = ", ".join(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in ("total", *(f"bids_{word}" for word in _RANKS)))

    def each(of: str, more: str) -> str:
        some = ", ".join(f"count(*) FILTER (WHERE bids_{word} > 0) AS {of}s_{word}" for word in _RANKS)
        bids = f"SELECT {key} begins, {of}, {_ranked('bids', 'total')}, max(us) AS newest FROM {_bids(_DAY)} GROUP BY {key} begins, {of}"
        return f"(SELECT {key} begins, count(*) AS {of}s, {some}{more} FROM ({bids}) GROUP BY {key} begins)"

    same = " AND ".join(f"b.{name} = a.{name}" for name in (*key.replace(",", " ").split(), "begins"))
    auctions = ", ".join(["auctions", *(f"auctions_{word}" for word in _RANKS)])
    newest = ", newest" if key else ""
    bidders = ", ".join(["bidders", *(f"bidders_{word}" for word in _RANKS)])
    totals = ", ".join(["total", *(f"bids_{word}" for word in _RANKS)])
    first = ", ".join(f"b.{name}" for name in (*key.replace(",", " ").split(), "begins"))
    return f"""SELECT {first}, b.begins + {_DAY} AS ends, {totals}, {bidders}, {auctions}{newest}
        FROM {each("bidder", f", {sums}, max(newest) AS newest")} b JOIN {each("auction", "")} a ON {same}"""


_KNOWN = f"(SELECT max(us) - max(us) % {_MINUTE} + {_MINUTE} FROM bid)"
_WINNERS = """SELECT auction, opens AS begins, closes AS ends, category, seller, price, bidder
    FROM (SELECT b.auction, a.us AS opens, a.closes_us AS closes, category, seller, price, bidder,
            row_number() OVER (PARTITION BY b.auction ORDER BY price DESC, turn) AS nth
        FROM auction a JOIN bid b ON a.auction = b.auction WHERE b.us >= a.us AND b.us < a.closes_us)
    WHERE nth = 1"""
QUERIES = {
    "q3": f"""SELECT seller, begins, begins + {_MINUTE} AS ends, max(name) AS name, max(city) AS city,
            list(auction ORDER BY us) AS auctions
        FROM (SELECT a.seller, a.us - a.us % {_MINUTE} AS begins, name, city, auction, a.us
            FROM auction a JOIN person p ON a.seller = p.seller
            WHERE p.us <= a.us AND category = 10 AND state IN ('OR', 'ID', 'CA'))
        GROUP BY seller, begins""",
    "q4": f"""SELECT category, min(ends) AS begins, max(ends) AS ends, avg(CAST(price AS DOUBLE)) AS mean
        FROM ({_WINNERS}) WHERE ends <= {_KNOWN} GROUP BY category""",
    "q5": f"""WITH panes AS (
            SELECT auction, begins AS pane, count(*) AS bids FROM {_bids(_TWO)} GROUP BY auction, begins
        ), counts AS (
            SELECT auction, begins, CAST(sum(bids) AS BIGINT) AS bids
            FROM (SELECT auction, pane - back AS begins, bids
                FROM panes CROSS JOIN (VALUES (0), ({_TWO}), ({2 * _TWO}), ({3 * _TWO}), ({4 * _TWO})) AS v(back))
            GROUP BY auction, begins
        ), most AS (SELECT begins, max(bids) AS bids FROM counts GROUP BY begins)
        SELECT begins, begins + {_TWO} AS ends, list(auction ORDER BY auction) AS auctions, max(bids) AS bids
        FROM (SELECT c.begins, c.auction, c.bids FROM counts c JOIN most m ON c.begins = m.begins AND c.bids = m.bids)
        GROUP BY begins""",
    "q6": f"""SELECT seller, min(ends) OVER ten AS begins, ends, avg(CAST(price AS DOUBLE)) OVER ten AS mean
        FROM (SELECT seller, ends, begins AS opens, auction, price FROM ({_WINNERS}) WHERE ends <= {_KNOWN})
        WINDOW ten AS (PARTITION BY seller ORDER BY ends, opens, auction ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)""",
    "q7": f"""SELECT begins, begins + {_TEN} AS ends, max(price) AS price,
            list(DISTINCT auction ORDER BY auction) AS auctions, list(DISTINCT bidder ORDER BY bidder) AS bidders
        FROM (SELECT b.begins, b.price, auction, bidder FROM {_bids(_TEN)} b
            JOIN (SELECT begins, max(price) AS price FROM {_bids(_TEN)} GROUP BY begins) m ON b.begins = m.begins AND b.price = m.price)
        GROUP BY begins""",
    "q8": f"""SELECT p.seller, p.begins, p.begins + {_TEN} AS ends, p.name, a.auctions
        FROM (SELECT seller, name, us - us % {_TEN} AS begins FROM person) p
        JOIN (SELECT seller, begins, count(*) AS auctions
            FROM (SELECT seller, us - us % {_TEN} AS begins FROM auction) GROUP BY seller, begins) a
        ON p.seller = a.seller AND p.begins = a.begins""",
    "q9": _WINNERS,
    "q11": f"""WITH panes AS (
            SELECT bidder, begins AS pane, min(us) AS oldest, max(us) AS newest, count(*) AS bids FROM {_bids(_TEN)} GROUP BY bidder, begins
        ), silences AS (SELECT *, oldest - lag(newest) OVER (PARTITION BY bidder ORDER BY oldest) AS silence FROM panes),
        numbered AS (
            SELECT *, sum(CASE WHEN silence > {_TEN} THEN 1 ELSE 0 END) OVER (PARTITION BY bidder ORDER BY oldest) AS nth FROM silences
        )
        SELECT bidder, min(oldest) AS begins, max(newest) + {_TEN} AS ends, CAST(sum(bids) AS BIGINT) AS bids
        FROM numbered GROUP BY bidder, nth""",
    "q12": f"SELECT bidder, begins, begins + {_TEN} AS ends, count(*) AS bids FROM {_bids(_TEN)} GROUP BY bidder, begins",
    "q15": _by_rank(),
    "q16": _by_rank("channel,"),
    "q17": f"""SELECT auction, begins, begins + {_DAY} AS ends, {_ranked("bids", "total")}, min(price) AS "least",
            max(price) AS "greatest", avg(CAST(price AS DOUBLE)) AS mean, CAST(sum(price) AS BIGINT) AS "sum"
        FROM {_bids(_DAY)} GROUP BY auction, begins""",
    "q18": """SELECT bidder, auction, begins, us AS ends, price, channel
        FROM (SELECT bidder, auction, us, price, channel, min(us) OVER (PARTITION BY bidder, auction) AS begins,
                row_number() OVER (PARTITION BY bidder, auction ORDER BY turn DESC) AS nth FROM bid)
        WHERE nth = 1""",
    "q19": """SELECT auction, min(first_us) AS begins, max(last_us) AS ends,
            list(price ORDER BY nth) AS prices, list(bidder ORDER BY nth) AS bidders
        FROM (SELECT auction, price, bidder, row_number() OVER (PARTITION BY auction ORDER BY price DESC, turn) AS nth,
                min(us) OVER (PARTITION BY auction) AS first_us, max(us) OVER (PARTITION BY auction) AS last_us FROM bid)
        WHERE nth <= 10 GROUP BY auction""",
    "q20": f"""SELECT auction, begins, begins + {_MINUTE} AS ends, max(seller) AS seller,
            list(price ORDER BY turn) AS prices, list(bidder ORDER BY turn) AS bidders
        FROM (SELECT b.auction, b.us - b.us % {_MINUTE} AS begins, seller, price, bidder, turn
            FROM bid b JOIN auction a ON b.auction = a.auction WHERE a.us <= b.us AND category = 10)
        GROUP BY auction, begins""",
}
"""Query -> its SQL; columns as its definition has them, with `begins` and `ends` of the window."""
_DUCKDB_WINNERS = """SELECT auction, a.us AS begins, closes_us AS ends, category, seller, max(price) AS price,
        arg_max(bidder, (price::HUGEINT << 64) - turn) AS bidder
    FROM auction a JOIN bid b USING (auction) WHERE b.us >= a.us AND b.us < closes_us GROUP BY ALL"""
_DUCKDB = {name: QUERIES[name].replace(_WINNERS, _DUCKDB_WINNERS) for name in ("q4", "q6", "q9")} | {
    "q18": """SELECT bidder, auction, min(us) AS begins, max(us) AS ends, arg_max(price, turn) AS price, arg_max(channel, turn) AS channel
        FROM bid GROUP BY ALL""",
    "q19": """SELECT auction, min(us) AS begins, max(us) AS ends, max(price, 10) AS prices,
            arg_max(bidder, (price::HUGEINT << 64) - turn, 10) AS bidders
        FROM bid GROUP BY auction""",
}


def for_duckdb(query: str) -> str:
    """A query's SQL for DuckDB."""
    return _DUCKDB.get(query, QUERIES[query])


def for_spark(query: str) -> str:
    """A query's SQL for Spark, whose lists have no order."""
    return re.sub(r"\blist\((.+?) ORDER BY \w+\)", r"collect_list(\1)", QUERIES[query]).replace('"', "`")


def for_flink(query: str) -> str:
    """A query's SQL for Flink, whose lists have no order."""
    return for_spark(query).replace("collect_list", "array_agg")


def definitions(query: str) -> list[Pipeline]:
    """The pipelines of a query, in the order in which they run: the last has its result."""
    from muntin import Pipeline

    module = importlib.import_module(f"examples.nexmark.{query}")
    return [value for value in vars(module).values() if isinstance(value, Pipeline)]  # those that it reads are imported first
