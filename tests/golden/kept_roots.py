"""Roots of earlier versions, as they wrote them: `roots/<version>.tar.xz`, with the files of their source.

Three batches of a day, run one by one, and the second once more with late rows: windows of several kinds, so that the root has states,
windows, ledgers, notes, ids, refused rows and reports. `python -m tests.golden.kept_roots` keeps a root of the present version.
The root of a version that was released is never written anew; until then, a change of formats removes it and keeps another.
"""

import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import muntin
from muntin import Limits, Pipeline, run, sources, windows
from muntin import aggregates as agg
from tests.storage.three_batches import HERE

KEPT = Path(__file__).with_name("roots")
START, DAY = datetime(2024, 3, 1, tzinfo=UTC), timedelta(days=1)
DAYS = 3
"""So many days are in a kept root; the test brings one more."""


def pipeline(folder: Path) -> Pipeline:
    """A definition as it was written; the words of a later version may have to take the place of old words here."""
    return Pipeline(
        name="kept",
        source=sources.files(
            f"{folder}/in/{{start:%Y-%m-%d}}.csv",
            event_time="at",
            types={"d": "DECIMAL(10,2)"},
            rows=sources.events(dedupe="id", within="2d"),
        ),
        schedule="@daily",
        start=START,
        keys=["k"],
        where="n <> 4",
        windows={
            "hours": windows.sliding("6h", step="2h", grace="1h", allowed_lateness="1d"),
            "day": windows.tumbling("1d", timezone="Europe/Berlin"),
            "month": windows.cumulating("1mo", step="1d"),
            "visit": windows.session("3h"),
            "each": windows.unique_sliding("2h", resolution="1h"),
            "same": windows.while_same("n"),
            "three": windows.arrival(windows.by_count(3)),
            "ever": windows.all_time(),
        },
        aggregates={
            "rows_n": agg.count("n"),
            "total": agg.sum("n"),
            "price": agg.mean("d"),
            "last": agg.last("n"),
            "list": agg.collect("n"),
            "different": agg.approx_count_distinct("n"),
            "share": "total / nullif(rows_n, 0)",
        },
        rollups={},
        limits=Limits(max_quarantined=None, settle_after=0),
    )


def write(folder: Path, day: int, again: int = 0) -> None:
    """A day of rows: two of yesterday evening, one that yesterday had, one without a time."""
    (folder / "in").mkdir(exist_ok=True)
    lines = ["at,id,k,n,d"]
    for at in range(10 + again):
        minutes = day * 1440 + at * 137 % 1440 - (240 if at in (3, 7) else 0)
        at_time = START + timedelta(minutes=minutes)
        number = day * 100 - 95 if at == 9 else day * 100 + min(at, 8)  # one of yesterday's
        lines.append(f"{at_time:%Y-%m-%dT%H:%M:%SZ},{number},{'aö'[at % 2]},{at * 7 % 9},{at}.{day}5")
    lines.append(f",{day * 100 + 99},a,1,1.00")
    (folder / "in" / f"{START + day * DAY:%Y-%m-%d}.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")


def go(folder: Path, first: int, last: int, **more: Any) -> Any:
    """Run the days from the first to the last."""
    return run(pipeline(folder), root=folder / "state", start=START + first * DAY, end=START + (last + 1) * DAY, spark=HERE, **more)


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    return member.replace(uid=0, gid=0, uname="", gname="", deep=False)


def keep(version: str) -> Path:
    """Write a root of the present version."""
    place = KEPT / f"{version}.tar.xz"
    with TemporaryDirectory() as name:
        folder = Path(name)
        for day in range(DAYS):
            write(folder, day)
            go(folder, day, day)
        write(folder, 1, again=2)
        go(folder, 1, 1)
        with tarfile.open(place, "x:xz") as archive:
            archive.add(folder, ".", filter=anonymous)
    return place


if __name__ == "__main__":
    print(keep(muntin.__version__))
