"""The states of batches as runs in this process leave them: at work, failed, killed, waiting, corrected; and what they cost."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from muntin import RunReport, run
from muntin.definition.instants import instant_us
from muntin.errors import MuntinError
from muntin.extensions.page.views.trends import week
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.inspect.status import status
from muntin.jobs.records.attempts import FOLDER, attempts
from muntin.jobs.records.batch_status import BatchStates, batch_states
from muntin.jobs.records.verdicts import note_verdict
from muntin.jobs.state.bound import Bound, bind
from muntin.tasks import Local
from tests.end_to_end.hourly import Hourly, hour
from tests.page.sensors import REPORT

NOW_US = instant_us(hour(9), "now")
KILLED = """
import os, signal, sys
from pathlib import Path
from muntin import run
from muntin.tasks import Local
from tests.end_to_end.hourly import Hourly, hour

def at(step):
    if step == "finalize":
        os.kill(os.getpid(), signal.SIGKILL)

made = Hourly(Path(sys.argv[1]))
run(made.pipeline, root=made.root, start=hour(2), end=hour(3), spark=Local(1), progress=at)
"""


@pytest.fixture
def made(tmp_path: Path) -> Hourly:
    """Hours 0 and 1 are published; hour 3 has no file."""
    made = Hourly(tmp_path)
    for at in (0, 1, 2, 4):
        made.write(f"{at:02d}.parquet", {"at": [hour(at + 0.5)] * 3})
    go(made, 0, 2)
    return made


def go(made: Hourly, first: int, end: int, **more: object) -> RunReport:
    return run(made.pipeline, root=made.root, start=hour(first), end=hour(end), spark=Local(1), **more)  # type: ignore[arg-type]


def bound(made: Hourly) -> Bound:
    return bind(made.pipeline, made.root)


def states(made: Hourly) -> BatchStates:
    return batch_states(bound(made), NOW_US)


def words(made: Hourly) -> list[str]:
    return [each.state for each in states(made).listed]


def test_a_run_at_work_is_running_and_leaves_no_note(made: Hourly) -> None:
    seen = dict[str, list[str]]()

    def at(step: str) -> None:
        seen[step] = words(made)

    go(made, 2, 3, progress=at)
    assert seen == {step: ["published", "published", "running"] for step in ("accumulate", "finalize", "publish")}
    assert words(made) == ["published"] * 3
    assert attempts(bound(made).folder) == []


def test_a_run_that_fails_says_where_and_why_until_it_is_done_again(made: Hourly) -> None:
    with pytest.raises(MuntinError):
        go(made, 2, 4)
    assert words(made) == ["published", "published", "failed", "failed"]
    one = states(made).listed[-1]
    assert one.step == "check"
    assert "SourceError: no file at" in (one.reason or "")
    (finding,) = [each for each in diagnose(made.pipeline, root=made.root) if "failed at check" in each.problem]
    assert finding.mend.endswith("--start 2024-01-01T02:00 --end 2024-01-01T04:00")
    made.write("03.parquet", {"at": [hour(3.5)]})
    go(made, 2, 4)
    assert words(made) == ["published"] * 4
    assert diagnose(made.pipeline, root=made.root) == []


def test_a_killed_run_has_failed(made: Hourly, caplog: pytest.LogCaptureFixture) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(made.folder)], check=False)
    assert done.returncode == -signal.SIGKILL
    one = states(made).listed[-1]
    assert (one.state, one.step) == ("failed", "finalize")
    assert "killed it, or the kernel did, as where memory ends; then give it more memory" in (one.reason or "")
    assert [each.problem for each in diagnose(made.pipeline, root=made.root) if "memory ends" in each.problem]
    go(made, 2, 3)
    assert "the run before failed at finalize: its process ended without a word" in caplog.text
    assert states(made).listed[-1].state == "published"


def test_a_run_of_another_machine_counts_as_alive(made: Hourly) -> None:
    with pytest.raises(MuntinError):
        go(made, 2, 4)
    (note,) = (bound(made).folder / FOLDER).glob("*.json")
    told = json.loads(note.read_text())
    note.write_text(json.dumps(told | {"phase": "running", "process": ["elsewhere", 1, ""]}))
    assert words(made)[-1] == "running"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"run": 1}', b"\xff\x00"])
def test_a_damaged_note_is_none(made: Hourly, content: bytes) -> None:
    with pytest.raises(MuntinError):
        go(made, 2, 4)
    (note,) = (bound(made).folder / FOLDER).glob("*.json")
    note.write_bytes(content)
    assert words(made) == ["published", "published"]


# hour       0 1 2 3 4          4 was read and waits for 3, which nobody has read
def test_a_hole_and_what_is_behind_it_wait(made: Hourly) -> None:
    go(made, 2, 3)
    go(made, 4, 5)
    assert [(each.state, each.reason) for each in states(made).listed[3:]] == [
        ("missing", "no run has read it"),
        ("waiting", "an interval before it is missing"),
    ]


def test_another_source_corrects_a_batch(made: Hourly) -> None:
    made.write("01.parquet", {"at": [hour(1.5)] * 5})
    go(made, 1, 2)
    found = states(made)
    assert words(made) == ["published", "corrected"]
    assert {state: count for state, count in found.counts.items() if count} == {"published": 1, "corrected": 1}
    go(made, 1, 2)  # the same once more: it stays corrected
    assert words(made) == ["published", "corrected"]


def test_what_was_never_published_is_not_corrected(made: Hourly) -> None:
    with pytest.raises(KeyboardInterrupt):
        go(made, 2, 3, progress=_stop_before_publishing)
    made.write("02.parquet", {"at": [hour(2.5)] * 5})
    go(made, 2, 3)
    assert words(made) == ["published"] * 3


def test_a_failed_verdict_holds_what_is_read_and_not_published(made: Hourly) -> None:
    judged = Hourly(made.folder, other={"expectations": {"hour": "suite.json"}})
    with pytest.raises(KeyboardInterrupt):
        go(made, 2, 3, progress=_stop_before_publishing)
    assert words(made)[-1] == "failed"
    note_verdict(bound(judged).folder, REPORT, [instant_us(hour(2), "start")], hour(2_000_000))
    (note,) = (bound(made).folder / FOLDER).glob("*.json")
    note.unlink()
    one = states(judged).listed[-1]
    assert (one.state, one.reason) == ("held", f"hour: {REPORT['verdict']}")
    assert one.checks == ("critical: expect_column_values_to_be_between(n): 1 row",)
    (finding,) = [each for each in diagnose(judged.pipeline, root=made.root) if "held" in each.problem]
    assert "correct the rows in the source, or the suite" in finding.mend
    assert status(judged.pipeline, root=made.root).to_dict()["states"]["held"] == 1


def _stop_before_publishing(step: str) -> None:
    if step == "publish":
        raise KeyboardInterrupt


def test_settled_batches_are_counted_and_not_told(tmp_path: Path) -> None:
    made = Hourly(tmp_path)
    for at in range(14):
        made.write(f"{at:02d}.parquet", {"at": [hour(at + 0.5)]})
    go(made, 0, 14)
    found = states(made)
    assert (len(found.listed), found.counts["published"]) == (10, 14)


def test_reports_say_what_a_run_took(made: Hourly) -> None:
    found = week(bound(made))
    assert found is not None
    sizes = [(made.folder / f"data/{at:02d}.parquet").stat().st_size for at in (0, 1)]
    assert found.sums["rows_read"].tolist() == [3, 3]
    assert found.sums["bytes_read"].sum() == pytest.approx(sum(sizes), abs=1)
    for name in ("seconds", "cpu_seconds", "bytes_written"):
        first, second = found.sums[name].tolist()
        assert first == second > 0
