"""The look-ups of a definition: names by which expressions know the rows of dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Collection

    from muntin.definition.parts import Source


def check_lookups(given: object, source: Source, sources: Collection[str]) -> None:
    """Look-ups by name, which go with the source.

    Raises:
        DefinitionError: something else than a look-up, a name that SQL could not say, or a source that cannot look up.
    """
    if not isinstance(given, Mapping):
        raise DefinitionError(f'lookups: {given!r} is not a mapping; write {{"rates": sources.lookup(sources.files("rates/*.csv"), ...)}}')
    for name, each in given.items():
        _check_one(name, each)
        _check_of(name, each.of, source, sources)
    if given and source.dedupe_within_us is not None:
        raise DefinitionError(
            "lookups: dedupe_within= compares batches and lookups= depends on dimensions, and a batch can be settled by one of them alone; "
            "use dedupe= without it, which compares the rows of a batch"
        )


def _check_one(name: Any, each: Any) -> None:  # noqa: ANN401 - whatever the user gave
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or name.lower().startswith("muntin"):
        raise DefinitionError(f'lookups: {name!r} cannot name a look-up; use letters, digits and "_", as "rates"')
    if not hasattr(each, "since") or not hasattr(each, "required"):
        raise DefinitionError(
            f'lookups[{name!r}]: {each!r} is no look-up; give sources.lookup(sources.files("rates/*.csv"), keys=[...], ...)'
        )


def _check_of(name: str, of: Collection[str], source: Source, sources: Collection[str]) -> None:
    for wanted in of if source.member is None else ():  # of a source among several, alone: the whole was checked
        if wanted not in sources:
            known = f"the sources are {', '.join(map(repr, sources))}" if sources else "the only source has no name; leave of= out"
            raise DefinitionError(f"lookups[{name!r}]: of: there is no source {wanted!r}; {known}")
