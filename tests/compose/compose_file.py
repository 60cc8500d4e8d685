"""A compose file, read as compose reads it: YAML with anchors and merge keys, then `${...}` in every string, then defaults."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

CHECKOUT = Path(__file__).parents[2]
FILE, EXAMPLE = CHECKOUT / "docker-compose.yml", CHECKOUT / ".env.example"
_VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>\w+)(?:(?P<rule>:?[-?+])(?P<word>[^}]*))?\})")


class ComposeError(Exception):
    """A variable is missing that the file demands."""


@dataclass(frozen=True)
class Service:
    """A service of the file.

    Attributes:
        name: its host name, too.
        entrypoint, command: as words; empty if the image's own runs.
        environment: what the file sets; a name without a value is there only if the variables have it.
        healthcheck: the words of the check behind `CMD`, empty without a check.
        mounts: what lies at a path of the container: a folder below the file as `./dags`, or the name of a volume.
        replicas: how many containers.
        said: the service as it is in the file, merged and interpolated.
    """

    name: str
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    healthcheck: tuple[str, ...] = ()
    mounts: Mapping[str, str] = field(default_factory=dict)
    replicas: int = 1
    said: Mapping[str, Any] = field(default_factory=dict)


def services(variables: Mapping[str, str], file: Path = FILE) -> dict[str, Service]:
    """Every service of a file, those of profiles included.

    Raises:
        ComposeError: see `interpolated`.
    """
    said = interpolated(yaml.safe_load(file.read_text(encoding="utf-8")), variables)["services"]
    return {name: _service(name, each, variables) for name, each in said.items()}


def _service(name: str, said: Mapping[str, Any], variables: Mapping[str, str]) -> Service:
    mounts = [each.split(":") for each in said.get("volumes", ())]
    return Service(
        name,
        entrypoint=_words(said.get("entrypoint", ())),
        command=_words(said.get("command", ())),
        environment={key: value for key, value in _environment(said.get("environment", {}), variables).items() if value is not None},
        healthcheck=_words(said.get("healthcheck", {}).get("test", ("CMD",)))[1:],
        mounts={target: source for source, target, *_ in mounts},
        replicas=said.get("deploy", {}).get("replicas", 1),
        said=said,
    )


def _words(said: Any) -> tuple[str, ...]:
    return tuple(shlex.split(said) if isinstance(said, str) else said)


def _environment(said: Mapping[str, Any], variables: Mapping[str, str]) -> dict[str, Any]:
    return {key: variables.get(key) if value is None else str(value) for key, value in said.items()}


def interpolated(tree: Any, variables: Mapping[str, str]) -> Any:
    """A tree of YAML with `${NAME}`, `${NAME:-default}`, `${NAME:?message}` and `$$` replaced in its strings.

    Raises:
        ComposeError: a variable with `?` is missing, or with `:?` is missing or empty.

    >>> interpolated(["a$$b ${X} ${Y:-z}"], {"X": "1", "Y": ""})
    ['a$b 1 z']
    """
    if isinstance(tree, dict):
        return {key: interpolated(value, variables) for key, value in tree.items()}
    if isinstance(tree, list):
        return [interpolated(each, variables) for each in tree]
    return _VARIABLE.sub(lambda found: _value(found, variables), tree) if isinstance(tree, str) else tree


def _value(found: re.Match[str], variables: Mapping[str, str]) -> str:
    if found["dollar"]:
        return "$"
    rule, value = found["rule"] or "", variables.get(found["name"])
    lacks = not value if rule.startswith(":") else value is None
    if rule.endswith("?") and lacks:
        raise ComposeError(f"{found['name']}: {found['word']}")
    if rule.endswith("+"):
        return "" if lacks else found["word"]
    return found["word"] if rule.endswith("-") and lacks else value or ""


def example_variables(*, optional: bool = False) -> dict[str, str]:
    """`.env.example` filled in: every line that demands a value has one, and, if asked for, those that are commented out."""
    filled = re.findall(rf"^{'#?' if optional else ''}([A-Z_0-9]+)=(.*)$", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: value or f"filled-in-{name.lower().replace('_', '-')}" for name, value in filled}
