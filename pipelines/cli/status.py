"""`muntin status`: what is there, how far it is, what it waits for."""

from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli import options as opt
from pipelines.cli.definition import load_pipeline
from pipelines.cli.output import columns, moment, say, say_json, size, stretches
from pipelines.cli.working import working
from pipelines.definition.amounts import many

if TYPE_CHECKING:
    from pipelines.jobs.look.status import PipelineStatus

_WINDOW = {
    "window": "window",
    "first batch": "first",
    "last batch": "last",
    "batches": "batches",
    "windows": "windows",
    "published to": "published_to",
    "watermark": "watermark",
    "open since": "open_since",
    "rows late": "rows_late",
    "to publish": "unpublished",
}


def status(file: opt.SomeFile = None, root: opt.Root = Path("state"), name: opt.Name = None, as_json: opt.Json = False) -> None:
    """Say how far each window is.

    And what it waits for. With FILE also which batches wait for which missing intervals. "to publish" counts the
    batches that were read since the window was last published.

    Example:
      muntin status dags/flights.py --root state
    """
    with working():
        from pipelines.jobs.look import status as jobs

        found = [jobs.status(load_pipeline(file, name), root=root)] if file else jobs.states_below(root)
    if as_json:
        return say_json([one.to_dict() for one in found])
    if not found:
        say(f"no state below {root}")
    for at, one in enumerate(found):
        say("\n" * bool(at) + "\n".join(_lines(one)))
    return None


def _lines(one: "PipelineStatus") -> list[str]:
    """A state for people."""
    lines = [f"{one.pipeline} ({one.fingerprint}), instants in UTC"]
    lines.append(f"last run: {moment(one.last_run.replace(microsecond=0))}" if one.last_run else "last run: never recorded")
    lines.append(f"read: {many(one.batches, 'batch')}; quarantined: {many(one.rows_quarantined, 'row')}")
    lines.append(columns([*_WINDOW], [[getattr(window, field) for field in _WINDOW.values()] for window in one.windows]))
    if one.missing:
        lines.append(f"missing: {stretches(one.missing)}")
    if one.waiting:
        lines.append(f"waiting beyond it: {many(len(one.waiting), 'batch')}, from {moment(one.waiting[0])} to {moment(one.waiting[-1])}")
    lines += [f"staged, not published: {each.folder}, {size(each.bytes)}, written {moment(each.written_at)}" for each in one.staged]
    return lines
