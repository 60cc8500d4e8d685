"""Tell of one run: what is wrong and new, what is over, and what waits to be sent.

Nothing of this stops a run.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.errors import MuntinError
from muntin.extensions.alerts.backfills import Backfills, Ended
from muntin.extensions.alerts.delivery import Sender, deliver
from muntin.extensions.alerts.findings import Finding, findings
from muntin.extensions.alerts.message import kept_held, message, summary
from muntin.extensions.alerts.outbox import Outbox
from muntin.extensions.alerts.problems import Problems, approved, recovered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muntin.extensions.alerts.declaration import Alerts
    from muntin.extensions.alerts.facts import Run
    from muntin.extensions.alerts.message import Message
    from muntin.files.paths import AnyPath

IDLE_S = 600
"""After so many seconds without another run of a backfill, any run sends its summary."""

_ASKED = 100
log = logging.getLogger("muntin")


@dataclass(frozen=True, slots=True)
class InBackfill:
    """How a run stands to the backfills of its DAG.

    Attributes:
        run: its name in Airflow.
        inside: whether it is of a backfill.
        unfinished: names of runs -> how many of them have not ended; None -> how many of all runs of the DAG.
        link: the address where a person goes on.
    """

    run: str
    inside: bool
    unfinished: Callable[[Sequence[str] | None], int]
    link: str = ""


def tell(
    alerts: Alerts,
    state: AnyPath,
    gathered: Callable[[], Run],
    sender: Sender | None = None,
    backfill: InBackfill | None = None,
) -> tuple[str, ...]:
    """Send the message of a run, if it needs one, and what waits of earlier runs; what became of them, a line
    each, also of a failure.

    A run of a backfill sends no message of its own: the last to end sends one of all. Before the first run
    the folder `state` is not there, and nothing is remembered. `backfill`: how the run stands to backfills;
    None: no backfill can be.
    """
    try:
        messages = list(_messages(alerts, state, gathered(), backfill))
        return deliver(alerts, Outbox(_below(state, "unsent")), messages, sender or Sender())
    except Exception as wrong:  # noqa: BLE001 - an alert must never be the reason why a run fails
        line = f"not told: {wrong if isinstance(wrong, MuntinError | OSError) else type(wrong).__name__}"
        log.warning("alerts: %s", line)
        return (line,)


def expect(state: AnyPath, backfill: InBackfill) -> None:
    """Note that a run of a backfill is about to end, so that no other run sends the summary before this run
    has reported.
    """
    if backfill.inside and (folder := _below(state, "backfill")):
        Backfills(folder).expect(backfill.run)


def _messages(alerts: Alerts, state: AnyPath, run: Run, backfill: InBackfill | None) -> Iterator[Message]:
    """The message of the run unless it is of a backfill, and the summary of a backfill if the run is the
    last.

    What a person has to answer or has decided is said at once, also in a backfill.
    """
    if run.kept:
        yield kept_held(run)
    settled = _settled(state, run)
    new_findings, over = list[Finding](), list[Finding]()
    if not run.kept:
        problems, run_findings = Problems(_below(state, "problems")), findings(alerts, run)
        over = [each for each in recovered(problems.all(), run, run_findings) if problems.take(each)]
        # a missing interval is reported once; a revision is no problem that ends
        new_findings = [
            each
            for each in run_findings
            if each.kind == "revised" or problems.add(each) or each.kind != "hole"
        ]
    folder = _below(state, "backfill") if backfill else None
    runs = Backfills(folder) if folder else None
    by_hand = run.asked_until_us is not None or bool(settled)
    inside = (
        runs
        and backfill
        and backfill.inside
        and not by_hand
        and runs.add(Ended(backfill.run, run.failed, tuple(new_findings), tuple(over)))
    )
    if (new_findings or over or settled) and not inside:
        yield message(run, new_findings, over, settled)
    if runs and backfill:
        yield from _summary(run.pipeline, runs, backfill)


def _settled(state: AnyPath, run: Run) -> list[Finding]:
    """The reported problems that a person has ended by an approval, which are remembered no longer."""
    problems = Problems(_below(state, "problems"))
    return [
        problem
        for problem in (approved(problems.all(), run) if run.approved else ())
        if problems.take(problem)
    ]


def _summary(pipeline: str, runs: Backfills, backfill: InBackfill) -> Iterator[Message]:
    """The message of a backfill, if this run is its last and there is something to say."""
    if (idle_s := runs.idle_s()) is None or not (idle_s > IDLE_S or _is_last(runs, backfill)):
        return
    ended = runs.take()
    backfill_findings, over = _together(ended)
    if backfill_findings or over:
        yield summary(
            pipeline,
            len(ended),
            sum(run.failed for run in ended),
            backfill_findings,
            over,
            link=backfill.link,
        )


def _together(ended: Sequence[Ended]) -> tuple[list[Finding], list[Finding]]:
    """The findings and the recoveries of a backfill, without holes that it opened and filled, as its runs end
    in any order.
    """
    met, mended = ({one.key for run in ended for one in getattr(run, what)} for what in ("found", "over"))
    backfill_findings = [
        one for run in ended for one in run.found if one.kind != "hole" or one.key not in mended
    ]
    return backfill_findings, [one for run in ended for one in run.over if one.key not in met]


def _is_last(runs: Backfills, backfill: InBackfill) -> bool:
    """Whether all runs of the DAG that Airflow counts as unfinished or as ended have reported.

    Airflow counts a run as ended before it calls back, so the runs that are about to report are counted after
    Airflow's count.
    """
    run_ids = list(dict.fromkeys([backfill.run, *runs.newest(_ASKED)]))
    return _others(backfill.unfinished, run_ids) <= 0 and not runs.expects()


def _others(unfinished: Callable[[Sequence[str] | None], int], run_ids: Sequence[str]) -> int:
    """How many runs have not ended, without some.

    Airflow tells one number at a time. A run that ends between two answers would be in one of them only, and
    the last run would take itself for another run; so Airflow is asked until the number of such runs is the
    same before and after.
    """
    before = unfinished(run_ids)
    while True:
        every, after = unfinished(None), unfinished(run_ids)
        if after == before:
            return every - after
        before = after


def _below(state: AnyPath, name: str) -> AnyPath | None:
    """A folder of the alerts in a state, `problems`, `unsent` or `backfill`; None if there is no state yet,
    as before the first run.
    """
    return state / "alerts" / name if state.is_dir() else None
