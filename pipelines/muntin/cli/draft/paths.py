"""The dates in the names of files: the template of a source, and its schedule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from os.path import commonpath, commonprefix

_FORMS = (
    (r"(?<!\d)\d{4}-\d\d-\d\d[T_]\d\d(?!\d)", "%Y-%m-%d{}%H", "@hourly"),
    (r"(?<!\d)\d{4}/\d\d/\d\d/\d\d(?!\d)", "%Y/%m/%d/%H", "@hourly"),
    (r"(?<!\d)\d{4}/\d\d/\d\d(?!\d)", "%Y/%m/%d", "@daily"),
    (r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)", "%Y-%m-%d", "@daily"),
    (r"(?<!\d)\d{4}_\d\d_\d\d(?!\d)", "%Y_%m_%d", "@daily"),
    (r"(?<!\d)(19|20)\d{6}(?!\d)", "%Y%m%d", "@daily"),
    (r"(?<!\d)\d{4}-\d\d(?!\d)", "%Y-%m", "@monthly"),
)


@dataclass(frozen=True, slots=True)
class Dated:
    """Files with dates in their names: the patterns before and behind the date, its format, the schedule,
    and the date of each file.
    """

    before: str
    behind: str
    form: str
    schedule: str
    dates: tuple[datetime, ...]

    def template(self, border: str) -> str:
        """The path of a source; `border`: start or end, what the date is of."""
        return f"{self.before}{{{border}:{self.form}}}{self.behind}"

    def start(self, border: str) -> datetime:
        """Where the first interval begins."""
        return min(self.dates) if border == "start" else self.moved(min(self.dates), -1)

    def end(self, border: str) -> datetime:
        """Where the last interval ends."""
        return self.moved(max(self.dates), 1) if border == "start" else max(self.dates)

    def moved(self, at: datetime, steps: int) -> datetime:
        """A date some intervals on."""
        if self.schedule == "@monthly":
            months = at.year * 12 + at.month - 1 + steps
            return at.replace(year=months // 12, month=months % 12 + 1)
        return at + steps * timedelta(hours=1 if self.schedule == "@hourly" else 24)

    @property
    def holes(self) -> list[datetime]:
        """Dates between the first and the last that no file has; a hundred at most."""
        holes: list[datetime] = []
        at, there = min(self.dates), {*self.dates}
        while at < max(self.dates) and len(holes) < 100:  # noqa: PLR2004 - enough to name the first
            holes += [at] if at not in there else []
            at = self.moved(at, 1)
        return holes


def dated(paths: Sequence[str]) -> Dated | None:
    """The dates in the paths of files; None where they have no date in the same place."""
    for stars, (pattern, form, schedule) in product((False, True), _FORMS):
        matches = [[*re.finditer(pattern, path)] for path in paths]
        if not all(matches):
            continue
        last = [each[-1] for each in matches]
        before = _common([path[: m.start()] for path, m in zip(paths, last, strict=True)])
        behind = _common([path[m.end() :] for path, m in zip(paths, last, strict=True)])
        around = {(path[: m.start()], path[m.end() :]) for path, m in zip(paths, last, strict=True)}
        if before is None or behind is None or (len(around) > 1) != stars:
            continue
        whole = form.format(last[0][0][10:11])
        try:
            dates = tuple(datetime.strptime(each[0], whole).replace(tzinfo=UTC) for each in last)
        except ValueError:
            continue
        if stars and len({*dates}) == 1:
            continue
        return Dated(before, behind, whole, schedule, dates)
    return None


def patterns_of(paths: Sequence[str]) -> list[str]:
    """Patterns that match files without dates, the loosest first."""
    if len(paths) == 1:
        return [_escaped(paths[0])]
    names = [path.rpartition("/")[2] for path in paths]
    folder = commonpath([path.rpartition("/")[0] for path in paths])
    ending = _ending(names)
    begin = commonprefix(names)  # noqa: RUF071 - of names, not of paths
    words = re.match(r"[^\W\d]*", begin)
    begins = dict.fromkeys(["", words[0] if words else "", begin])
    return [
        f"{_escaped(folder.rstrip('/'))}/{deep}{_escaped(each)}*{_escaped(ending)}"
        for deep in ("", "**/")
        for each in begins
    ]


def _common(parts: Sequence[str]) -> str | None:
    """The pattern of paths, or parts of paths, of equally many folders: a star for what differs."""
    split = [part.split("/") for part in parts]
    if len({*map(len, split)}) > 1:
        return None
    return "/".join(
        _escaped(each[0]) if len({*each}) == 1 else f"*{_escaped(_ending(each))}"
        for each in zip(*split, strict=True)
    )


def _ending(names: Sequence[str]) -> str:
    """The text that all names have behind some point; "" if there is none."""
    endings = [name[name.find(".") :] if "." in name else "" for name in names]
    while len({*endings}) > 1:
        endings = [each[each.find(".", 1) :] if "." in each[1:] else "" for each in endings]
    return endings[0]


def _escaped(path: str) -> str:
    """A path as a template writes it: with no glob and no field."""
    return re.sub(r"[*?[]", r"[\g<0>]", path).replace("{", "{{").replace("}", "}}")
