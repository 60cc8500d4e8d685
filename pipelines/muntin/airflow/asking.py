"""The task `ask`: where a suite holds what a run staged, a person says whether it is published all the same. Imports Airflow's operator.

validate   ask                                        publish
failed     waits, without a worker ... "Publish"      as it was staged, if the verdict is the same
                                   ... "Keep it held", no answer: the run fails, the batch stays held
                                   ... another run has published meanwhile: nothing is asked any more; finalize and validate again
passed     does nothing                               as ever
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Param
from airflow.sdk.exceptions import AirflowFailException, TaskAwaitingInput

from muntin.airflow.noting import noted_as_asked
from muntin.definition.amounts import many
from muntin.definition.durations import spell
from muntin.definition.instants import spell_instant
from muntin.errors import ConflictError
from muntin.jobs.records.batch_states import ASK
from muntin.quality.verdict_lines import verdict_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from airflow.sdk import Context

    from muntin.airflow.place import Place
    from muntin.definition.pipeline import Pipeline
    from muntin.jobs.publish.held import HeldWindows

    PlaceOf = Callable[[Mapping[str, Any]], Place]

YES, NO = "Publish", "Keep it held"
_REASON = Param("", type="string", title="Reason", description="It stays in the report of the batches, with your name.")


def ask(
    pipeline: Pipeline,
    place: PlaceOf,
    finalize: str,
    ending: Callable[[Mapping[str, Any]], AbstractContextManager[object]],
    **options: Any,  # noqa: ANN401 - of an operator
) -> AskOperator:
    """The task `ask` of a pipeline that asks.

    Args:
        pipeline: the definition.
        place: gives the place of a run.
        finalize: the id of the task that staged the windows.
        ending: a context around what an answer leads to; an exception in it ends the run.
        **options: of the operator.
    """
    from muntin.airflow.tasks import begin

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
        pre_execute=begin,
        **options,
    )


class AskOperator(HITLOperator):  # type: ignore[misc]
    """Airflow's question to a person, asked only where a suite holds what the run staged. Returns the approval, or nothing; see `ask`."""

    def __init__(
        self,
        *,
        place: PlaceOf,
        finalize: str,
        ending: Callable[[Mapping[str, Any]], AbstractContextManager[object]],
        **options: Any,  # noqa: ANN401 - of an operator
    ) -> None:
        super().__init__(**options)
        self._place, self._finalize, self._ending = place, finalize, ending

    def execute(self, context: Context) -> dict[str, str]:
        """Ask, if there is something to ask."""
        held = self._held(context)
        if held is None:
            self.log.info("nothing is held: nobody is asked")
            return {}
        at = self._place(context)
        self.subject, self.body = f"Publish {at.bound.pipeline.name} {at.interval} although its suite failed?", question(held)
        noted_as_asked(self._place, context)
        try:
            super().execute(context)
        except TaskAwaitingInput as parked:
            raise TaskAwaitingInput(method_name="execute_complete", kwargs={"verdict": held.name}, timeout=parked.timeout) from None
        return {}

    def execute_complete(self, context: Context, event: dict[str, Any], verdict: str = "") -> dict[str, str]:
        """The approval of the verdict that was shown; nothing where another run has published meanwhile.

        Raises:
            AirflowFailException: the answer is no, or nobody answered.
        """
        with self._ending(context):
            answer = None if event.get("error_type") == "timeout" else super().execute_complete(context, event)
            who = (answer or {}).get("responded_by_user") or {}
            by, reason = who.get("name") or who.get("id") or "somebody", ((answer or {}).get("params_input") or {}).get("reason") or ""
            if answer and answer["chosen_options"] == [YES] and not self._is_outdated(context):
                self.log.info("%s: publish what the verdict %s holds: %s", by, verdict, reason)
                return {"verdict": verdict, "by": by, "reason": reason}
            if self._held(context) is None:
                self.log.info("the windows are published, or their batches were read again: there is nothing to decide any more")
                return {}
            why = (
                f"{by} said {NO!r}{f': {reason}' if reason else ''}"
                if answer
                else f"nobody answered within {spell(self.response_timeout // timedelta(microseconds=1))}"
            )
            raise AirflowFailException(f"held by the verdict {verdict}: {why}; nothing was published")

    def _is_outdated(self, context: Mapping[str, Any]) -> bool:
        """Whether a batch was read again as something else since the question was put: the run that did so asks itself."""
        from muntin.jobs.publish.held import is_outdated
        from muntin.jobs.published.staging_folders import load_staged

        bound = self._place(context).bound
        try:
            return is_outdated(bound, load_staged(bound.store, self._folder(context) or ""))
        except ConflictError:
            return False

    def _folder(self, context: Mapping[str, Any]) -> str | None:
        """The folder of the staged windows."""
        found: str | None = context["ti"].xcom_pull(task_ids=self._finalize)["folder"]
        return found

    def _held(self, context: Mapping[str, Any]) -> HeldWindows | None:
        from muntin.jobs.publish.held import held_in

        folder = self._folder(context)
        return held_in(self._place(context).bound, folder) if folder else None


def question(held: HeldWindows) -> str:
    """The text of the question, Markdown: what is held, and what failed. Whatever the data holds is shown as it is."""
    lines = [line for report in held.reports.values() for line in verdict_lines(report)]
    first, last = spell_instant(held.starts[0]), spell_instant(held.starts[-1])
    span = first if first == last else f"{first} to {last}"
    windows = ", ".join(f"`{window.window}`" for window in held.staged.windows)
    return "\n".join(
        [
            f"{many(len(held.starts), 'batch')}, {span}: windows of {windows}. Verdict `{held.name}`.",
            "",
            *(f"    {line}" for line in lines),
            "",
            "Readers see these windows, exactly as they were checked, if you publish them. The report keeps your name and the reason.",
        ]
    )
