"""The pages of one pipeline: from the parts of an address to HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from muntin.errors import DefinitionError
from muntin.extensions.page.address import instant_of, key_of, key_query, number, place_of, query
from muntin.extensions.page.html import instant, page
from muntin.extensions.page.installation import Place
from muntin.extensions.page.pictures.drawing import drawn
from muntin.extensions.page.pictures.timeline import timelines
from muntin.extensions.page.pictures.trends import results_picture, trend_pictures
from muntin.extensions.page.views import results as of_results
from muntin.extensions.page.views.batches import batch_table, newest_first, states_of, trends
from muntin.extensions.page.views.changes import revised_table
from muntin.extensions.page.views.explained import Runs, reported
from muntin.extensions.page.views.held import Around, held
from muntin.extensions.page.views.overview import line
from muntin.extensions.page.views.pace import pace
from muntin.extensions.page.views.planned import changed, planned
from muntin.extensions.page.views.seen import Seen, chosen_key, seen
from muntin.extensions.page.views.tables import refused_table, verdicts, window_table
from muntin.extensions.page.views.timeline import BATCHES, Bar, timeline
from muntin.extensions.page.views.trends import week
from muntin.jobs.inspect.some_windows import Asked
from muntin.jobs.records.batch_status import BatchStates
from muntin.registry import extension

FORGOTTEN = "forgotten"
TABS = (
    ("now", "Now"),
    ("timeline", "Timeline"),
    ("windows", "Windows"),
    ("changes", "Changes"),
    ("results", "Results"),
    ("batches", "Batches"),
    ("plan", "Plan"),
    ("quarantine", "Quarantine"),
    ("suites", "Suites"),
    (FORGOTTEN, "Forgotten"),
)
_MOST = 200  # batches in a timeline


def static(name: str) -> str:
    """A file beside the pages; its name is a name that the application knows."""
    return files("muntin.extensions.page").joinpath("static", name).read_text(encoding="utf-8")


def answer(  # noqa: C901, PLR0912 - a case for each page
    pipeline_place: Place,
    tab: str,
    asked: Mapping[str, str],
    now_us: int,
    runs: Runs,
    around: Around,
    tabs: Sequence[tuple[str, str]] = TABS,
) -> str:
    """A page of a pipeline.

    `asked`: the query; `runs` tells who published what, `around` what Airflow knows, `tabs` what the reader
    may see.
    """
    at = seen(pipeline_place)
    shared = _shared(at, tab, tabs) | {"asked": asked, "keys": at.keys(asked.get("window"))}
    match tab:
        case "now":
            view = _now(at, now_us, around)
        case "timeline":
            view = _timeline(at, asked, now_us, around)
        case "windows":
            view = _windows(at, asked)
        case "changes":
            since = number(asked["since"], "since") if asked.get("since") else None
            table = revised_table(at, at.window(asked.get("window")), since)
            view = {"table": table, "windows": tuple(at.pipeline.windows)}
        case "results":
            view = _results(at, asked)
        case "batches":
            skip = number(asked.get("skip", "0"), "skip")
            view = {"table": batch_table(at, skip, states_of(at, now_us, around)), "skip": skip}
        case "plan":
            start, end = instant_of(asked.get("from"), "from"), instant_of(asked.get("to"), "to")
            view = {
                "shown": planned(at, start, end) if start and end else None,
                "changed": "" if start and end else changed(at, now_us),
            }
        case "quarantine":
            view = {"table": refused_table(at, place_of(asked.get("begin"))), "begin": asked.get("begin")}
        case "suites":
            view = {"verdicts": verdicts(at), "over_batches": at.pipeline.intervals.over}
        case "forgotten":
            view = {"now": extension("forgetting", "remembered")(at.pipeline, root=at.place.root)}
        case "window":
            window, moment = at.window(asked.get("window")), instant_of(asked.get("at"), "at")
            key = key_of(asked, len(at.keys(window)))
            if key is None or moment is None:
                raise DefinitionError(
                    "say which window: a value for each key column, and an instant that it holds"
                )
            ends = instant_of(asked.get("ends"), "ends")
            view = {"reported": reported(at, window, tuple(key), moment, runs, ends=ends)}
        case _:
            raise DefinitionError(
                f"there is no page {tab!r}; there are {', '.join(name for name, _ in TABS)}"
            )
    return page(f"{tab}.html", **shared, **view)


def question(
    pipeline_place: Place,
    verdict: str,
    around: Around,
    *,
    tabs: Sequence[tuple[str, str]],
    publishes: bool,
) -> str:
    """The page that asks whether to publish what a verdict holds.

    `publishes`: whether the page itself can publish it.
    """
    at = seen(pipeline_place)
    return page(
        "publish.html", **_shared(at, "publish", tabs), held=held(at, verdict, around), publishes=publishes
    )


def _shared(at: Seen, tab: str, tabs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {"up": "../../", "name": at.name, "tab": tab, "tabs": tabs}


def _now(at: Seen, now_us: int, around: Around) -> dict[str, Any]:
    last_week, about = week(at.bound), line(at.place, now_us, around)
    return {
        "line": about,
        "batches": newest_first(about.states),
        "dead": around.dead,
        "now_us": now_us,
        "pictures": trend_pictures(trends(last_week)),
        "pace": pace(at.pipeline, last_week, about.states),
        "owner": around.owners.get(at.name),
        "paused": at.name in around.paused,
    }


def _timeline(at: Seen, asked: Mapping[str, str], now_us: int, around: Around) -> dict[str, Any]:
    window = at.window(asked.get("window"))
    count = min(_MOST, max(1, number(asked.get("count", str(BATCHES)), "count")))
    end = number(asked["end"], "end") if asked.get("end") else None
    about = line(at.place, now_us, around)
    states = about.states or BatchStates()
    shown = timeline(at, window, chosen_key(at, window, asked), states, count=count, end=end)
    same = {"window": window, "count": count, **(key_query(shown.key) if shown.key is not None else {})}
    picture = (
        drawn(timelines([shown], lambda bar: f"window{_address(window, bar, shown.key or ())}"))
        if shown.batches
        else ""
    )
    windows = tuple(at.pipeline.windows)
    return {
        "shown": shown,
        "picture": picture,
        "line": about,
        "windows": windows,
        "same": same,
        "chosen_count": count,
    }


def _address(window: str, bar: Bar, key: tuple[str | None, ...]) -> str:
    return query({"window": window, "at": instant(bar.start_us), "ends": instant(bar.end_us)}, key_query(key))


def _windows(at: Seen, asked: Mapping[str, str]) -> dict[str, Any]:
    window = at.window(asked.get("window"))
    table = window_table(at, window, _asked(at, asked), place_of(asked.get("begin")))
    same = {name: text for name, text in asked.items() if name != "begin"}
    return {"table": table, "windows": tuple(at.pipeline.windows), "same": same | {"window": window}}


def _results(at: Seen, asked: Mapping[str, str]) -> dict[str, Any]:
    window, skip = at.window(asked.get("window")), number(asked.get("skip", "0"), "skip")
    shown = of_results.results(at, window, _asked(at, asked), skip=skip)
    pictures = {name: results_picture(name, lines) for name, lines in shown.lines.items()}
    same = {name: text for name, text in asked.items() if name != "skip"}
    counts = {"step": of_results.PICTURES, "most": of_results.WINDOWS, "lines": of_results.KEYS}
    return {
        "shown": shown,
        "pictures": pictures,
        "windows": tuple(at.pipeline.windows),
        "same": same,
        **counts,
    }


def _asked(at: Seen, asked: Mapping[str, str]) -> Asked:
    """The filters of a form; an empty field asks for nothing."""
    keys = {
        name: text
        for number, name in enumerate(at.keys(asked.get("window")))
        if (text := asked.get(f"f{number}"))
    }
    return Asked(keys, instant_of(asked.get("from"), "from"), instant_of(asked.get("to"), "to"))
