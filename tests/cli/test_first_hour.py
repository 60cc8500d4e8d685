"""What a newcomer meets: places, misspelt names, what warnings say, files to take away. Without Spark."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from muntin.cli.report import summary
from muntin.jobs.records.reports import RunReport
from tests.cli.conftest import RANGE, UNTIL, Muntin, Project, made


class TestPlaces:
    """Relative paths start where Airflow starts them."""

    @pytest.fixture
    def dags(self, project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
        """The definition in a folder `dags`, its source relative; the command runs elsewhere."""
        project.define(**{f"{project.folder}/{{": "{"})
        file = project.folder / "dags" / "sensors.py"
        file.parent.mkdir()
        Path(project.file).rename(file)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        return file

    def test_the_folder_that_holds_dags(self, muntin: Muntin, project: Project, dags: Path) -> None:
        assert f"fit {project.folder}/2020-01-01.csv" in muntin("check", str(dags)).out
        assert f"its state will be {project.folder}/state/sensors" in muntin("status", str(dags)).out

    def test_the_home_that_the_environment_names(self, muntin: Muntin, dags: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        other = made_elsewhere(tmp_path / "other")
        monkeypatch.setenv("MUNTIN_HOME", str(other))
        assert f"fit {other}/2020-01-01.csv" in muntin("check", str(dags)).out

    def test_the_root_that_the_environment_names(
        self, muntin: Muntin, project: Project, dags: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MUNTIN_ROOT", "kept")
        assert f"its state will be {project.folder}/kept/sensors" in muntin("status", str(dags)).out
        monkeypatch.setenv("MUNTIN_ROOT", "/kept")
        assert "its state will be /kept/sensors" in muntin("status", str(dags)).out

    def test_a_root_that_is_given_is_where_the_command_runs(self, muntin: Muntin, dags: Path) -> None:
        assert f"its state will be {Path.cwd()}/mine/sensors" in muntin("status", str(dags), "--root", "mine").out


def made_elsewhere(folder: Path) -> Path:
    folder.mkdir()
    return made(folder).folder


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('keys=["sensor"]', 'key=["sensor"]', "did you mean 'keys'?"),
        ("event_time=", "event_tme=", "did you mean 'event_time'?"),
        ("windows.tumbling", "windows.tumling", "did you mean 'tumbling'"),
        ("import Pipeline,", "import Pipline,", "did you mean 'Pipeline'"),
        ('agg.sum("value")', 'agg.sum("valu")', "did you mean 'value'?"),
        ('keys=["sensor"]', 'keys=["censor"]', "did you mean 'sensor'?"),
    ],
)
def test_a_misspelt_word_of_a_definition(muntin: Muntin, project: Project, old: str, new: str, words: str) -> None:
    project.define(**{old: new})
    told = muntin(*project.arguments("check"))
    assert told.status == 2
    assert words in told.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "quater"], "did you mean 'quarter'?"),
        (["explain", "quater", "--key", "ä", "--at", "2020-01-01"], "did you mean 'quarter'?"),
        (["show", "--late", "quater"], "did you mean 'quarter'?"),
        (["show", "quarter", "--key", "senzor=ä"], "did you mean 'sensor'?"),
        (["show", "--plot", "quarter", "totale"], "did you mean 'total'?"),
        (["show", "quarter", "--pipeline", "sensor"], "did you mean 'sensors'?"),
    ],
)
def test_a_misspelt_word_of_a_command(muntin: Muntin, ran: Project, arguments: list[str], words: str) -> None:
    told = muntin(*ran.arguments(*arguments))
    assert told.status == 2
    assert words in told.err


def test_a_warning_shows_its_check_and_rows() -> None:
    check = {
        "type": "expect_column_values_to_be_between",
        "column": "total",
        "severity": "warning",
        "success": False,
        "error": None,
        "unexpected_count": 1,
        "observed_value": None,
        "failing_rows": [{"sensor": "a", "total": 9}],
    }
    report = RunReport((), quality=({"window": "quarter", "verdict": "passed with 1 warning", "checks": [check]},))
    assert summary(report)[2:] == [
        "expectations: window 'quarter' passed with 1 warning",
        "  warning: expect_column_values_to_be_between(total): 1 row",
        "    sensor  total",
        "    a       9",
    ]


@pytest.mark.usefixtures("here")
def test_explain_leaves_out_states_beyond_the_limit(muntin: Muntin, project: Project) -> None:
    rows = [f"2020-01-01T0{hour}:30:00Z,a,1" for hour in (0, 2, 4)]
    project.bring("2020-01-01", "\n".join(["at,sensor,value", *rows, ""]))
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    asked = project.arguments("explain", "quarter", "--key", "a", "--at", "2020-01-01T01:00")
    assert "made of 3 states" in muntin(*asked, "--limit", "2").out
    assert "... 1 state more; --limit 0 shows all" in muntin(*asked, "--limit", "2").out
    assert "more; --limit" not in muntin(*asked, "--limit", "0").out


class TestShowOut:
    """`show --out`, by ending."""

    @pytest.mark.parametrize("ending", ["parquet", "csv", "json"])
    def test_all_windows_go_to_a_file(self, muntin: Muntin, ran: Project, tmp_path: Path, ending: str) -> None:
        out = tmp_path / f"x.{ending}"
        told = muntin(*ran.arguments("show", "quarter", "--out", str(out)))
        assert told.out == f"{out}: 3 windows\n"
        rows = {
            "parquet": lambda: pq.read_table(out).to_pylist(),
            "csv": lambda: list(csv.DictReader(out.read_text(encoding="utf-8").splitlines())),
            "json": lambda: json.loads(out.read_text(encoding="utf-8")),
        }[ending]()
        assert [(row["sensor"], int(row["total"])) for row in rows] == [("ä", 1), ("ä", 3), ("ö", 2)]

    def test_another_ending_is_refused(self, muntin: Muntin, ran: Project) -> None:
        told = muntin(*ran.arguments("show", "quarter", "--out", "x.xlsx"))
        assert told.status == 2
        assert "end it in .parquet, .csv, .json" in told.err

    def test_a_folder_that_is_not_there_is_told(self, muntin: Muntin, ran: Project, tmp_path: Path) -> None:
        assert muntin(*ran.arguments("show", "quarter", "--out", str(tmp_path / "no/x.csv"))).status == 2


class TestWhich:
    """A run says which published windows it changed."""

    @pytest.fixture(autouse=True)
    def replaced(self, here: None, muntin: Muntin, project: Project) -> None:  # noqa: ARG002 - runs take place in this process
        """Both days are published; then day one has another value, and a row more."""
        assert "published windows changed" not in muntin(*project.arguments("run", *RANGE)).out
        project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,ä,5\n2020-01-01T07:00:00Z,ö,2\n2020-01-01T19:00:00Z,ü,7\n")

    def test_for_people(self, muntin: Muntin, project: Project) -> None:
        lines = muntin(*project.arguments("run", *UNTIL)).out.splitlines()
        at = lines.index("quarter: 2 published windows changed (1 changed, 1 new)")
        assert lines[at + 1] == "  sensor=ä [2020-01-01, 2020-01-01T06:00): total 1 -> 5, least 1 -> 5"
        assert lines[at + 2].startswith("  sensor=ü [2020-01-01T18:00, 2020-01-02): new: readings 1, total 7")

    def test_for_machines(self, muntin: Muntin, project: Project) -> None:
        report = json.loads(muntin(*project.arguments("run", *RANGE, "--json")).out)
        assert report["changed"]["quarter"][0] == {
            "key": {"sensor": "ä"},
            "window_start": "2020-01-01T00:00:00+00:00",
            "window_end": "2020-01-01T06:00:00+00:00",
            "change": "changed",
            "old": {"total": 1, "least": 1},
            "new": {"total": 5, "least": 5},
        }
        assert [row["change"] for row in report["changed"]["quarter"]] == ["changed", "new"]
        assert report["uncompared"] == {"quarter": 0, "visit": 0}

    def test_a_run_that_changes_nothing_says_nothing(self, muntin: Muntin, project: Project) -> None:
        assert muntin(*project.arguments("run", *RANGE)).status == 0
        assert json.loads(muntin(*project.arguments("run", *RANGE, "--json")).out)["changed"] == {}

    def test_the_first_windows_of_a_batch_are_no_change(self, muntin: Muntin, project: Project) -> None:
        project.bring("2020-01-01")
        project.bring("2020-01-02", "at,sensor,value\n2020-01-03T03:00:00Z,ä,3\n")
        (project.folder / "2020-01-03.csv").write_text("at,sensor,value\n2020-01-03T04:00:00Z,ä,3\n")
        changed = json.loads(muntin(*project.arguments("run", "--start", "2020-01-02", "--end", "2020-01-04", "--json")).out)["changed"]
        assert [(row["window_start"][:13], row["change"]) for row in changed["quarter"]] == [("2020-01-02T00", "gone")]

    def test_a_published_file_that_is_gone_stops_nobody(self, muntin: Muntin, project: Project) -> None:
        for path in (project.state.parent / "windows" / "quarter").rglob("0*.parquet"):
            path.unlink()
        told = muntin(*project.arguments("run", *RANGE))
        assert told.status == 0
        assert "which of them changed is not known" in told.out


HEAVY = ("pandas", "pyspark", "great_expectations", "matplotlib")


def test_a_look_imports_what_it_uses(ran: Project) -> None:
    commands = [ran.arguments(*command) for command in (["plan", *RANGE], ["check"], ["status"], ["show", "quarter"])]
    words = f"""
import sys
from muntin.cli.main import main
for command in {commands!r}:
    assert main(command) == 0
print(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


def test_arrow_without_pandas_leaves_pandas_to_others() -> None:
    words = """
import sys
from muntin.cli.place import without_pandas
without_pandas()
import pyarrow as pa
pa.array([1])
assert "pandas" not in sys.modules
import pandas
assert pa.table({"a": [1]}).to_pandas()["a"].tolist() == [1]
"""
    subprocess.run([sys.executable, "-c", words], check=True)
