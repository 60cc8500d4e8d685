"""The mistakes of a first hour, each with the words that help: by table, in a new project, without Spark."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from muntin.cli.main import main
from tests.cli.conftest import Muntin, Outcome, without_spark

FILE = "dags/sales.py"
SOURCE = 'event_time="at", types={"shop": "VARCHAR", "amount": "DECIMAL(10, 2)"}'
WINDOWS = '{"hour": windows.tumbling("1h", grace="1h"), "day": windows.tumbling("1d", grace="1h")}'
HOPS = 'windows.arrival(windows.by_delta("amount +", 3))'
DAYS = ("--start", "2024-05-01", "--end", "2024-05-04")


@dataclass(frozen=True)
class New:
    """A project as `muntin new` makes it, in the folder that the command runs in."""

    folder: Path
    muntin: Muntin

    def told(self, *arguments: str, changes: dict[str, str] | None = None) -> Outcome:
        """What a command says, once some texts of the definition are replaced."""
        file = self.folder / FILE
        text = file.read_text()
        for old, new in (changes or {}).items():
            assert old in text
            text = text.replace(old, new)
        file.write_text(text)
        return self.muntin(arguments[0], FILE, *arguments[1:])


@pytest.fixture(scope="package")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "shop"
    assert main(["new", str(folder)]) == 0
    return folder


@pytest.fixture
def new(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, muntin: Muntin) -> New:
    shutil.copytree(template, tmp_path / "shop")
    monkeypatch.chdir(tmp_path / "shop")
    return New(tmp_path / "shop", muntin)


@pytest.fixture(scope="package")
def published(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose three days are published; nobody may change it."""
    folder = tmp_path_factory.mktemp("published") / "shop"
    shutil.copytree(template, folder)
    with without_spark():
        assert main(["run", str(folder / FILE), *DAYS, "--no-validate"]) == 0
    return folder


@pytest.mark.parametrize(
    ("old", "written", "status", "words"),
    [
        # where the files are
        ("data/{start", "dta/{start", 3, "no file at {here}/dta/2024-05-01.csv"),
        ("data/{start", "dta/{start", 3, "there is no folder 'dta' in {here}"),
        ("data/{start", "dta/{start", 3, "did you mean 'data'?"),
        ("%Y-%m-%d}.csv", "%Y%m%d}.csv", 3, "{here}/data holds 2024-05-01.csv, 2024-05-02.csv, 2024-05-03.csv"),
        ("%Y-%m-%d}.csv", "%Y-%m-%d}.parquet", 3, "no file at {here}/data/2024-05-01.parquet"),
        ("%Y-%m-%d}.csv", "%Y-%m-%d}/*.csv", 3, "in {here}/data, which holds no folder, but 2024-05-01.csv"),
        ("datetime(2024, 5", "datetime(2034, 5", 3, "for 400 batches up to [2035-06-04, 2035-06-05)"),
        (SOURCE, SOURCE + ', missing="empty", all_files=True', 0, "fit {here}/data/2024-05-01.csv"),
        ('"data/{start', '"~/data/{start', 2, "begins with ~, which is another folder for each user"),
        ('"data/{start', 'f"data/{start', 2, "the path of a source is a plain text, without an f before its quotes"),
        # clocks and durations
        ('tumbling("1d"', 'tumbling("1d", timezone="Europe/Berlin"', 0, "warning: event_time: 'at' has no time zone"),
        ('tumbling("1d"', 'tumbling("24h", timezone="Europe/Berlin"', 0, 'clock of Europe/Berlin, so it is the same as "1d"'),
        ('tumbling("1d"', 'tumbling("1d", timezone="Europe/Berln"', 2, "did you mean 'Europe/Berlin'"),
        ('tumbling("1h"', "tumbling(3600", 0, 'warning: windows[\'hour\']: 3600 are microseconds; write a unit, as "3600s"'),
        ('tumbling("1d"', 'tumbling("1 day"', 2, """'1 day' is not a duration (did you mean "1d"?)"""),
        ("datetime(2024, 5, 1", "datetime(2024, 5, 1, 7, 30", 0, "the first batch is [2024-05-02, 2024-05-03)"),
        ('"@daily"', '"daily"', 2, "did you mean '@daily'?"),
        ('keys=["shop"]', 'keys=["shop"], retain="30m"', 2, "states of 30m would be gone before the next come, since a batch takes 1d"),
        # types and columns
        (', "amount": "DECIMAL(10, 2)"', ', "amount": "VARCHAR"', 2, 'amount is a text: say types={"amount": "DOUBLE"} in'),
        ("DECIMAL(10, 2)", "MONEY", 2, """types['amount']: 'MONEY' is not a SQL type; there are VARCHAR, BIGINT"""),
        ("DECIMAL(10, 2)", "MONEY", 2, 'did you mean "DECIMAL(18, 2)"?'),
        ("DECIMAL(10, 2)", "float64", 2, 'did you mean "DOUBLE"?'),
        ('"amount": "DECIMAL(10, 2)"', '"amont": "DOUBLE"', 3, "types: no column 'amont'; there are at, shop, amount; did"),
        ('event_time="at"', 'event_time="att"', 3, "event_time: no column 'att'; there are at, shop, amount; did you mean 'at'?"),
        (SOURCE, SOURCE + ', rows=sources.events(dedupe="shp")', 3, "dedupe: no column 'shp'; there are at, shop, amount; did"),
        (SOURCE, SOURCE + ', arrival_order="amunt"', 3, "arrival_order: no column 'amunt'; there are at, shop, amount; did"),
        (SOURCE, SOURCE + ', arrival_time="att"', 3, "arrival_time: no column 'att'; there are at, shop, amount; did"),
        (SOURCE, SOURCE + ', timezone="Europe/Berlin"', 2, "timezone is a part of event_time: event_time=sources.at("),
        (SOURCE, SOURCE + ', delimiter=";"', 2, "delimiter is a part of format: format=sources.csv(delimiter=...)"),
        (SOURCE, SOURCE + ', dedupe="id"', 2, "dedupe is a part of rows: rows=sources.events(dedupe="),
        (SOURCE, SOURCE + ', format=sources.csv(sep=";")', 2, "it is called 'delimiter' here"),
        (SOURCE, SOURCE + ", format=sources.csv(skiprows=1)", 2, "it is called 'skip_lines' here"),
        (SOURCE, SOURCE + ', format=sources.csv(na_values="NA")', 2, "it is called 'null' here"),
        (SOURCE, SOURCE + ', format="json"', 2, "choose from 'parquet', 'csv', 'jsonl', 'xlsx', 'debezium'; did you mean 'jsonl'?"),
        (SOURCE, SOURCE + ', format=sources.csv(decimal=",", thousands=",")', 2, "choose one of '.', ',', ' ', \"'\", but not decimal=','"),
        (SOURCE, SOURCE + ', format=sources.csv(delimiter=";")', 3, "there are at,shop,amount; say format=sources.csv(delimiter=',')"),
        ('keys=["shop"]', 'keys=["shopp"]', 2, "keys: no column 'shopp' in the source"),
        ('keys=["shop"]', 'keys=["shop"], where="amont > 1"', 2, """there is no column "amont". The source has"""),
        ('schedule="@daily"', 'interval="@daily"', 2, "it is called 'schedule' here"),
        ('keys=["shop"]', 'keys=["shop"], watermark="event"', 2, "did you mean 'events'?"),
        # SQL
        ('keys=["shop"]', 'keys=["shop"], where="shop = null"', 2, "'shop = null' holds '= null', which is never true; write IS NULL"),
        ("agg.count()", 'agg.count_if("shop <> NULL")', 2, "holds '<> NULL', which is never true; write IS NULL or IS NOT NULL"),
        ('agg.sum("amount"', 'agg.sum("amount +"', 2, "aggregates['revenue']: 'amount +' is not a SQL expression"),
        (
            'agg.sum("amount"',
            'agg.sum("end - amount"',
            2,
            """'end - amount' is not a SQL expression: syntax error at or near "end"; end is a word of SQL: write "end" for a column""",
        ),
        ("agg.count()", 'agg.count(where="amount > > 1")', 2, "aggregates['sold']: 'amount > > 1' is not a SQL expression"),
        ('windows.tumbling("1h", grace="1h")', HOPS, 2, "windows['hour']: 'amount +' is not a SQL expression"),
        ("agg.count()", "agg.count_if('shop = \"north\"')", 2, "a text stands in single quotes, as 'north'"),
        ("agg.count()", 'agg.count_if("amount != None")', 2, "None is of Python; in SQL write x IS NOT NULL"),
        ("agg.count()", 'agg.count(), "half": "revenu / 2"', 2, "did you mean 'revenue'?"),
        (SOURCE, SOURCE.replace('"at"', 'at("at")'), 2, "it is sources.at"),
        ('keys=["shop"]', 'keys=["shop"], limits=Limits(max_behind="9d")', 2, "write from muntin import Limits"),
        ('keys=["shop"]', 'keys=["shop"], max_behind="9d"', 2, "max_behind is an argument of Limits: limits=Limits(max_behind=...)"),
        # names
        ("from muntin import Pipeline", "from muntins import Pipeline", 2, "did you mean 'muntin'"),
        ("agg.max(", "agg.avg(", 2, "it is called 'mean' here"),
        ('windows.tumbling("1h"', 'windows.hopping("1h"', 2, "it is called 'sliding' here"),
        ("sources.files(", "sources.file(", 2, "did you mean 'files'?"),
        ("sources.files(", "sources.csv(", 2, "sources.files(path, format=sources.csv())"),
        ('windows.tumbling("1h"', 'windows.tumbling("1h", hours=1', 2, "it takes size, align_to, timezone, closed, grace, allowed_"),
        # parts of another form
        ('grace="1h"', "grace=3600", 0, "warning: windows['hour']: a grace of 3600us"),
        ('{"shop": "VARCHAR", "amount": "DECIMAL(10, 2)"}', '["VARCHAR"]', 2, 'is not a mapping; write types={"amount": "DOUBLE"}'),
        ('{"day": "expectations/day.json"}', '"day.json"', 2, "expectations: 'day.json' is not a mapping; write {\"day\""),
        (WINDOWS, '[windows.tumbling("1h")]', 2, 'windows: a list is not a dict of at least one name -> window; write {"name"'),
        ("expectations/day.json", "expectations/dy.json", 2, "no file {here}/expectations/dy.json; {here}/expectations holds day.json"),
    ],
)  # fmt: skip
def test_a_mistake_of_a_definition(new: New, old: str, written: str, status: int, words: str) -> None:
    told = new.told("check", changes={old: written})
    assert told.status == status
    assert words.replace("{here}", str(new.folder)) in (told.out if status in (0, 3) and told.out else told.err)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("at;shop;amount\n2024-05-01 09:12:00;north;11\n", "there are at;shop;amount; say format=sources.csv(delimiter=';')"),
        ("2024-05-01 09:12:00,north,11\n2024-05-01 09:12:00,south,12\n", "is a row and has no names, say format=sources.csv(header="),
        ("PK\x03\x04 and so on", 'the file begins as an Excel file or an archive does: say format="xlsx", or save it as CSV'),
        ("sep=;\nat;shop;amount\n2024-05-01 09:12:00;north;11\n", "say format=sources.csv(delimiter=';', skip_lines=1)"),
        ("Sales of May\nat,shop,amount\n", "if lines stand above the header, say format=sources.csv(skip_lines=1)"),
        ("PAR1 and so on", 'the file begins as Parquet does: say format="parquet"'),
        ("at,shop,amount\n01.05.2024 09:12,north,11\n", "at' of {here}/data/2024-05-01.csv holds '01.05.2024 09:12', and none"),
    ],
)  # fmt: skip
def test_a_file_that_is_written_otherwise(new: New, text: str, words: str) -> None:
    (new.folder / "data/2024-05-01.csv").write_text(text)
    told = new.told("check")
    assert words.replace("{here}", str(new.folder)) in told.out + told.err


def test_a_file_without_a_row_that_can_be_read(new: New) -> None:
    (new.folder / "data/2024-05-01.json").write_text("at 2024-05-01 09:12:00, shop north, amount 1\n")
    told = new.told("check", changes={'.csv"': '.json"'})
    assert f"warning: no row of {new.folder}/data/2024-05-01.json can be read" in told.out
    assert "a line is one JSON object" in told.out


def test_event_times_of_a_clock_that_is_said_are_no_mistake(new: New) -> None:
    told = new.told(
        "check",
        changes={
            'tumbling("1d"': 'tumbling("1d", timezone="Europe/Berlin"',
            'event_time="at"': 'event_time=sources.at("at", timezone="UTC")',
        },
    )
    assert (told.status, "warning" in told.out) == (0, False)


def test_no_file_of_one_of_several_sources(new: New) -> None:
    text = (new.folder / FILE).read_text()
    source = text[text.index("sources.files(") : text.index("),\n    schedule") + 1]
    told = new.told("check", changes={source: f'{{"a": {source}, "b": {source.replace("data/", "dta/")}}}'})
    assert told.status == 3
    assert f"source 'b': no file at {new.folder}/dta/2024-05-01.csv" in told.out


def test_what_check_warns_of_is_in_its_document(new: New) -> None:
    found = json.loads(new.told("check", "--json", changes={'tumbling("1h"': "tumbling(3600"}).out)
    assert [warning[:15] for warning in found["warnings"]] == ["windows['hour']"]
    found = json.loads(new.told("check", "--json", changes={"data/{": "dta/{"}).out)
    assert (found["files"], len(found["lacking"])) == ([], 1)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({'tumbling("1d"': 'tumbling("1d", timezone="Europe/Berlin"'}, "event_time: 'at' has no time zone and is read as UTC"),
        ({"data/{": "dta/{", 'event_time="at"': 'event_time="at", missing="empty"'}, "there is no folder 'dta' in"),
    ],
)
def test_the_first_run_warns_and_the_second_does_not(
    new: New, caplog: pytest.LogCaptureFixture, changes: dict[str, str], words: str
) -> None:
    assert new.told("run", *DAYS, "--no-validate", changes=changes).status == 0
    assert words in caplog.text
    caplog.clear()
    assert new.told("run", *DAYS, "--no-validate").status == 0
    assert words not in caplog.text


@pytest.mark.usefixtures("here")
def test_a_run_without_any_file_says_what_is_there(new: New) -> None:
    told = new.told("run", *DAYS, changes={"data/{": "dta/{"})
    assert told.status == 3
    assert "did you mean 'data'?" in told.err


def test_the_borders_around_a_start_between_two_batches_lead_to_a_batch(new: New) -> None:
    """07:30 is asked for, then midnight: each answer says where the first batch begins."""
    told = new.told("plan", "--start", "2024-05-01", "--end", "2024-05-03", changes={"datetime(2024, 5, 1": "datetime(2024, 5, 1, 7, 30"})
    assert "the first batch begins at 2024-05-02" in told.err
    told = new.told("plan", "--start", "2024-05-01T07:30", "--end", "2024-05-03")
    assert "the first batch begins at 2024-05-02" in told.err


class TestKeys:
    """A key that no window has."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["show", "day", "--key", "nrth"], "no window of 'day' has 'nrth'; there are north, south; did you mean 'north'?"),
            (["show", "day", "--key", "nrth", "--from", "2024-05-02", "--json"], "did you mean 'north'?"),
            (["show", "day", "--key", "north,south"], "of several keys say each, as --key north --key south"),
            (["show", "--changes", "day", "--since", "-1", "--key", "nrth"], "did you mean 'north'?"),
            (
                ["show", "--plot", "day", "revenue", "--key", "nrth"],
                "no window of 'day' to draw: --key shop: no window of 'day' has 'nrth'",
            ),
        ],
    )
    def test_is_told_with_those_that_look_like_it(self, muntin: Muntin, published: Path, arguments: list[str], words: str) -> None:
        told = muntin(arguments[0], str(published / FILE), *arguments[1:])
        assert told.status == 3
        assert words in told.err

    def test_one_of_several_is_warned_of(self, muntin: Muntin, published: Path, caplog: pytest.LogCaptureFixture) -> None:
        told = muntin("show", str(published / FILE), "day", "--key", "north", "--key", "suth")
        assert (told.status, "2 windows" in told.out) == (0, True)
        assert "no window of 'day' has 'suth'; there are north, south; did you mean 'south'?" in caplog.text

    def test_a_key_without_windows_in_a_range_is_no_mistake(self, muntin: Muntin, published: Path) -> None:
        told = muntin("show", str(published / FILE), "day", "--key", "north", "--from", "2030-01-01")
        assert (told.status, "0 windows" in told.out) == (0, True)


class TestClocks:
    """`show --timezone`."""

    def test_instants_are_told_with_their_offset(self, muntin: Muntin, published: Path) -> None:
        told = muntin("show", str(published / FILE), "day", "--timezone", "Europe/Berlin", "--key", "north", "--limit", "1")
        assert told.out.splitlines()[1].split()[:5] == ["north", "2024-05-01", "02:00+02:00", "2024-05-02", "02:00+02:00"]
        assert told.out.endswith("; instants in Europe/Berlin\n")

    @pytest.mark.parametrize("command", [["show", "day"], ["show", "--changes", "day", "--since", "-1"]])
    def test_a_document_holds_the_same_instants(self, muntin: Muntin, published: Path, command: list[str]) -> None:
        rows = json.loads(muntin(command[0], str(published / FILE), *command[1:], "--json", "--timezone", "Asia/Tokyo").out)["rows"]
        assert rows[0]["window_start"] == "2024-05-01T09:00:00+09:00"

    def test_an_unknown_zone_is_refused(self, muntin: Muntin, published: Path) -> None:
        told = muntin("show", str(published / FILE), "day", "--timezone", "Berlin")
        assert (told.status, "did you mean 'Europe/Berlin'?" in told.err) == (2, True)


@pytest.mark.parametrize("root", ["stat", "state/sales", "."])
@pytest.mark.parametrize("command", [["status"], ["show", "day"]])
def test_a_root_beside_that_of_the_runs(
    muntin: Muntin, published: Path, monkeypatch: pytest.MonkeyPatch, root: str, command: list[str]
) -> None:
    monkeypatch.chdir(published)
    told = muntin(command[0], FILE, *command[1:], "--root", root)
    assert told.status == 3
    assert f"{published}/state" in told.err.replace(f"{published}/state/sales", "")
    if command == ["status"]:
        assert muntin("status", "--root", root).status == 3


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("dags/sale.py", "no file dags/sale.py; give the Python file that defines the pipeline, as dags/flights.py; {here}/dags holds"),
        ("dag/sales.py", "there is no folder 'dag' in {here}, which holds dags, "),
        ("dags", "dags is a folder; give the Python file that defines the pipeline"),
        ("data/2024-05-01.csv", "data/2024-05-01.csv is no Python file"),
    ],
)
def test_a_file_that_is_no_definition(new: New, file: str, words: str) -> None:
    told = new.muntin("check", file)
    assert told.status == 2
    assert words.replace("{here}", str(new.folder)) in told.err


def test_explain_names_the_key_that_was_meant(muntin: Muntin, published: Path) -> None:
    told = muntin("explain", str(published / FILE), "day", "--key", "nrth", "--at", "2024-05-01")
    assert "did you mean 'north'?" in told.out


def test_a_window_is_known_before_a_state_is_looked_for(new: New) -> None:
    told = new.told("show", "dy")
    assert (told.status, "did you mean 'day'?" in told.err) == (2, True)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda _: None, "where there is no bin/java"),
        (lambda home: java(home, 'JAVA_VERSION="11.0.2"\n'), "which is Java 11"),
    ],
)
def test_a_java_that_cannot_start_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Callable[[Path], None], words: str) -> None:
    from muntin.errors import MissingPackageError
    from muntin.spark.session import check_java

    made(tmp_path / "java")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    with pytest.raises(MissingPackageError, match=words):
        check_java()


def java(home: Path, release: str) -> None:
    (home / "bin").mkdir(parents=True)
    (home / "bin/java").write_text("#!/bin/sh\n")
    (home / "bin/java").chmod(0o755)
    (home / "release").write_text(release)
