"""A test follows each advice that a message gives: the command is run, the line is written, and then it works."""

import ast
import inspect
import json
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest
import typer

import muntin as package
from muntin import aggregates, alerts, sinks, sources, windows
from muntin.cli.main import command_line, with_form
from muntin.cli.report import command_of
from muntin.errors import DefinitionError
from muntin.quality.suite import load_suite
from tests.cli.conftest import RANGE, Muntin, Outcome, Project

pytestmark = pytest.mark.usefixtures("here")
MEAN = {'"total": agg.sum("value")': '"total": agg.mean("value")'}
MORE = {'"least": agg.min("value")': '"least": agg.min("value"), "greatest": agg.max("value")'}
RENAMED = {'"quarter": windows': '"six": windows', 'keys=["sensor"],': 'keys=["sensor"], renamed=Renamed(windows={"six": "quarter"}),'}


def commands(text: str, file: str) -> list[list[str]]:
    """The commands that a message gives, as arguments."""
    found = re.findall(r"muntin ((?:run|promote|show|doctor) [^;,\n]*?)(?=[;,.\n](?:\s|$)|$)", text)
    return [shlex.split(each.replace("FILE", file)) for each in found]


def redefined(project: Project, _: Muntin) -> None:
    project.define(**MEAN)


def rebuilt(project: Project, _: Muntin) -> None:
    project.define(**MORE)


def renamed(project: Project, _: Muntin) -> None:
    project.define(**RENAMED)


def superseded(project: Project, muntin: Muntin) -> None:
    project.define(**MEAN)
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    project.define()


# what happens to the definition after a run, the command that is refused, and which advice it gives
REFUSED: list[tuple[Callable[[Project, Muntin], None], tuple[str, ...], str]] = [
    (redefined, ("show", "quarter"), "promote"),
    (redefined, ("sql", "select * from quarter"), "promote"),
    (redefined, ("show", "--late"), "promote"),
    (rebuilt, ("show", "quarter"), "run --rebuild"),
    (renamed, ("show", "six"), "promote"),
    (superseded, ("show", "quarter"), "promote"),
    (superseded, ("run", *RANGE), "promote"),
]


@pytest.mark.parametrize(("change", "asked", "advice"), REFUSED)
def test_the_command_of_a_message_makes_the_refused_command_work(
    change: Callable[[Project, Muntin], None], asked: tuple[str, ...], advice: str, project: Project, muntin: Muntin
) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    change(project, muntin)
    refused = muntin(*project.arguments(*asked))
    assert refused.status == 3, refused
    [command, *_] = commands(refused.err, project.file)
    assert with_form(command)[0] == advice
    if "--root" not in command:
        command += ["--root", project.root]
    done = muntin(*command)
    assert done.status == 0, done
    assert muntin(*project.arguments(*asked)).status == 0


def test_plot_without_an_aggregate_names_those_that_can_be_drawn(project: Project, muntin: Muntin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder)
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    refused: Outcome = muntin(*project.arguments("show", "--plot", "quarter"))
    assert (refused.status, "of readings, total, least: muntin show --plot" in refused.err) == (2, True), refused
    [command] = commands(refused.err, project.file)
    assert muntin(*command).status == 0
    assert Path("plot.png").is_file()


@cache
def texts() -> list[tuple[str, str]]:
    """File and text of each string of the product; what is filled in is an X."""
    found = []
    for file in sorted(Path(package.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            values = [part.value if isinstance(part, ast.Constant) else "X" for part in parts]
            found.append((file.name, "".join(value for value in values if isinstance(value, str))))
    return [each for each in found if each[1]]


PROSE = ("muntin import", "muntin alert", "muntin sink", "muntin task")
"""Words after the package's name, or in the name of a thread or a logger, that are no command."""


def lines() -> Iterator[tuple[str, str]]:
    """File and line of each command line in the texts of the product, up to what may be a sentence after it."""
    for file, text in texts():
        for line in re.findall(r"(?<![\w./\[-])muntin [a-z-]+(?: [^;,`\n]*)?", text):
            if not line.startswith(PROSE):
                yield f"{file}: {line}", line


def test_every_line_that_a_text_of_the_product_gives_is_one_of_a_command() -> None:
    known = typer.main.get_command(command_line()).commands  # type: ignore[attr-defined]
    told = dict(lines())
    assert len(told) > 100
    for place, line in told.items():
        words = line.split()[1:]
        name, *options = with_form([words[0], *(word.rstrip(".:)") for word in words if word.startswith("--") and word != "--NAME")])
        assert name in known, place
        assert {*options} <= {option for each in known[name].params for option in each.opts}, place


def test_the_line_that_goes_on_has_its_form_as_an_option() -> None:
    assert command_of("run --rebuild", Path("a b.py"), None, Path("state")) == "muntin run --rebuild 'a b.py' --root state"


HOMES = {"agg": aggregates, "aggregates": aggregates, "alerts": alerts, "sinks": sinks, "sources": sources, "windows": windows}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Text and syntax of each call of a public function in the texts of the product, up to the bracket that ends it."""
    for file, text in texts():
        for begin in re.finditer(rf"(?<![\w.])(?:{'|'.join(HOMES)})\.(?!X\()\w+\(", text):
            depths = accumulate((each in "([{") - (each in ")]}") for each in text[begin.end() - 1 :])
            length = next((at for at, depth in enumerate(depths) if depth == 0), None)
            if length is not None and "..." not in (call := " ".join(text[begin.start() : begin.end() + length].split())):
                yield f"{file}: {call}", ast.parse(call, mode="eval").body  # type: ignore[misc]


def test_every_call_that_a_text_of_the_product_gives_is_taken() -> None:
    told = dict(calls())
    assert len(told) > 50
    for place, call in told.items():
        function = getattr(HOMES[call.func.value.id], call.func.attr)  # type: ignore[attr-defined]
        inspect.signature(function).bind(*call.args, **{each.arg: each.value for each in call.keywords if each.arg})
        with suppress(NameError):  # of a name that stands for a value
            assert eval(ast.unparse(call), HOMES.copy()), place  # noqa: S307 - a text of ours


OLD = {
    "expectation_suite_name": "quarter",
    "data_asset_type": None,
    "ge_cloud_id": None,
    "expectations": [{"expectation_type": "expect_column_values_to_not_be_null", "kwargs": {"column": "total"}, "meta": {}}],
    "meta": {"great_expectations_version": "0.18.22"},
}


def test_a_suite_from_before_1_0_says_how_its_fields_are_called_now(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(OLD))
    with pytest.raises(DefinitionError, match=r"before 1\.0") as refused:
        load_suite(path)
    text = path.read_text()
    for new, old in re.findall(r'write "(\w+)" for "(\w+)"', str(refused.value)):
        text = text.replace(f'"{old}"', f'"{new}"')
    for gone in re.findall(r'"(\w+)"', str(refused.value).partition("leave out ")[2]):
        text = re.sub(rf'"{gone}": null, ', "", text)
    path.write_text(text)
    suite = load_suite(path)
    assert (suite.name, suite.expectations[0].type) == ("quarter", "expect_column_values_to_not_be_null")


# a call that is refused, and the pattern of the argument that its message gives
CALLS: list[tuple[Callable[..., object], str, dict[str, object]]] = [
    (windows.sliding, r"try step (\S+?),", {"size": "6h", "step": "4h"}),
    (windows.sliding, r'step="(.+?)"', {"size": "6h", "step": "1us"}),
    (windows.cumulating, r"try step (\S+?),", {"max_size": "6h", "step": "4h"}),
    (windows.cumulating, r'step="(.+?)"', {"max_size": "15m", "step": 1}),
]


@pytest.mark.parametrize(("build", "pattern", "asked"), CALLS)
def test_the_argument_of_a_message_is_taken(build: Callable[..., object], pattern: str, asked: dict[str, object]) -> None:
    with pytest.raises(DefinitionError) as refused:
        build(**asked)
    advice = re.search(pattern, str(refused.value))
    assert advice, refused.value
    build(**asked | {"step": advice[1]})
