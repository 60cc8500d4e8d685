"""NEXMark's queries as SQL that DuckDB, Spark and Flink read alike, but for the names of a few functions.

After the SQL of https://github.com/nexmark/nexmark, with windows by start and end (`begins`, `ends`), in microseconds since 1970 as each
event has them (`us`). Of bids of the same millisecond the first is that of the least `turn`. A query is written as is quickest in all
three: NEXMark's own joins and ranks, panes of two seconds for q5, `arg_max` for DuckDB, which has it.
"""

import importlib
import re

from examples.nexmark.site import RANKS
from muntin import Pipeline

_TWO, _TEN, _MINUTE, _DAY = 2_000_000, 10_000_000, 60_000_000, 86_400_000_000


def _bids(width: int) -> str:
    return f"(SELECT *, us - us % {width} AS begins FROM bid)"


def _ranked(what: str, name: str, all_of_them: str = "") -> str:
    conditions = {word: rank.replace("_", "") for word, rank in RANKS.items()}
    parts = (f"{what} FILTER (WHERE {rank}) AS {name}_{word}" for word, rank in conditions.items())
    return ", ".join([f"{what} AS {all_of_them or name}", *parts])


_BY_RANK = ", ".join(
    [_ranked("count(*)", "bids", "total"), _ranked("count(DISTINCT bidder)", "bidders"), _ranked("count(DISTINCT auction)", "auctions")]
)
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
    "q8": f"""SELECT coalesce(p.seller, a.seller) AS seller, coalesce(p.begins, a.begins) AS begins,
            coalesce(p.begins, a.begins) + {_TEN} AS ends, p.name, coalesce(a.auctions, 0) AS auctions,
            p.name IS NOT NULL AND a.auctions IS NOT NULL AS sells
        FROM (SELECT seller, name, us - us % {_TEN} AS begins FROM person) p
        FULL JOIN (SELECT seller, begins, count(*) AS auctions
            FROM (SELECT seller, us - us % {_TEN} AS begins FROM auction) GROUP BY seller, begins) a
        ON p.seller = a.seller AND p.begins = a.begins""",
    "q9": _WINNERS,
    "q11": f"""WITH silences AS (SELECT bidder, us, us - lag(us) OVER (PARTITION BY bidder ORDER BY us) AS silence FROM bid),
        numbered AS (
            SELECT bidder, us, sum(CASE WHEN silence > {_TEN} THEN 1 ELSE 0 END) OVER (PARTITION BY bidder ORDER BY us) AS nth FROM silences
        )
        SELECT bidder, min(us) AS begins, max(us) + {_TEN} AS ends, count(*) AS bids FROM numbered GROUP BY bidder, nth""",
    "q12": f"SELECT bidder, begins, begins + {_TEN} AS ends, count(*) AS bids FROM {_bids(_TEN)} GROUP BY bidder, begins",
    "q15": f"SELECT begins, begins + {_DAY} AS ends, {_BY_RANK} FROM {_bids(_DAY)} GROUP BY begins",
    "q16": f"SELECT channel, begins, begins + {_DAY} AS ends, {_BY_RANK}, max(us) AS newest FROM {_bids(_DAY)} GROUP BY channel, begins",
    "q17": f"""SELECT auction, begins, begins + {_DAY} AS ends, {_ranked("count(*)", "bids", "total")}, min(price) AS "least",
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
    module = importlib.import_module(f"examples.nexmark.{query}")
    return [value for value in vars(module).values() if isinstance(value, Pipeline)]  # those that it reads are imported first
