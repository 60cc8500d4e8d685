"""What could not be sent waits, is sent first, is sent once, and does not grow without end."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from muntin.extensions.alerts import to
from muntin.extensions.alerts.addresses import ChannelError
from muntin.extensions.alerts.delivery import deliver
from muntin.extensions.alerts.findings import Finding
from muntin.extensions.alerts.message import Message
from muntin.extensions.alerts.outbox import MOST, TRIES, Letter, Outbox
from muntin.extensions.alerts.problems import Problems
from tests.alerts.made import hours

ALERTS = to("ops", "team")


def titled(title: str) -> Message:
    return Message("warning", title, "text", "text")


class Wire:
    """A sender that keeps what is sent; channels may be down, or slow."""

    def __init__(self, *, down: tuple[str, ...] = (), slow_s: float = 0, budget_s: float = 10) -> None:
        self.down, self.slow_s, self.budget_s = down, slow_s, budget_s
        self.sent: list[tuple[str, str]] = []

    def send(self, channel: str, message: Message, _sent: list[int]) -> None:
        time.sleep(self.slow_s)
        if channel in self.down:
            raise ChannelError("no answer")
        self.sent.append((channel, message.title))


class Calling:
    """A sender that calls functions which are channels."""

    budget_s = 10

    def send(self, channel: Callable[[list[int]], None], _message: Message, sent: list[int]) -> None:
        channel(sent)


def test_what_waits_goes_first_and_once(tmp_path: Path) -> None:
    box = Outbox(tmp_path)
    down = Wire(down=("ops",))
    assert deliver(ALERTS, box, [titled("one")], down) == ("not sent to 'ops' (no answer); the next run tries again", "sent to 'team'")
    deliver(ALERTS, box, [titled("two")], down)
    assert (down.sent, box.count()) == ([("team", "one"), ("team", "two")], 2)

    well = Wire()
    assert deliver(ALERTS, box, [titled("three")], well) == ("sent to 'ops', with 2 of earlier runs", "sent to 'team'")
    assert well.sent == [("ops", "one"), ("ops", "two"), ("ops", "three"), ("team", "three")]
    assert (deliver(ALERTS, box, [], Wire()), box.count(), list(tmp_path.iterdir())) == ((), 0, [])


def test_a_message_that_a_service_refuses_for_ever_is_given_up(tmp_path: Path) -> None:
    box, down = Outbox(tmp_path), Wire(down=("ops",))
    box.put(Letter("ops", titled("bad")))
    for _ in range(TRIES - 1):
        assert "the next run tries again" in deliver(ALERTS, box, [], down)[0]
    assert "it is given up" in deliver(ALERTS, box, [], down)[0]
    assert box.count() == 0


def test_the_newest_messages_are_kept(tmp_path: Path) -> None:
    box, well = Outbox(tmp_path), Wire()
    for at in range(MOST + 5):
        box.put(Letter("ops", titled(str(at))))
    deliver(ALERTS, box, [], well)
    assert [title for _, title in well.sent] == [str(at) for at in range(5, MOST + 5)]


def test_runs_at_once_send_a_message_once(tmp_path: Path) -> None:
    box, well = Outbox(tmp_path), Wire(slow_s=0.01)
    for at in range(20):
        box.put(Letter("ops", titled(str(at))))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: deliver(ALERTS, box, [], well), range(4)))
    assert sorted(title for _, title in well.sent) == sorted(map(str, range(20)))


def test_what_a_killed_run_was_sending_is_sent_by_a_later_run(tmp_path: Path) -> None:
    box, well = Outbox(tmp_path), Wire()
    box.put(Letter("ops", titled("one")))
    next(box.letters("ops"))
    deliver(ALERTS, box, [], well)
    assert well.sent == []  # another run may still be sending it

    (taken,) = tmp_path.iterdir()
    os.utime(taken, (0, 0))
    deliver(ALERTS, box, [], well)
    assert well.sent == [("ops", "one")]


def test_slow_channels_take_no_longer_than_the_budget(tmp_path: Path) -> None:
    box, slow = Outbox(tmp_path), Wire(slow_s=5, budget_s=0.3)
    begun = time.monotonic()
    told = deliver(ALERTS, box, [titled("one")], slow)
    assert time.monotonic() - begun < 2
    assert all("no answer within 0.3 s" in line for line in told)
    assert box.count() == 2


def test_a_channel_that_is_not_declared_any_more_is_forgotten(tmp_path: Path) -> None:
    box = Outbox(tmp_path)
    box.put(Letter("left", titled("one")))
    deliver(ALERTS, box, [], Wire())
    assert box.count() == 0


def test_of_several_addresses_those_that_have_a_message_do_not_get_it_again(tmp_path: Path) -> None:
    tried = []

    def three(sent: list[int]) -> None:
        """Three addresses, of which the second is down the first two times."""
        new = [at for at in range(3) if at not in sent]
        tried.append(new)
        sent += [at for at in new if at != 1 or len(tried) > 2]
        if len(sent) < 3:
            raise ChannelError("no answer")

    for messages in ([titled("one")], [], [], []):
        deliver(to(three), Outbox(tmp_path), messages, Calling())
    assert tried == [[0, 1, 2], [1], [1]]


def test_two_functions_of_one_name_are_two_channels(tmp_path: Path) -> None:
    sent = []
    one, other = (lambda _, name=name: sent.append(name) for name in ("one", "other"))
    deliver(to(one, other), Outbox(tmp_path), [titled("one")], Calling())
    assert sent == ["one", "other"]


def test_without_a_state_a_message_is_sent_and_not_kept() -> None:
    wire = Wire(down=("team",))
    assert deliver(ALERTS, Outbox(None), [titled("one")], wire) == ("sent to 'ops'", "not sent to 'team' (no answer); it is given up")


def problem(at: int) -> Finding:
    return Finding("hole", "warning", "a missing interval", "found", hours(at), ({"who": "ann"},))


def test_a_problem_is_new_once_and_over_once(tmp_path: Path) -> None:
    told = Problems(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: told.add(problem(1)), range(8))) == 1
        assert [one.key for one in told.all()] == [problem(1).key]
        assert sum(pool.map(lambda _: told.take(problem(1)), range(8))) == 1
    assert (told.all(), list(tmp_path.iterdir())) == ([], [])


def test_problems_hold_no_data_and_do_not_grow_without_end(tmp_path: Path) -> None:
    told = Problems(tmp_path)
    for at in range(230):
        told.add(problem(at))
    assert len(told.all()) == 200
    assert not any("ann" in path.read_text() for path in tmp_path.iterdir())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"kind": "x"}'])
def test_a_damaged_file_is_no_problem_and_no_message(tmp_path: Path, content: str) -> None:
    (tmp_path / "0.json").write_text(content)
    assert Problems(tmp_path).all() == []
    assert deliver(ALERTS, Outbox(tmp_path), [], Wire()) == ()
