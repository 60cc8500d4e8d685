"""Every page over every kind of windows, and over the windows of another pipeline: nothing falls over, and each window is explained."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pyarrow.compute as pc
import pytest

from muntin import aggregates as agg
from muntin import read, sources, windows
from muntin.cli.output import plain
from muntin.definition.instants import instant_us
from muntin.extensions.page.answers import TABS, answer
from muntin.extensions.page.commands.timeline import plain_timeline, text_timeline
from muntin.extensions.page.installation import Place
from muntin.extensions.page.views.explained import no_runs
from muntin.extensions.page.views.held import NOTHING
from muntin.extensions.page.views.seen import chosen_key, seen
from muntin.extensions.page.views.timeline import timeline
from muntin.jobs.inspect.open_windows import open_count
from muntin.jobs.published.pending import pending_window
from muntin.jobs.records.batch_status import batch_states
from tests.case_counts import some
from tests.catalogue.kinds import KINDS
from tests.end_to_end.hourly import Hourly, hour, times

NOW_US = instant_us(hour(9), "now")


def made(folder: Path, window: Any) -> Hourly:
    """Three hours of two keys; events come every few minutes, some of them late."""
    aggregates = {"n": agg.count(), "list": agg.collect_sorted("v")}
    hourly = Hourly(folder, source={"arrival_time": "came"}, other={"keys": ["k"], "windows": {"w": window}, "aggregates": aggregates})
    for at in range(3):
        minutes = [at * 60 + minute for minute in (1, 3, 4, 9, 20, 21, 22, 40, 59)]
        events = [minute - (70 if minute % 60 == 20 else 0) for minute in minutes]
        columns = {"at": times(*(max(0, minute) for minute in events)), "came": times(*minutes), "v": minutes, "n": minutes}
        hourly.write(f"{at:02d}.parquet", {**columns, "k": ["a", "b", None] * 3})
    hourly.run(0, 2)
    return hourly


def pages(known: Place) -> dict[str, str]:
    """The tabs, and the explanations of the windows that the timeline leads to."""
    found = {tab: answer(known, tab, {}, NOW_US, no_runs, NOTHING) for tab, _ in TABS}
    links = [html.unescape(link) for link in re.findall(r'href="window(\?[^"]*)"', found["timeline"])]
    return found | {
        link: answer(known, "window", dict(parse_qsl(link[1:], keep_blank_values=True)), NOW_US, no_runs, NOTHING) for link in links
    }


@pytest.mark.parametrize("kind", some(KINDS), ids=lambda kind: kind.name)
def test_every_page_of_every_kind(kind: Any, tmp_path: Path) -> None:
    hourly = made(tmp_path, kind.window)
    known = Place("hourly", hourly.root, hourly.pipeline, tmp_path / "hourly.py")
    found = pages(known)
    explained = {link: page for link, page in found.items() if link.startswith("?")}
    assert explained
    assert all("Made of " in page for page in explained.values()), [link for link, page in explained.items() if "Made of " not in page]
    provisional = read(hourly.pipeline, "w", root=hourly.root, provisional=True).filter(pc.field("provisional"))
    assert open_count(seen(known).bound, pending_window(seen(known).bound, "w")) == len(provisional)
    at = seen(known)
    shown = timeline(at, "w", chosen_key(at, "w", {}), batch_states(at.bound, 0))
    assert re.fullmatch("batches  .*[-!].*", text_timeline(shown, 100)[-2])
    assert len(json.dumps(plain(plain_timeline(at, shown)))) > 100


def test_windows_over_windows(tmp_path: Path) -> None:
    below = made(tmp_path, windows.tumbling("30m"))
    over = replace(
        below.pipeline,
        name="over",
        source=sources.windows(below.pipeline, "w", event_time="window_start"),
        windows={"w": windows.tumbling("1h")},
        aggregates={"n": agg.sum("n")},
    )
    Hourly(tmp_path, other={name: getattr(over, name) for name in ("name", "source", "keys", "windows", "aggregates")}).run(0, 1)
    found = pages(Place("over", below.root, over, tmp_path / "over.py"))
    assert "airflow backfill" not in "".join(found.values())
    assert "muntin run" in "".join(page for link, page in found.items() if link.startswith("?"))


def test_rollups_have_pages_of_their_own_keys(tmp_path: Path) -> None:
    hourly = made(tmp_path, windows.sliding("1h", step="30m"))
    rolled = replace(hourly, other={**hourly.other, "keys": ["k", "v"], "rollups": {"by_k": ["k"], "all": []}})
    rolled.run(0, 2)
    known = Place("hourly", rolled.root, rolled.pipeline, tmp_path / "hourly.py")
    for window, keys in {"w": ["k", "v"], "w.by_k": ["k"], "w.all": []}.items():
        found = {tab: answer(known, tab, {"window": window}, NOW_US, no_runs, NOTHING) for tab in ("now", "timeline", "windows", "results")}
        assert re.findall(r"<th>(.*?)</th>", found["windows"])[: len(keys) + 1] == [*keys, "window"]
        assert "polyline" in found["results"] or "<path" in found["results"]
        [link, *_] = [html.unescape(link) for link in re.findall(r'href="window(\?[^"]*)"', found["timeline"])]
        assert "Made of " in answer(known, "window", dict(parse_qsl(link[1:], keep_blank_values=True)), NOW_US, no_runs, NOTHING)
    plan = answer(known, "plan", {"from": "2024-01-01T00", "to": "2024-01-01T03"}, NOW_US, no_runs, NOTHING)
    assert all(f"<h2>{window}</h2>" in plan for window in rolled.pipeline.windows)
