"""The table of window kinds: how each is called, its oracle, how to draw random windows of it, and its picture.

Each row is a constructor of `muntin.windows`. Its page is `docs/windows/<page>.md`.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from docs.windows.panel import HOUR, NAMES, Panel
from muntin import windows
from muntin.testing.oracle import (
    DAY,
    SECOND,
    AllTime,
    BusinessDays,
    Calendar,
    Cumulating,
    HalfMonths,
    LastPart,
    OwnGapSession,
    RightClosed,
    Samples,
    Session,
    Sliding,
    Trailing,
    Tumbling,
)
from muntin.windows.kinds import (
    all_time,
    arrival,
    between,
    business_days,
    calendar,
    cumulating,
    given,
    last_part,
    progressive_sort,
    right_closed,
    session,
    sliding,
    trailing,
    tumbling,
    unique_sliding,
    while_same,
    while_true,
)
from tests.catalogue import given_tables
from tests.catalogue import random_windows as drawn
from tests.catalogue.calls import aligned, back, size, span, stepping
from tests.catalogue.random_times import Drawn
from tests.oracle import Unique
from tests.oracle.adjacent import Between, While, WhileSame
from tests.oracle.given import Given
from tests.oracle.rows_of_sessions import Ends, Gaps
from tests.properties.random_arrivals import Asked, AskedSort, asked, asked_sort

POLICIES = {"by_count", "by_delta", "by_punctuation", "by_time", "keep"}
"""Parts of windows by arrival, no kinds themselves."""
NEW_YORK = "America/New_York"


@dataclass(frozen=True)
class Kind:
    """A kind of windows.

    Attributes:
        call: as a user writes it, over rows that are some seconds apart.
        makes: the classes of `muntin.windows.kinds` that the constructor gives.
        calls: class of the oracle -> how a user calls for a window of it.
        draws: name -> a random window of the oracle's.
        arrivals: the same of windows by arrival: name -> a random window, the oracle's and ours.
        judged: name of a window -> one for batches of ten seconds, as the judges through the public API run them. Windows by
            arrival have a judge of their own: `tests/end_to_end/judge/arrivals.py`.
        spans: of the table that the call names, seconds after 2024 began.
        picture: its panels, as the page tells them.
        questions: what it answers: the question, the call, a heading of the page.
    """

    call: str
    makes: tuple[type, ...]
    calls: Mapping[type, Callable[[Any], Any]]
    picture: tuple[Panel, ...]
    questions: tuple[tuple[str, str, str], ...]
    draws: Mapping[str, Callable[[random.Random], Drawn]] = field(default_factory=dict)
    arrivals: Mapping[str, Callable[[random.Random], Any]] = field(default_factory=dict)
    judged: Mapping[str, Any] = field(default_factory=dict)
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def name(self) -> str:
        """Of the constructor."""
        return self.call.partition("(")[0]

    @property
    def page(self) -> str:
        """The name of the page and of the picture."""
        return self.name.replace("_", "-").strip("-")

    @property
    def window(self) -> Any:
        """The window of the call."""
        window = eval(self.call, NAMES)  # noqa: S307 - our own table
        return given_tables.with_table(window, [(YEAR + start * SECOND, YEAR + end * SECOND) for start, end in self.spans])


RECORDS = ((100, 103, 107, 110),)
YEAR = 1_704_067_200 * SECOND
BORDERS = (1_704_067_200, 1_710_129_540, 1_730_696_340)
"""Seconds in the midst of the judge's scenarios."""
ROWS = ((1, 2, 3, 4, 5, 6), (10, 11, 12))
# 2024-03-10: clocks in New York go from 2:00 to 3:00
CHANGE = datetime(2024, 3, 9, tzinfo=UTC)
QUARTER = datetime(2024, 8, 4, 4, tzinfo=UTC)

KINDS = (
    Kind(
        'tumbling("5m", grace="4m")',
        makes=(tumbling.Tumbling, calendar.Calendar, calendar.HalfMonths, business_days.BusinessDays, right_closed.RightClosed),
        calls={
            Tumbling: lambda asked, **closed: windows.tumbling(span(asked.size), **closed, **aligned(asked)),
            Calendar: lambda asked, **closed: windows.tumbling(f"{asked.months}mo", **closed, **aligned(asked)),
            HalfMonths: lambda asked, **closed: windows.tumbling("1sm", **closed, **aligned(asked)),
            BusinessDays: lambda asked, **closed: windows.tumbling("1bd", **closed, **aligned(asked)),
            RightClosed: lambda asked: called(asked.kind, closed="right"),
        },
        draws={
            "tumbling": drawn.tumbling,
            "local_days": drawn.local_days,
            "calendar": drawn.calendar,
            "half_months": drawn.half_months,
            "business_days": drawn.business_days,
            "right_closed": lambda dice: drawn.right_closed(
                dice, [drawn.tumbling, drawn.local_days, drawn.calendar, drawn.half_months, drawn.business_days]
            ),
        },
        judged={
            "ten": Tumbling(10 * SECOND),
            "seven": Tumbling(7 * SECOND, grace=3 * SECOND),
            "shifted": Tumbling(90 * SECOND, align_to="00:01"),
            "day": Tumbling(DAY, timezone=NEW_YORK, align_to="23:59"),
            "month": Calendar(1),
            "quarter": Calendar(3, 2 * SECOND, "23:59", NEW_YORK),
            "workday": BusinessDays(SECOND, "23:59", NEW_YORK),
            "metered": RightClosed(Tumbling(5 * SECOND, grace=2 * SECOND)),
        },
        picture=(
            Panel('tumbling("2s")', (tuple(range(7)),)),
            Panel('tumbling("2s", closed="right")', (tuple(range(7)),)),
            Panel(
                'tumbling("1d", align_to="23:59", timezone="America/New_York")',
                (tuple(range(6 * HOUR, 70 * HOUR, 6 * HOUR)),), 120 * HOUR, CHANGE, unit=HOUR,
            ),
        ),
        questions=(
            ("how many each quarter of an hour?", 'tumbling("15m")', ""),
            ("how much a local day, week?", 'tumbling("1d", timezone="America/New_York")', "by-the-calendar"),
            ("how much a month, quarter, year?", 'tumbling("1mo")', "by-the-calendar"),
            ("how much each half of a month, each business day?", 'tumbling("1sm")', "by-the-calendar"),
            ("what did the meter say up to each quarter, its end included?", 'tumbling("15m", closed="right")', "closed-at-the-right"),
        ),
    ),
    Kind(
        'sliding("10m", step="5m", grace="4m")',
        makes=(sliding.Sliding, last_part.LastPart),
        calls={
            Sliding: lambda asked, **closed: windows.sliding(span(asked.size), step=span(asked.step), **closed, **aligned(asked)),
            Samples: lambda asked, **closed: windows.sliding(
                span(asked.size), step=span(asked.step), gaps=True, **closed, **aligned(asked)
            ),
        },
        draws={
            "sliding": drawn.sliding,
            "samples": drawn.samples,
            "right_closed_sliding": lambda dice: drawn.right_closed(dice, [drawn.sliding, drawn.samples]),
        },
        judged={
            "thirty": Sliding(30 * SECOND, 5 * SECOND, grace=5 * SECOND),
            "late_ones": Sliding(20 * SECOND, 10 * SECOND),
            "fine": Sliding(4 * SECOND, SECOND // 2, grace=SECOND),
            "aligned": Sliding(21 * SECOND, 7 * SECOND, align_to="00:01"),
        },
        picture=(Panel('sliding("4s", step="2s")', (tuple(range(7)),)),),
        questions=(
            ("the last six hours, every hour?", 'sliding("6h", step="1h")', ""),
            ("a sample of each hour's first minute?", 'sliding("1m", step="1h", gaps=True)', "rules"),
        ),
    ),
    Kind(
        'cumulating("20m", step="5m", grace="4m")',
        makes=(cumulating.Cumulating,),
        calls={
            Cumulating: lambda asked, **closed: windows.cumulating(size(asked.max_size), step=size(asked.step), **closed, **aligned(asked))
        },
        draws={
            "cumulating": drawn.cumulating,
            "cumulating_days": drawn.cumulating_days,
            "cumulating_months": drawn.cumulating_months,
            "right_closed_cumulating": lambda dice: drawn.right_closed(
                dice, [drawn.cumulating, drawn.cumulating_days, drawn.cumulating_months]
            ),
        },
        judged={
            "so_far": Cumulating(30 * SECOND, 10 * SECOND, grace=3 * SECOND),
            "day_so_far": Cumulating(DAY, DAY // 4, align_to="23:59", timezone=NEW_YORK),
            "month_so_far": Cumulating("1mo", DAY, timezone=NEW_YORK),
        },
        picture=(Panel('cumulating("12s", step="4s")', ((1, 5, 21),)),),
        questions=(("the day so far, every hour?", 'cumulating("1d", step="1h")', ""),),
    ),
    Kind(
        'trailing(months=3, grace="4m")',
        makes=(trailing.Trailing, last_part.LastPart),
        calls={
            Trailing: lambda asked, **closed: windows.trailing(
                **back(asked.count * getattr(asked.stretch, "size", 1)), **stepping(asked.stretch), **closed, **aligned(asked.stretch)
            ),
            LastPart: lambda asked, **closed: windows.trailing(
                **back(asked.part), **stepping(asked.stretch), **closed, **aligned(asked.stretch)
            ),
        },
        draws={
            "trailing": drawn.trailing,
            "last_part": drawn.last_part,
            "right_closed_trailing": lambda dice: drawn.right_closed(dice, [drawn.trailing, drawn.last_part]),
        },
        judged={
            "season": Trailing(3, Calendar(1, 2 * SECOND, "23:59", NEW_YORK)),
        },
        picture=(
            Panel(
                'trailing(months=2, timezone="America/New_York")',
                (tuple(day * 24 * HOUR for day in (5, 20, 40, 62, 75)),), 150 * 24 * HOUR, unit=24 * HOUR,
            ),
            Panel(
                'trailing(days=2, timezone="America/New_York")',
                (tuple(range(6 * HOUR, 54 * HOUR, 12 * HOUR)),), 160 * HOUR, CHANGE, unit=HOUR,
            ),
        ),
        questions=(
            ("the last three months, every month?", "trailing(months=3)", ""),
            ("the last seven days, at each local midnight?", 'trailing(days=7, timezone="America/New_York")', ""),
            ("the last week of each month?", 'trailing(days=7, every="1mo")', ""),
        ),
    ),
    Kind(
        'session("90s", grace="4m")',
        makes=(session.Session, session.LimitedSession, session.OwnGapSession),
        calls={
            Session: lambda asked: windows.session(
                span(asked.gap),
                touching=asked.touching,
                max_length=asked.max_length and span(asked.max_length),
                until=None if asked.until is None else f"v = {asked.until.value}",
                **aligned(asked),
            ),
            OwnGapSession: lambda asked: windows.session(
                span(asked.reach.gap), gap_by=asked.reach.sql, touching=asked.touching, **aligned(asked)
            ),
        },
        draws={
            "session": drawn.session,
            "cut_session": drawn.cut_session,
            "ended_session": drawn.ended_session,
            "own_gap_session": drawn.own_gap_session,
        },
        judged={
            "quiet": Session(3 * SECOND),
            "quieter": Session(10 * SECOND, grace=4 * SECOND),
            "split": Session(4 * SECOND, touching="split"),
            "split_grace": Session(5 * SECOND, grace=10 * SECOND, touching="split"),
            "cut": Session(3 * SECOND, max_length=5 * SECOND),
            "cut_split": Session(2 * SECOND, 4 * SECOND, "split", 7 * SECOND),
            "ended": Session(4 * SECOND, SECOND, until=Ends(3)),
            "own_gaps": OwnGapSession(Gaps(3 * SECOND, SECOND), 2 * SECOND),
        },
        picture=(
            Panel('session("5s")', ((10, 12, 20),)),
            Panel('session("5s", grace="1m")', ((10, 12), (20,), (16,)), 20),
            Panel('session("5s", max_length="10s")', ((0, 3, 6, 9, 12, 15),)),
            Panel('session("5s", gap_by="to_seconds(second % 10)")', ((8, 11, 14, 21),)),
        ),
        questions=(
            ("one visit, one trip, one burst of errors?", 'session("30m")', ""),
            ("one cart, as long as its rows wait?", 'session("30m", gap_by="patience")', "rows-that-say-their-own-gap"),
            ("one visit, until the user logs out?", "session(\"30m\", until=\"kind = 'logout'\")", "a-row-that-ends-its-session"),
        ),
    ),
    Kind(
        'unique_sliding("2m", resolution="30s", grace="4m")',
        makes=(unique_sliding.Unique,),
        calls={
            Unique: lambda asked: windows.unique_sliding(
                span(asked.size), resolution=span(asked.resolution), on=asked.on, **aligned(asked)
            )
        },
        draws={"unique_sliding": drawn.unique_sliding},
        judged={
            "changes": Unique(3 * SECOND, SECOND),
            "fine_changes": Unique(4 * SECOND, 1_000, grace=2 * SECOND),
            "entering": Unique(10 * SECOND, SECOND, "enter"),
        },
        picture=(Panel('unique_sliding("10s", resolution="1s")', RECORDS), Panel('sliding("10s", step="1s")', RECORDS)),
        questions=(
            ("was there ever a stretch of ten minutes with more than five?", 'unique_sliding("10m", resolution="1s")', ""),
            ("at each event, the ten minutes before it?", 'unique_sliding("10m", resolution="1s", on="enter")', "one-window-for-each-time"),
        ),
    ),
    Kind(
        'given("shifts.csv", start="begins", end="ends", grace="4m")',
        makes=(given.Given,),
        calls={Given: given_tables.called},
        draws={"given": given_tables.drawn},
        judged={
            "spans": Given(
                tuple(
                    ((border + start) * SECOND, (border + end) * SECOND)
                    for border in BORDERS
                    for start, end in ((-60, 60), (-25, -8), (-20, -13), (-5, 5), (0, 30), (2, 9), (10, 11), (20, 60), (25, 30))
                ),
                grace=3 * SECOND,
            )
        },
        spans=tuple((start * 60, end * 60) for start, end in ((0, 10), (5, 30), (30, 90), (60, 120), (120, 480))),
        picture=(
            Panel(
                'given("shifts.csv", start="begins", end="ends")',
                (tuple(range(6 * HOUR, 56 * HOUR, 4 * HOUR)),), 40 * HOUR, CHANGE, unit=HOUR,
                spans=tuple((begin * HOUR, end * HOUR) for begin, end in ((11, 19), (19, 27), (27, 34), (34, 42), (42, 50))),
            ),
            Panel(
                'given("fiscal.csv", start="begins", end="ends")',
                (tuple(day * 24 * HOUR for day in (5, 20, 40, 62, 75)),), 92 * 24 * HOUR, QUARTER, unit=24 * HOUR,
                spans=tuple((begin * 24 * HOUR, end * 24 * HOUR) for begin, end in ((0, 28), (28, 56), (56, 91), (0, 91))),
            ),
        ),
        questions=(
            ("how much in each shift of a site?", 'given("shifts.csv", start="begins", end="ends", keys=["site"])', ""),
            ("how much in each period of a 4-4-5 calendar?", 'given("fiscal.csv", start="begins", end="ends")', "fiscal-calendars"),
            ("how much while an experiment or an auction ran?", 'given("auctions.csv", start="opens", end="closes", keys=["auction"])', ""),
        ),
    ),
    Kind(
        "all_time()",
        makes=(all_time.AllTime,),
        calls={AllTime: lambda _: windows.all_time()},
        draws={"all_time": drawn.all_time},
        judged={"ever": AllTime()},
        picture=(Panel("all_time()", ((20, 35), (50, 7)), 40),),
        questions=(("all there ever was of a key?", "all_time()", ""),),
    ),
    Kind(
        'while_("n > 0", at_most="30m", grace="4m")',
        makes=(while_true.While,),
        calls={
            While: lambda asked: windows.while_(
                *asked.sql, at_least=span(asked.at_least), at_most=asked.limit and span(asked.limit), **aligned(asked)
            )
        },
        draws={"while_": drawn.while_},
        judged={
            "above": drawn.holding("v > 2"),
            "above_for_long": drawn.holding("v is not null", 2 * SECOND, 5 * SECOND, SECOND),
        },
        picture=(
            Panel('while_("second % 10 < 5")', ((2, 3, 6, 11, 14, 21),)),
            Panel('while_("second % 10 < 5", grace="1m")', ((1, 4, 12, 23, 24), (7,), (16,)), 20),
            Panel('while_("second < 14", at_most="5s")', ((0, 2, 4, 6, 8, 15),)),
        ),
        questions=(
            ("from when to when was it above a limit?", 'while_("voltage > 225")', ""),
            ("when was it above a limit for three seconds?", 'while_("voltage > 225", at_least="3s")', "too-short-or-too-long"),
        ),
    ),
    Kind(
        'while_same("n % 2", name="odd", grace="4m")',
        makes=(while_same.WhileSame,),
        calls={
            WhileSame: lambda asked: windows.while_same(
                *asked.sql, name="state", at_least=span(asked.at_least), at_most=asked.limit and span(asked.limit), **aligned(asked)
            )
        },
        draws={"while_same": drawn.while_same},
        judged={
            "state": drawn.lasting("s"),
            "state_of_numbers": drawn.lasting("v > 3", SECOND, 4 * SECOND),
        },
        picture=(Panel('while_same("second // 10", name="tens")', ((1, 3, 8, 11, 24, 27, 33, 36),)),),
        questions=(("from when to when was it in which state?", 'while_same("status")', ""),),
    ),
    Kind(
        'between("n > 0", "n < 0", max_length="30m", grace="4m")',
        makes=(between.Between,),
        calls={Between: lambda asked: windows.between(*asked.sql, max_length=asked.limit and span(asked.limit), **aligned(asked))},
        draws={"between": drawn.between},
        judged={
            "enclosed": drawn.enclosed("v > 2", "s < 'r'"),
            "enclosed_for_long": drawn.enclosed("s < 'r'", "v % 3 = 0 or s = 'q'", SECOND, 6 * SECOND),
        },
        picture=(
            Panel('between("second % 10 = 0", "second % 10 = 7")', ((0, 3, 7, 8, 20, 25, 30, 37),)),
            Panel('between("second % 10 = 0", "second % 10 = 7", max_length="15s")', ((0, 3, 12, 30, 37),)),
        ),
        questions=(("from entering to leaving?", "between(\"kind = 'enter'\", \"kind = 'leave'\")", ""),),
    ),
    Kind(
        "arrival(by_count(4), flush=True)",
        makes=(arrival.Arrival,),
        calls={Asked: lambda asked: asked.ours},
        arrivals={"arrival": asked},
        picture=(
            Panel("arrival(by_count(4))", ROWS, 10),
            Panel("arrival(by_count(3), trigger=by_count(2))", ROWS, 10),
            Panel('arrival(by_time("5s"))', ROWS, 10),
        ),
        questions=(
            ("every hundred rows as they came?", "arrival(by_count(100))", ""),
            ("the last hundred rows, after every tenth?", "arrival(by_count(100), trigger=by_count(10))", "sliding"),
            ("what came until the temperature had risen by 1.5?", 'arrival(by_delta("temperature", 1.5))', "tumbling"),
        ),
    ),
    Kind(
        'progressive_sort(4, by="n", flush=True)',
        makes=(progressive_sort.ProgressiveSort,),
        calls={AskedSort: lambda asked: asked.ours},
        arrivals={"progressive_sort": asked_sort},
        picture=(
            Panel('progressive_sort(3, by="second")', ((5, 1, 4, 2, 3), (14, 10, 12)), 10),
            Panel('progressive_sort(2, by="second")', ((5, 1, 4, 2, 3), (14, 10, 12)), 10),
        ),
        questions=(("rows that come a little out of order, one by one in order?", 'progressive_sort(100, by="measured")', ""),),
    ),
)  # fmt: skip


def called(asked: Any, **more: Any) -> Any:
    """The oracle's window as a user writes it."""
    return next(kind.calls[type(asked)] for kind in KINDS if type(asked) in kind.calls)(asked, **more)


ARRIVAL_DRAWS = {name: draw for kind in KINDS for name, draw in kind.arrivals.items()}
DRAWS = {name: draw for kind in KINDS for name, draw in kind.draws.items()}
JUDGED = {name: asked for kind in KINDS for name, asked in kind.judged.items()}
