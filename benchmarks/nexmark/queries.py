"""NEXMark's queries as SQL of DuckDB, over views `bid`, `auction` and `person`: the windows and results that definitions have to give.

After the SQL of https://github.com/nexmark/nexmark, with windows by start and end. Instants are in microseconds since 1970.
"""

import importlib

from examples.nexmark.site import RANKS
from muntin import Pipeline

_TEN, _MINUTE, _DAY = 10_000_000, 60_000_000, 86_400_000_000
_AT = 'epoch_us("dateTime")'


def _tumbling(width: int) -> str:
    return f"{_AT} // {width} * {width} AS begin, {_AT} // {width} * {width} + {width} AS finish"


def _ranked(what: str, name: str) -> str:
    return ", ".join([f"{what} AS {name}", *(f"{what} FILTER ({rank}) AS {name}_{word}" for word, rank in RANKS.items())])


_BY_RANK = (
    f"{_ranked('count(*)', 'bids')}, {_ranked('count(DISTINCT bidder)', 'bidders')}, {_ranked('count(DISTINCT auction)', 'auctions')}"
).replace("bids,", "total,", 1)
_KNOWN = f"(SELECT max({_AT}) // 60_000_000 * 60_000_000 + 60_000_000 FROM bid)"
_WINNERS = """SELECT auction, epoch_us(a."dateTime") AS begin, epoch_us(closes) AS finish, category, seller, max(price) AS price,
        arg_max(bidder, struct_pack(price := price, earlier := -epoch_us(b."dateTime"))) AS bidder
    FROM auction a JOIN bid b USING (auction) WHERE b."dateTime" >= a."dateTime" AND b."dateTime" < closes GROUP BY ALL"""
QUERIES = {
    "q3": f"""SELECT seller, {_tumbling(_MINUTE).replace(_AT, 'epoch_us(a."dateTime")')}, max(name) AS name, max(city) AS city,
            list(a.id ORDER BY a."dateTime") AS auctions
        FROM auction a JOIN person p USING (seller)
        WHERE p."dateTime" <= a."dateTime" AND category = 10 AND state IN ('OR', 'ID', 'CA') GROUP BY seller, begin, finish""",
    "q4": f"""SELECT category, min(finish) AS begin, max(finish) AS finish, avg(price) AS mean
        FROM ({_WINNERS}) WHERE finish <= {_KNOWN} GROUP BY category""",
    "q5": f"""WITH starts AS (
            SELECT auction, {_AT} // 2_000_000 * 2_000_000 - unnest(range(0, 10_000_000, 2_000_000)) AS begin FROM bid
        ), counts AS (SELECT auction, begin, count(*) AS bids FROM starts GROUP BY ALL)
        SELECT begin, begin + 2_000_000 AS finish, list(auction ORDER BY auction) AS auctions, any_value(bids) AS bids
        FROM (FROM counts QUALIFY bids = max(bids) OVER (PARTITION BY begin)) GROUP BY begin""",
    "q6": f"""WITH closed AS (FROM ({_WINNERS}) WHERE finish <= {_KNOWN})
        SELECT seller, min(finish) OVER ten AS begin, max(finish) OVER ten AS finish, avg(price) OVER ten AS mean FROM closed
        WINDOW ten AS (PARTITION BY seller ORDER BY finish, closed.begin, auction ROWS 9 PRECEDING)""",
    "q7": f"""SELECT begin, finish, any_value(price) AS price,
            list_sort(list(DISTINCT auction)) AS auctions, list_sort(list(DISTINCT bidder)) AS bidders
        FROM (SELECT *, {_tumbling(_TEN)} FROM bid QUALIFY price = max(price) OVER (PARTITION BY begin)) GROUP BY begin, finish""",
    "q8": f"""WITH newcomers AS (SELECT id AS seller, name, {_tumbling(_TEN)} FROM person),
        sales AS (SELECT seller, count(*) AS auctions, {_tumbling(_TEN)} FROM auction GROUP BY ALL)
        SELECT seller, begin, finish, name, coalesce(auctions, 0) AS auctions, name IS NOT NULL AND auctions IS NOT NULL AS sells
        FROM newcomers FULL JOIN sales USING (seller, begin, finish)""",
    "q9": _WINNERS,
    "q11": f"""WITH placed AS (SELECT bidder, {_AT} AS us FROM bid),
        silences AS (SELECT *, us - lag(us) OVER (PARTITION BY bidder ORDER BY us) AS silence FROM placed),
        numbered AS (SELECT *, count(*) FILTER (silence > {_TEN}) OVER (PARTITION BY bidder ORDER BY us) AS number FROM silences)
        SELECT bidder, min(us) AS begin, max(us) + {_TEN} AS finish, count(*) AS bids FROM numbered GROUP BY bidder, number""",
    "q12": f"SELECT bidder, {_tumbling(_TEN)}, count(*) AS bids FROM bid GROUP BY ALL",
    "q15": f"SELECT {_tumbling(_DAY)}, {_BY_RANK} FROM bid GROUP BY ALL",
    "q16": f'SELECT channel, {_tumbling(_DAY)}, {_BY_RANK}, max("dateTime") AS newest FROM bid GROUP BY ALL',
    "q17": f"""SELECT auction, {_tumbling(_DAY)}, {_ranked("count(*)", "bids").replace("bids,", "total,", 1)}, min(price) AS least,
            max(price) AS greatest, avg(price) AS mean, sum(price)::BIGINT AS sum FROM bid GROUP BY ALL""",
    "q18": f"""SELECT bidder, auction, min({_AT}) AS begin, max({_AT}) AS finish,
            arg_max(price, place) AS price, arg_max(channel, place) AS channel
        FROM (SELECT *, row_number() OVER (ORDER BY {_AT}) AS place FROM bid) GROUP BY ALL""",
    "q19": f"""SELECT auction, min({_AT}) AS begin, max({_AT}) AS finish,
            list(price ORDER BY price DESC, {_AT})[:10] AS prices, list(bidder ORDER BY price DESC, {_AT})[:10] AS bidders
        FROM bid GROUP BY auction""",
    "q20": f"""SELECT auction, {_tumbling(_MINUTE).replace(_AT, 'epoch_us(b."dateTime")')}, max(seller) AS seller,
            list(price ORDER BY b."dateTime") AS prices, list(bidder ORDER BY b."dateTime") AS bidders
        FROM bid b JOIN auction a USING (auction) WHERE a."dateTime" <= b."dateTime" AND category = 10 GROUP BY auction, begin, finish""",
}
"""Query -> its SQL; columns as its definition has them, with `begin` and `finish` of the window."""


def definitions(query: str) -> list[Pipeline]:
    """The pipelines of a query, in the order in which they run: the last has its result."""
    module = importlib.import_module(f"examples.nexmark.{query}")
    return [value for value in vars(module).values() if isinstance(value, Pipeline)]  # those that it reads are imported first
