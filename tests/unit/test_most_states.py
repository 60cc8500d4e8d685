"""Work that nothing divides has a limit of states, and says which."""

from pathlib import Path

import pytest

from muntin import windows
from muntin.errors import StateError
from muntin.jobs.finalize.tiers import check_states
from tests.end_to_end.hourly import Hourly, times


def test_more_states_than_a_task_may_read_are_refused_and_the_setting_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Hourly(tmp_path, other={"windows": {"hour": windows.arrival(windows.by_count(2))}})
    case.write("00.parquet", {"at": times(1, 2, 3, 4, 5, 6)})
    monkeypatch.setenv("MUNTIN_TASK_STATES", "5")
    with pytest.raises(StateError, match=r"hourly: one task would have to read 6 states for hour, and MUNTIN_TASK_STATES allows 5: .*=6"):
        case.run()
    monkeypatch.setenv("MUNTIN_TASK_STATES", "6")
    case.run()
    assert case.rows("n") == [(2,)] * 3


def test_keys_divide_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Hourly(tmp_path, other={"windows": {"hour": windows.arrival(windows.by_count(1))}, "keys": ["k"]})
    case.write("00.parquet", {"at": times(1, 2, 3), "k": ["a", "b", "a"]})
    monkeypatch.setenv("MUNTIN_TASK_STATES", "1")
    case.run()
    assert len(case.rows("n")) == 3


@pytest.mark.parametrize("given", ["many", "0", "-1", "1.5"])
def test_what_is_no_number_of_states_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_TASK_STATES", given)
    with pytest.raises(StateError, match="is no number of states; write 50000000"):
        check_states("hourly", ["hour"], 1)
