"""What `docs/command-line.md` takes from the commands: `python -m docs.commands` writes it anew."""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import typer
from typer.core import TyperCommand, TyperOption

from muntin.cli.main import command_line

PAGE = Path(__file__).parent / "command-line.md"
_ALL = typer.main.get_command(command_line()).commands  # type: ignore[attr-defined]
COMMANDS = {form: _ALL[form] for name in _ALL for form in _ALL if f"{form} ".startswith(f"{name} ") and "--" not in name}
"""Each command, and its forms after it."""
SHARED = 3
"""An option of so many commands stands once, above the commands."""
MOST = 20
_LIST = re.compile(r"(<!-- commands -->\n).*?(<!-- end -->\n)", re.DOTALL)
_OPTIONS = re.compile(r"(<!-- shared options -->\n).*?(<!-- end -->\n)", re.DOTALL)
_SECTION = re.compile(r"(^##+ (?P<name>[a-z -]+)\n\n<!-- help -->\n).*?(<!-- end -->\n)", re.DOTALL | re.MULTILINE)


class Option(NamedTuple):
    """An option as the page shows it."""

    name: str
    text: str


def by_option() -> dict[Option, list[str]]:
    """Each option -> the commands that have it, with the same words."""
    having = defaultdict(list)
    for name, command in COMMANDS.items():
        for option in _options(command):
            having[option].append(name)
    return having


def _options(command: TyperCommand) -> Iterable[Option]:
    for each in command.params:
        if isinstance(each, TyperOption) and each.name != "help":
            shown = " / ".join([*each.opts, *each.secondary_opts]) + (f" {each.metavar}" if each.metavar else "")
            yield Option(shown, f"{each.help}{_default(each)}")


def _default(option: TyperOption) -> str:
    if option.required:
        return " Required."
    plain = isinstance(option.default, int | str | Path) and not isinstance(option.default, bool)
    return f" Default: {option.default}." if plain and option.default != "" and "efault" not in (option.help or "") else ""


def command_list() -> str:
    """The table of all commands and their forms, each with its arguments."""
    rows = [f"| {_link(name)} {_arguments(each)} | {(each.help or '').splitlines()[0]} |" for name, each in COMMANDS.items()]
    return "\n".join(["| command | what it does |", "| --- | --- |", *rows]) + "\n"


def _link(name: str) -> str:
    return f"[`{name}`](#{_heading(name)})"


def _heading(name: str) -> str:
    """The heading of a command, or of a form, which stands below its command."""
    return name.partition(" --")[2] or name


def _arguments(command: TyperCommand) -> str:
    return " ".join(
        (each.metavar or "") if each.required else f"[{each.metavar}]" for each in command.params if each.param_type_name == "argument"
    )


def shared_options() -> str:
    """The options that several commands have."""
    return "".join(f"{_line(option)} ({_commands(names)})\n" for option, names in by_option().items() if len(names) >= SHARED)


def _line(option: Option) -> str:
    return f"- `{option.name}`: {option.text}"


def _commands(names: list[str]) -> str:
    if len(names) < MOST:
        return ", ".join(names)
    without = [each for each in COMMANDS if each not in names]
    return f"all but {', '.join(without)}"


def section(heading: str) -> str:
    """What a command says of itself, and the options that it alone has."""
    having, (command,) = by_option(), (each for name, each in COMMANDS.items() if _heading(name) == heading)
    text = " ".join((command.help or "").split("\b")[0].split("\n\n", 1)[-1].split())
    own = [option for option in _options(command) if len(having[option]) < SHARED]
    return "\n\n".join([text, *(["\n".join(map(_line, own))] if own else [])]) + "\n"


def page() -> str:
    """The page with all of that anew between its marks."""
    text = _LIST.sub(lambda found: found[1] + command_list() + found[2], PAGE.read_text(encoding="utf-8"))
    text = _OPTIONS.sub(lambda found: found[1] + shared_options() + found[2], text)
    return _SECTION.sub(lambda found: found[1] + section(found["name"]) + found[3], text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
