"""`muntin show --timeline`, and `muntin show --plot` in all its formats."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from muntin.extensions.page.commands.timeline import text_timeline
from muntin.extensions.page.pictures.drawing import LIGHT
from muntin.extensions.page.views.timeline import Bar, Timeline
from muntin.extensions.page.views.trends import ListedBatch
from muntin.jobs.records.batch_states import BatchState, State
from tests.cli.conftest import Muntin, Project, muntin, project, ran

__all__ = ["muntin", "project", "ran"]  # pytest looks for them here
DAY = 86_400_000_000


def shown(*bars: Bar) -> Timeline:
    """Six days: published, published with late rows, missing, waiting, held, failed."""
    states: list[tuple[State, int]] = [("published", 0), ("published", 2), ("missing", 0), ("waiting", 0), ("held", 0), ("failed", 0)]
    batches = tuple(ListedBatch(BatchState(at * DAY, (at + 1) * DAY, state), late=late) for at, (state, late) in enumerate(states))
    return Timeline("w", ("a",), batches, bars, 0, None, None)


def test_letters_stand_where_time_stands():
    bars = (
        Bar(0, 2 * DAY, DAY, 0),
        Bar(DAY, 3 * DAY, DAY, 1),
        Bar(2 * DAY, 4 * DAY, None, 0),
        Bar(4 * DAY, 5 * DAY, 4 * DAY, 0, staged=True),
    )
    assert text_timeline(shown(*bars), 10 + 60) == [
        "windows             [==================)",
        "          [==================)[//////////////////)[::::::::)",
        "batches   [--------)[----!---)[........)[~~~~~~~~)[########)[xxxxxxxx)",
        "          1970-01-01          1970-01-03          1970-01-05",
    ]


def test_what_is_short_is_still_there():
    hour = DAY // 24
    lines = text_timeline(shown(Bar(0, hour, 0, 0), Bar(6 * DAY - hour, 6 * DAY, None, 0)), 10 + 20)
    assert lines[0] == "windows   ="[:11] + " " * 18 + "/"


def test_colours_change_nothing_but_colours():
    lines = text_timeline(shown(Bar(0, 2 * DAY, DAY, 0)), 60, lambda text, ink: f"<{ink}>{text}</>")
    assert "[<blue>====" in lines[0]
    assert "<red>....." in lines[1]
    assert [re.sub(r"<[^>]*>", "", line) for line in lines] == text_timeline(shown(Bar(0, 2 * DAY, DAY, 0)), 60)


def test_all_windows_of_the_newest_key(muntin: Muntin, ran: Project):
    told = muntin(*ran.arguments("show", "--timeline"))
    assert told.status == 0, told.err
    lines = told.out.splitlines()
    assert [line for line in lines if line.endswith("sensor=ä")] == ["quarter, sensor=ä", "visit, sensor=ä"]
    assert sum(line.startswith("batches") for line in lines) == 2
    assert "!" in next(line for line in lines if line.startswith("batches"))
    assert lines[-1].startswith("[==) closed window")


def test_a_key_up_to_an_instant(muntin: Muntin, ran: Project):
    told = json.loads(muntin(*ran.arguments("show", "--timeline", "quarter", "--key", "ö", "--to", "2020-01-02", "--json")).out)
    (only,) = told["timelines"]
    assert (only["window"], only["key"], only["left_out"]) == ("quarter", {"sensor": "ö"}, 0)
    assert [(batch["start"][:10], batch["state"]) for batch in only["batches"]] == [("2020-01-01", "published")]
    assert only["windows"] == [
        {
            "start": "2020-01-01T06:00:00+00:00",
            "end": "2020-01-01T12:00:00+00:00",
            "closed_by": "2020-01-01T00:00:00+00:00",
            "published": True,
        }
    ]


def test_before_the_first_run(muntin: Muntin, project: Project):
    told = muntin(*project.arguments("show", "--timeline"))
    assert (told.status, told.out) == (3, "")
    assert "there is no" in told.err


COMMANDS = {"timeline": ("show", "--timeline"), "plot": ("show", "--plot", "quarter", "total", "least")}


@pytest.mark.parametrize("command", COMMANDS)
class TestPictures:
    """Files that stand alone."""

    def drawn(self, muntin: Muntin, ran: Project, command: str, out: Path) -> bytes:
        told = muntin(*ran.arguments(*COMMANDS[command], "--out", str(out)))
        assert told.status == 0, told.err
        assert told.out.startswith(f"{out}: 2 ")
        return out.read_bytes()

    def test_png(self, muntin: Muntin, ran: Project, command: str, tmp_path: Path) -> None:
        content = self.drawn(muntin, ran, command, tmp_path / "drawn.png")
        assert content.startswith(b"\x89PNG")
        assert len(set(content)) > 200

    def test_svg_has_colours_of_its_own(self, muntin: Muntin, ran: Project, command: str, tmp_path: Path) -> None:
        text = self.drawn(muntin, ran, command, tmp_path / "drawn.svg").decode()
        assert ET.fromstring(text).tag.endswith("svg")  # noqa: S314 - our own
        assert "var(" not in text
        assert LIGHT["paper"] in text

    def test_html_needs_nothing_else(self, muntin: Muntin, ran: Project, command: str, tmp_path: Path) -> None:
        text = self.drawn(muntin, ran, command, tmp_path / "drawn.html").decode()
        assert text.startswith("<!doctype html>")
        assert not re.search(r'(?:src|href)="(?!#)', text)
        assert "prefers-color-scheme: dark" in text
        assert "<title>" in text.partition("<svg")[2]

    def test_another_ending_is_refused(self, muntin: Muntin, ran: Project, command: str) -> None:
        told = muntin(*ran.arguments(*COMMANDS[command], "--out", "drawn.gif"))
        assert (told.status, told.out) == (2, "")
        assert "end it in .png, .svg, .pdf, .html" in told.err


def test_colours_of_files_are_those_of_the_page_by_day():
    style = (Path(__file__).parents[2] / "pipelines/muntin/extensions/page/static/page.css").read_text(encoding="utf-8")
    by_day = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", style.partition("}")[0]))
    assert {name: by_day[name] for name in LIGHT} == LIGHT
