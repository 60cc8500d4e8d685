"""Commands and form fields with which a range of batches runs again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from muntin.definition.instants import from_us, spell_instant

if TYPE_CHECKING:
    from muntin.extensions.page.installation import Place


@dataclass(frozen=True, slots=True)
class Again:
    """How batches run again.

    Attributes:
        command: of Muntin's command line; None where the definition's file is not known.
        airflow: of Airflow's command line; None for a pipeline that no schedule starts.
        form: label -> value of Airflow's form for backfills; empty where there is none.
    """

    command: str | None
    airflow: str | None
    form: dict[str, str]


def again(
    pipeline_place: Place, first_us: int, end_us: int, last_us: int, *, reprocess: bool = True
) -> Again:
    """How the batches from the first to the last run again.

    `last_us`: start of the last batch; `reprocess`: whether they ran before.
    """
    command = None
    if pipeline_place.file:
        said = pipeline_place.pipeline.intervals.argument if pipeline_place.pipeline else spell_instant
        stretch = ["--start", said(first_us), "--end", said(end_us)]
        command = " ".join(
            map(
                quote,
                ["muntin", "run", str(pipeline_place.file), "--root", str(pipeline_place.root), *stretch],
            )
        )
    if pipeline_place.pipeline is None or pipeline_place.pipeline.origin.upstream is not None:
        return Again(command, None, {})
    words = [
        "--from-date",
        _iso(first_us),
        "--to-date",
        _iso(last_us),
        *(["--reprocess-behavior", "completed"] if reprocess else []),
    ]
    airflow = " ".join(map(quote, ["airflow", "backfill", "create", "--dag-id", pipeline_place.name, *words]))
    runs = "All Runs" if reprocess else "Missing Runs"
    return Again(
        command, airflow, {"From": _filled(first_us), "To": _filled(last_us), "Reprocess Behavior": runs}
    )


def _iso(us: int) -> str:
    return f"{from_us(us):%Y-%m-%dT%H:%M:%S}+00:00"


def _filled(us: int) -> str:
    """An instant as the form's two fields take it."""
    return f"{from_us(us):%Y/%m/%d %H:%M}"


def begin(pipeline_place: Place, start_us: int) -> str:
    """The command that begins a run of a batch by hand: a run without a logical date is cleared by no
    command.
    """
    return " ".join(
        map(
            quote,
            [
                "airflow",
                "dags",
                "trigger",
                pipeline_place.name,
                "--conf",
                json.dumps({"interval_start": _iso(start_us)}),
            ],
        )
    )


def clear(pipeline_place: Place, first_us: int, last_us: int, step: str | None) -> str:
    """The command that lets Airflow do the runs of batches again, from a step on.

    Their logical dates are the starts of their intervals.
    """
    words = [
        "airflow",
        "tasks",
        "clear",
        pipeline_place.name,
        "--start-date",
        _iso(first_us),
        "--end-date",
        _iso(last_us),
    ]
    return " ".join(map(quote, [*words, *(["--task-regex", step, "--downstream"] if step else []), "--yes"]))
