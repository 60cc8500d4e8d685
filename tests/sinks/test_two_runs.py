"""Two runs that send at once: an older run writes nothing over what a newer run wrote, wherever it was held up."""

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin.extensions.mysql import table as mysql_table
from muntin.extensions.redis import keys as redis_keys
from muntin.jobs.sending.notes import Patience
from tests.case_counts import paired
from tests.sinks.places import PLACES, Keys, MariaTable, Place
from tests.sinks.shop import Shop, differences


@pytest.fixture(params=[MariaTable, Keys], ids=lambda kind: kind.__name__)
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(mysql_table, "_LOCK_S", 0)
    monkeypatch.setattr(mysql_table, "CHUNK", 1)
    monkeypatch.setattr(redis_keys, "CHUNK", 1)
    return PLACES[request.param](request, monkeypatch)


@pytest.mark.parametrize(("sign", "latest"), paired(range(9), [False, True]))
def test_a_newer_run_comes_at_a_sign_of_life_of_an_older(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, sign: int, latest: bool
) -> None:
    """
    older   a b c 1        . . .  c 1 (too late)
    newer           a c 2, no b
    """
    shop, alive, signs = Shop(tmp_path, place.sink(latest=latest)), Patience.alive, itertools.count()
    shop.write(0, pa.int64(), {"a": 0, "b": 0})
    shop.ran(0)
    shop.write(0, pa.int64(), {"a": 1, "b": 1, "c": 1})
    shop.run(0)

    def held_up(self: Patience) -> None:
        alive(self)
        if next(signs) == sign:
            shop.write(0, pa.int64(), {"a": 2, "c": 2})
            shop.ran(0)

    with monkeypatch.context() as patch:
        patch.setattr(Patience, "alive", held_up)
        shop.sent()
    came = next(signs) > sign
    held: Any = place.held()
    if came and isinstance(place, Keys):  # nobody is kept out: the newer run is through, and the older finds nothing to do
        assert differences(shop.published(), held) == []
    assert (shop.sent().failed, differences(shop.published(), place.held())) == ("", [])
    assert shop.sent().rows == 0
