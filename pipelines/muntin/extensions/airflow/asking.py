"""The task `ask`: where a suite holds what a run staged, a person says whether it is published all the same.
Imports Airflow's operator.

validate   ask                                        publish
failed     tells the channels where and until when
           waits, without a worker ... "Publish"      as it was staged, if the verdict is the same
                                   ... "Keep it held", no answer: the run fails, the batch stays held
                                   ... another run has published meanwhile: nothing is asked any more;
                                       finalize and validate again
passed     does nothing                               as ever
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Param
from airflow.sdk.exceptions import AirflowFailException, TaskAwaitingInput

from muntin.definition.durations import spell
from muntin.definition.instants import instant_us, spell_instant
from muntin.definition.spelling import many
from muntin.errors import ConflictError
from muntin.extensions.airflow.alerting import host
from muntin.extensions.airflow.noting import noted_as_asked
from muntin.jobs.records.batch_states import ASK
from muntin.quality.report import verdict_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from contextlib import AbstractContextManager

    from muntin.definition.pipeline import Pipeline
    from muntin.extensions.airflow.place import Context, PlaceOf
    from muntin.jobs.publish.held import HeldWindows

    Ending = Callable[[Context], AbstractContextManager[object]]
    Tell = Callable[[Context, HeldWindows, int], None]

YES, NO = "Publish", "Keep it held"
AGAIN = timedelta(minutes=5)
"""So often an open question looks whether there is anything left to decide: another run, or `muntin publish`,
may have published it.
"""
_SECOND_US = 1_000_000
_REASON = Param(
    "", type="string", title="Reason", description="It stays in the report of the batches, with your name."
)


def ask(
    pipeline: Pipeline,
    place: PlaceOf,
    finalize: str,
    ending: Ending,
    tell: Tell,
    **options: Any,  # noqa: ANN401 - of an operator
) -> AskOperator:
    """The task `ask` of a pipeline that asks; `finalize`: the id of the task that staged the windows.

    `ending`: a context around what an answer leads to; an exception in it ends the run. `tell` is called when
    the question is put, with the context, what is held, and until when the question waits, in microseconds.
    """
    from muntin.extensions.airflow.tasks import begin

    within_us = pipeline.ask_within_us or 0
    return AskOperator(
        task_id=ASK,
        subject="Publish all the same?",
        options=[YES, NO],
        params={"reason": _REASON},
        response_timeout=timedelta(microseconds=within_us),
        place=place,
        finalize=finalize,
        ending=ending,
        tell=tell,
        pre_execute=begin,
        **options,
    )


class AskOperator(HITLOperator):  # type: ignore[misc]
    """Airflow's question to a person, asked only where a suite holds what the run staged.

    Returns the approval, or nothing; see `ask`.
    """

    def __init__(
        self,
        *,
        place: PlaceOf,
        finalize: str,
        ending: Ending,
        tell: Tell,
        **options: Any,  # noqa: ANN401 - of an operator
    ) -> None:
        super().__init__(**options)
        self._place, self._finalize, self._ending, self._tell = place, finalize, ending, tell

    def execute(self, context: Context) -> dict[str, str]:
        held = self._held(context)
        if held is None:
            self.log.info("nothing is held: nobody is asked")
            return {}
        at = self._place(context)
        until_us = (_now_us() + self.response_timeout // timedelta(microseconds=1)) // _SECOND_US * _SECOND_US
        mask = at.bound.alerts.mask if at.bound.alerts else ()
        self.subject = f"Publish {at.bound.pipeline.name} {at.interval} although a check failed?"
        self.body = question(held, mask, until_us)
        noted_as_asked(self._place, context)
        try:
            super().execute(context)
        except TaskAwaitingInput:
            self._tell(context, held, until_us)
            raise _parked(held.name, until_us) from None
        return {}

    def execute_complete(
        self, context: Context, event: dict[str, Any], verdict: str = "", until_us: int = 0
    ) -> dict[str, str]:
        """The approval of the verdict that was shown; nothing where another run has published meanwhile.

        A `KeptHeldError` if the answer is no, or no answer came.
        """
        if event.get("error_type") == "timeout" and _now_us() < until_us and self._held(context):
            raise _parked(verdict, until_us)
        with self._ending(context):
            answer = (
                None if event.get("error_type") == "timeout" else super().execute_complete(context, event)
            )
            who = (answer or {}).get("responded_by_user") or {}
            by, reason = (
                who.get("name") or who.get("id") or "somebody",
                ((answer or {}).get("params_input") or {}).get("reason") or "",
            )
            if answer and answer["chosen_options"] == [YES] and not self._is_outdated(context):
                self.log.info("%s: publish what the verdict %s holds: %s", by, verdict, reason)
                return {"verdict": verdict, "by": by, "reason": reason}
            if self._held(context) is None:
                self.log.info(
                    "the windows are published, or their batches were read again: there is nothing to decide"
                    " any more"
                )
                return {}
            why = (
                f"{by} said {NO!r}{f': {reason}' if reason else ''}"
                if answer
                else f"nobody answered within {spell(self.response_timeout // timedelta(microseconds=1))}"
            )
            raise KeptHeldError(f"held by the verdict {verdict}: {why}; nothing was published", verdict)

    def _is_outdated(self, context: Context) -> bool:
        """Whether a batch was read again as something else since the question was put: the run that did so
        asks itself.
        """
        from muntin.jobs.publish.held import is_outdated
        from muntin.jobs.published.staged_windows import load_staged

        bound = self._place(context).bound
        try:
            return is_outdated(bound, load_staged(bound.store, self._folder(context) or ""))
        except ConflictError:
            return False

    def _folder(self, context: Context) -> str | None:
        folder: str | None = context["ti"].xcom_pull(task_ids=self._finalize)["folder"]
        return folder

    def _held(self, context: Context) -> HeldWindows | None:
        from muntin.jobs.publish.held import held_in

        folder = self._folder(context)
        return held_in(self._place(context).bound, folder) if folder else None


class KeptHeldError(AirflowFailException):  # type: ignore[misc]
    """Windows that a suite holds stay held: a person said so, or did not answer.

    `kept`: the name of the verdict, and why.
    """

    def __init__(self, text: str, verdict: str) -> None:
        super().__init__(text)
        self.kept = verdict, text


def _parked(verdict: str, until_us: int) -> TaskAwaitingInput:
    """The signal that lets a task wait for the answer, for a while."""
    left = timedelta(microseconds=max(until_us - _now_us(), 0))
    kwargs = {"verdict": verdict, "until_us": until_us}
    return TaskAwaitingInput(method_name="execute_complete", kwargs=kwargs, timeout=min(AGAIN, left))


def _now_us() -> int:
    return instant_us(datetime.now(UTC), "now")


def question(held: HeldWindows, mask: Collection[str], until_us: int) -> str:
    """The text of the question, Markdown: what is held, what failed, and what each answer does.

    Whatever the data holds is shown as it is, but for masked columns. Each line is an item of a list, since
    Airflow's form joins lines.
    """
    lines = [
        line for report in held.reports.values() for line in verdict_lines(host().masked_report(report, mask))
    ]
    windows = ", ".join(f"`{window.window}`" for window in held.staged.windows)
    return "\n".join(
        [
            f"{many(len(held.starts), 'batch')}, {held.over}: windows of {windows}. Verdict `{held.name}`.",
            "",
            *(f"{' ' * (len(line) - len(line.lstrip()))}- {_as_code(line.strip())}" for line in lines),
            "",
            (
                f"*{YES}*: readers see these windows, exactly as they were checked; the report keeps your"
                f" name and the reason. *{NO}*, or no answer until {spell_instant(until_us)} UTC: the run"
                " fails, and nothing is published."
            ),
        ]
    )


def _as_code(line: str) -> str:
    """A line as code of Markdown, in which nothing is markup: between more backticks than there are together
    in it.
    """
    ticks = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    return f"{ticks} {line} {ticks}" if len(ticks) > 1 else f"{ticks}{line}{ticks}"
