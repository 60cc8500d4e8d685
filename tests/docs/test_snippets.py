"""Every piece of code in the docs is run by a test, every command line is one, and the outputs of docs/command-line.md are real."""

import re
import shlex
import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as pq
import pytest
import typer

from examples.flights_log import by_day, departures, read_source
from muntin import Pipeline, Renamed, Retain, sources, windows
from muntin import aggregates as agg
from muntin.cli.main import command_line, main, with_form
from muntin.testing import pipeline_of
from tests.cli.conftest import without_spark

ROOT = Path(__file__).parents[2]
PAGES = {path.relative_to(ROOT).as_posix(): path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}
RUN_BY = {  # pages with Python -> the test that runs it
    "README.md": ("test_snippets.py", "test_readme.py"),
    "docs/aggregates.md": ("test_aggregates_page.py",),
    "docs/airflow-among-tasks.md": ("../airflow/inside/test_among_tasks.py",),
    "docs/airflow-partitions.md": ("../airflow/inside/test_among_tasks.py",),
    "docs/airflow.md": ("test_snippets.py", "../airflow/inside/test_dag.py"),
    "docs/alerts.md": ("test_alerts_page.py",),
    "docs/changes.md": ("test_changes_page.py",),
    "docs/dimensions.md": ("test_dimensions_page.py",),
    "docs/expectations.md": ("test_snippets.py", "../quality/test_expectations_page.py"),
    "docs/forgetting.md": ("test_forgetting_page.py",),
    "docs/kafka.md": ("test_snippets.py",),
    "docs/lookups.md": ("test_lookups_page.py", "test_lookups_over.py"),
    "docs/operating/definitions.md": ("test_snippets.py",),
    "docs/operating/object-stores.md": ("test_snippets.py",),
    "docs/operating/retention.md": ("test_snippets.py",),
    "docs/own-aggregates.md": ("test_own_aggregates.py",),
    "docs/questions.md": ("test_questions_page.py",),
    "docs/several-sources.md": ("../several/test_page.py",),
    "docs/extensions.md": ("../extensions/test_stranger.py",),
    "docs/sinks.md": ("../sinks/test_sinks_page.py",),
    "docs/sources.md": ("test_testing_page.py",),
    "docs/tables.md": ("test_tables_page.py",),
    "docs/testing.md": ("test_testing_page.py",),
    "docs/tutorial.md": ("test_site.py",),
    **{page: ("test_window_pages.py",) for page in PAGES if page.startswith("docs/windows/")},
}


def blocks(page: str, language: str = "python") -> list[str]:
    found = re.findall(rf"^ *```{language}\n(.*?)^ *```", PAGES[page].read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return list(map(textwrap.dedent, found))  # a block of a list's item is indented


def test_every_page_with_code_has_a_test_that_runs_it() -> None:
    code = re.compile(r"^ *```(?:python|pycon)", re.MULTILINE)
    with_code = {page for page, path in PAGES.items() if code.search(path.read_text(encoding="utf-8"))}
    assert with_code <= RUN_BY.keys()
    for page in with_code:
        texts = [(Path(__file__).parent / test).read_text(encoding="utf-8") for test in RUN_BY[page]]
        assert all(Path(page).stem in text or (page.startswith("docs/windows") and "docs/windows" in text) for text in texts), page


class TestDefinitions:
    """Pieces of definitions, the rest of which is `...`."""

    REST: ClassVar = {
        "name": "flights",
        "source": sources.files("data/{start:%Y-%m-%d}.parquet", event_time="scheduled"),
        "schedule": "@daily",
        "start": datetime.fromisoformat("2013-01-01T00:00Z"),
        "aggregates": {"delay": agg.mean("dep_delay")},
    }

    def defined(self, code: str) -> Any:
        """What the code makes of a pipeline whose other arguments are given."""
        (window,) = re.findall(r'Renamed\(.*windows={"(\w+)"', code) or ["last_6_hours"]
        rest = {**self.REST, "windows": {window: windows.sliding("6h", step="1h")}}
        names: dict[str, Any] = {
            "Pipeline": lambda *_, **given: Pipeline(**{**rest, **given}),
            "agg": agg,
            "Renamed": Renamed,
            "Retain": Retain,
        }
        exec(compile(re.sub(r"(?<=[ (])\.\.\.(?=[,)\n])", "**{}", code), "page", "exec"), names)  # noqa: S102 - our own page
        return names["flights"]

    @pytest.mark.parametrize("page", ["docs/operating/definitions.md", "docs/operating/retention.md", "docs/expectations.md"])
    def test_they_can_be_written(self, page: str) -> None:
        pieces = [code for code in blocks(page) if "Pipeline(" in code]
        assert pieces
        assert all(isinstance(self.defined(code), Pipeline) for code in pieces)

    def test_a_source_may_be_a_topic(self) -> None:
        names: dict[str, Any] = {}
        for code in blocks("docs/kafka.md"):
            exec(compile(code, "page", "exec"), names)  # noqa: S102 - our own page
        topics = [names[name] for name in ("orders", "by_registry", "by_schema")]
        assert {topic.address for topic in topics} == {"kafka://broker:9092/orders"}
        assert [topic.value for topic in topics] == ["json", "avro", "avro"]

    def test_a_source_may_lie_in_an_object_store(self) -> None:
        (code,) = blocks("docs/operating/object-stores.md")
        names: dict[str, Any] = {}
        exec(compile(code, "page", "exec"), names)  # noqa: S102 - our own page
        assert names["flights"].path.startswith("s3://")

    def test_a_dag_is_one_line(self, tmp_path: Path) -> None:
        line, *_ = blocks("docs/airflow.md")
        text = (ROOT / "dags/flights.py").read_text(encoding="utf-8")
        assert line in text
        (tmp_path / "flights.py").write_text(text, encoding="utf-8")
        assert pipeline_of(tmp_path / "flights.py").name == "flights"


def commands() -> Iterator[tuple[str, str]]:
    """Page and command line of every `muntin` in a block of code; and of each command of a page that is named in running text."""
    for page, path in PAGES.items():
        text = path.read_text(encoding="utf-8")
        for line in re.findall(r"^(?:    )?(?:\$ )?(muntin [a-z-].*)$", text, re.MULTILINE):
            yield page, line
        for line in re.findall(r"`(muntin [a-z]+(?: [^`.]*)?)`", text):
            yield page, line


@pytest.mark.parametrize(("page", "line"), sorted(set(commands())))
def test_every_command_line_is_one(page: str, line: str) -> None:
    words = shlex.split(re.split(r" [|>] ", line.replace("...", ""))[0], comments=True)[1:]
    group = typer.main.get_command(command_line())
    with group.make_context("muntin", [word for word in words if word not in ("--debug", "--quiet")]) as context:
        if words[0].startswith("--"):
            return
        name, command, rest = group.resolve_command(context, with_form([*context._protected_args, *context.args]))
        whole = line.startswith("muntin") and len(rest) > 1
        command.make_context(name, rest, parent=context, resilient_parsing=not whole)
        known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        assert {word.split("=")[0] for word in rest if word.startswith("--")} <= known  # which resilient parsing lets pass


Muntin = Callable[..., list[str]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The flights pipeline with eight days of its log; nothing is run yet."""
    folder = tmp_path_factory.mktemp("docs") / "project"
    (folder / "data/flights").mkdir(parents=True)
    for part in ("dags", "expectations"):
        shutil.copytree(ROOT / part, folder / part)
    for day, rows in by_day(departures(read_source()))[:8]:
        pq.write_table(rows, folder / f"data/flights/{day}.parquet", compression="zstd")
    return folder


@pytest.fixture
def muntin(project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Muntin]:
    """A command line in the project's folder -> its lines on stdout, with /project for the folder."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("COLUMNS", "100")

    def call(line: str) -> list[str]:
        capfd.readouterr()
        status = main([*shlex.split(line)[1:], "--debug"])
        printed = capfd.readouterr()
        assert status == 0, printed.err
        return printed.out.replace(str(project), "/project").splitlines()

    with without_spark():
        yield call


def shown(heading: str) -> list[tuple[str, list[str]]]:
    """Command lines below a heading of docs/command-line.md, and the lines that they print."""
    text = PAGES["docs/command-line.md"].read_text(encoding="utf-8")
    text = re.split(r"\n##+ ", re.split(rf"\n##+ {heading}\n", text)[1])[0]
    found: list[tuple[str, list[str]]] = []
    ours = False
    for line in text.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
            ours = True
        elif ours and line.startswith("    "):
            found[-1][1].append(line[4:])
        elif line:  # a sentence ends what was printed
            ours = False
    return found


def worded(line: str) -> list[str]:
    """A line by its words, without what differs from time to time: names of states, sizes, the present."""
    words = re.sub(r"\([0-9a-f]{12}\)|[\d.]+ [kM]?B\b|last run: .*", "*", line).split()
    return [word.removeprefix("/project/") if word.endswith(".png:") else word for word in words]


def check_shown(muntin: Muntin, heading: str, *more: str, at: int = 0) -> None:
    """See that a command prints the lines of the page, in their order; a line of "..." stands for some that the page leaves out."""
    line, wanted = shown(heading)[at]
    check_printed(muntin(shlex.join([*shlex.split(line), *more])), line, wanted)


def check_printed(lines: Sequence[str], line: str, wanted: Sequence[str]) -> None:
    printed = [worded(each) for each in lines]
    rest = iter(printed)
    assert wanted
    for each in wanted:
        assert each.strip() == "..." or worded(each) in rest, f"{each}\nis not what {line} prints:\n" + "\n".join(map(" ".join, printed))


class TestOutputs:
    """In the order of a first week. Suites take seconds, so they are left out; the lines about them are not on the page."""

    def test_check(self, muntin: Muntin) -> None:
        check_shown(muntin, "check")

    def test_run(self, muntin: Muntin) -> None:
        check_shown(muntin, "run", "--no-validate", at=1)

    def test_plan(self, muntin: Muntin, project: Path) -> None:
        muntin("muntin run dags/flights.py --root state --start 2013-01-04 --end 2013-01-05 --no-validate")
        third = project / "data/flights/2013-01-03.parquet"
        kept = third.read_bytes()
        pq.write_table(pq.read_table(third), third, compression="none")
        check_shown(muntin, "plan")
        third.write_bytes(kept)

    def test_what_there_is_to_do(self, muntin: Muntin) -> None:
        days = "muntin run dags/flights.py --root other --no-validate --start 2013-01-{} --end 2013-01-{}"
        muntin(days.format("01", "05"))
        muntin(days.format("06", "08"))
        muntin("muntin plan dags/flights.py --root other --end 2013-01-08 --no-validate")

    def test_a_week(self, muntin: Muntin) -> None:
        muntin("muntin run dags/flights.py --root state --start 2013-01-01 --end 2013-01-08 --no-validate")
        for heading in ("paths", "contract", "status", "show", "sql", "over", "changes", "plot", "late"):
            check_shown(muntin, heading)

    def test_what_a_change_breaks(self, muntin: Muntin, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
        (project / "contract.yaml").write_text("\n".join(muntin(shown("contract")[0][0])), encoding="utf-8")
        text = (project / "dags/flights.py").read_text(encoding="utf-8")
        changed = text.replace('"worst": agg', '"most": agg').replace('agg.count_if("dep_delay > 15")', 'agg.mean("dep_delay")')
        (project / "dags/changed.py").write_text(changed, encoding="utf-8")
        line, wanted = shown("contract")[1]
        capfd.readouterr()
        assert main(shlex.split(line)[1:]) == 2
        check_printed(capfd.readouterr().out.replace(str(project), "/project").splitlines(), line, wanted)

    def test_explain(self, muntin: Muntin) -> None:
        line, _ = shown("explain")[0]
        assert muntin(line.replace("2013-02-01", "2013-01-05"))

    def test_templates(self, muntin: Muntin) -> None:
        check_shown(muntin, "new")

    def test_timeline(self, muntin: Muntin, project: Path) -> None:
        """Of the tutorial's state; the tutorial is run by test_site.py, which brings the files."""
        tutorial = PAGES["docs/tutorial.md"].read_text(encoding="utf-8")
        for name, text in re.findall(r'```(?:csv|python) title="([^"]+)"\n(.*?)```', tutorial, re.DOTALL)[:3]:
            path = project / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        muntin("muntin run dags/sales.py --root state --start 2024-05-01 --end 2024-05-03")
        line, wanted = shown("timeline")[0]
        assert [each.rstrip() for each in muntin(line) if each.strip()] == wanted


def test_reading_in_python(muntin: Muntin, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second block of the README, over the days that there are and without suites."""
    from muntin.jobs import run as job

    code = blocks("README.md")[1].replace("2013, 2, 1", "2013, 1, 9")
    given = job.run
    monkeypatch.setattr("muntin.run", lambda *words, **options: given(*words, **options, validate=False), raising=False)
    names: dict[str, Any] = {"flights": pipeline_of(project / "dags/flights.py"), "datetime": datetime, "UTC": UTC}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - our own page
    assert len(names["report"].batches) == 8
    assert len(names["table"]) > 400
