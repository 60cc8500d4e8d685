"""The memory of forgotten keys: changed, asked, and told for a register."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from muntin.definition.instants import instant_us
from muntin.definition.pipeline import Pipeline
from muntin.errors import DefinitionError, StateError
from muntin.files.paths import AnyPath
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.state.forgotten import forgotten, hash_name, note, rotate, secrets_of
from muntin.states.forgotten_keys import UNDONE, Plain, key_of


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memory of a pipeline: how many keys are forgotten, of how many something may be left, and each
    event, oldest first.
    """

    keys: int
    open: int
    events: tuple[Mapping[str, Any], ...]


def remembered(pipeline: Pipeline, *, root: str | AnyPath) -> Remembered:
    """The memory of a pipeline, without the keys themselves.

    Raises:
        StateError: there is no folder of the pipeline, or its log of forgotten keys is damaged.
    """
    now = forgotten(bound_home(pipeline, root).home)
    events = ({**event, "keys": len(event["keys"])} for event in now.events)
    return Remembered(sum(until > UNDONE for until in now.untils.values()), len(now.open), tuple(events))


def new_keys(
    pipeline: Pipeline, keys: Sequence[Mapping[str, Any]], *, root: str | AnyPath
) -> list[Mapping[str, Any]]:
    """The keys that were never forgotten, or of which something may be left; keys that count again are not
    among them.

    Raises:
        DefinitionError: a column is no key of the pipeline, or a value is null.
        StateError: there is no folder of the pipeline, or what is remembered cannot be read.
    """
    bound = bound_home(pipeline, root)
    now = forgotten(bound.home)
    if not keys or not now.number:
        return [*keys]
    plain_keys(pipeline, keys)
    used = secrets_of(bound, now)
    named = [(hash_name(key_of(key), used), key) for key in keys]
    return [key for name, key in named if name in now.open or name not in now.untils]


def undo(
    pipeline: Pipeline, keys: Sequence[Mapping[str, Any]], *, root: str | AnyPath, now: datetime | None = None
) -> int:
    """Take keys out of what is remembered: their rows count again in batches that are read from now on. How
    many keys.

    Raises:
        DefinitionError: a column is no key of the pipeline, or a key is not forgotten.
        StateError: what is remembered cannot be read or written.
    """
    bound, plain = bound_home(pipeline, root), _forgotten(pipeline, keys, root)
    note(bound, "undo", plain.keys, now or utc_now())
    return len(plain.keys)


def count_again(
    pipeline: Pipeline,
    keys: Sequence[Mapping[str, Any]],
    until: datetime,
    *,
    root: str | AnyPath,
    now: datetime | None = None,
) -> int:
    """Let rows of forgotten keys count again whose event time is not before an instant: a new relationship
    began. How many keys.

    Raises:
        DefinitionError: a column is no key of the pipeline, or a key is not forgotten.
        StateError: what is remembered cannot be read or written.
    """
    bound, plain = bound_home(pipeline, root), _forgotten(pipeline, keys, root)
    note(bound, "until", plain.keys, now or utc_now(), until_us=instant_us(until, "until"))
    return len(plain.keys)


def new_secret(pipeline: Pipeline, *, root: str | AnyPath, now: datetime | None = None) -> int:
    """Hash what is remembered with one more secret; how many keys.

    Raises:
        StateError: the secrets, or what is remembered, cannot be read or written.
    """
    return rotate(bound_home(pipeline, root), now or utc_now())


def bound_home(pipeline: Pipeline, root: str | AnyPath) -> Bound:
    """The state of a pipeline that was run at least once, under any definition.

    Raises:
        StateError: there is no folder of the pipeline.
    """
    bound = bind(pipeline, root)
    if not bound.home.is_dir():
        raise StateError(
            f"there is no folder of {pipeline.name!r} below {bound.root}; give the root that runs wrote to"
        )
    return bound


def plain_keys(pipeline: Pipeline, keys: Sequence[Mapping[str, Any]]) -> Plain:
    """The keys by their values as texts.

    Raises:
        DefinitionError: a column is no key of the pipeline, or a value is null, or there is none.
    """
    for key in keys:
        if wrong := [name for name in key if name not in pipeline.keys]:
            raise DefinitionError(
                f"{pipeline.name}: {wrong[0]!r} is no key; keys are {', '.join(pipeline.keys) or 'none'}"
            )
        if not key or None in key.values():
            raise DefinitionError(
                f"{pipeline.name}: a key to forget needs a value in each of its columns; found {dict(key)}"
            )
    if not keys:
        raise DefinitionError(
            f"{pipeline.name}: say which key to forget, as --key {next(iter(pipeline.keys), 'user')}=42"
        )
    return Plain(frozenset(map(key_of, keys)))


def _forgotten(pipeline: Pipeline, keys: Sequence[Mapping[str, Any]], root: str | AnyPath) -> Plain:
    bound, plain = bound_home(pipeline, root), plain_keys(pipeline, keys)
    now = forgotten(bound.home)
    used = secrets_of(bound, now) if now.number else ()
    if lacks := [
        key for key in plain.keys if not used or now.untils.get(hash_name(key, used), UNDONE) == UNDONE
    ]:
        first_key = " and ".join(f"{name}={value}" for name, value in lacks[0])
        raise DefinitionError(
            f"{pipeline.name}: {first_key} is not forgotten; muntin forget FILE --key {first_key} says what "
            "lies where of it"
        )
    return plain
