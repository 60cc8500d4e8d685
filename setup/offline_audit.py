"""Whether pinned packages have known vulnerabilities, by a file: package -> its advisories, each with the versions it concerns."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name


def pins(text: str) -> Iterator[tuple[str, str]]:
    """Name and version of each package of a requirements file with hashes."""
    for line in text.splitlines():
        if line[:1].isalnum():
            found = Requirement(line.removesuffix("\\").strip())
            yield canonicalize_name(found.name), str(found.specifier).removeprefix("==")


def by_name(found: Mapping[str, Sequence[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The advisories under the names that an index knows: `Foo_Bar` and `foo-bar` are one package."""
    known: dict[str, list[dict[str, Any]]] = {}
    for name, advisories in found.items():
        known.setdefault(canonicalize_name(name), []).extend(advisories)
    return known


def concerns(advisory: Mapping[str, Any], version: str) -> bool:
    """Whether an advisory is about this version. One whose versions cannot be read is about each."""
    try:
        return SpecifierSet(advisory["v"]).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True


def audit(pinned: Sequence[tuple[str, str]], known: Mapping[str, Sequence[dict[str, Any]]], ignored: Sequence[str]) -> list[str]:
    """A line for each advisory that concerns a pinned version and is not among those that are ignored."""
    return [
        f"{name} {version}: {advisory['id']} ({advisory['cve']}): {advisory['advisory']}; mended in {advisory['fixed_in']}"
        for name, version in pinned
        for advisory in known.get(name, ())
        if not {advisory["id"], advisory["cve"]} & {*ignored} and concerns(advisory, version)
    ]


def main(arguments: Sequence[str]) -> int:
    """Print what was found. The exit status is 1 if an advisory concerns a package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("advisories", type=Path)
    parser.add_argument("requirements", type=Path)
    parser.add_argument("--ignore-vuln", action="append", default=[])
    asked = parser.parse_args(arguments)
    known = by_name(json.loads(asked.advisories.read_text(encoding="utf-8")))
    pinned = [*pins(asked.requirements.read_text(encoding="utf-8"))]
    found = audit(pinned, known, asked.ignore_vuln)
    count = sum(map(len, known.values()))
    print(*found, f"{len(pinned)} packages, {count} advisories, {len(found)} concern us; newer advisories are not known here", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
