"""Any history of the kinds that came later equals a clean run's, to the last bit; see `test_any_history`.

`MUNTIN_CORE=3000` runs more histories.
"""

import os

import pytest

from tests.core.kinds import KINDS, case_of
from tests.core.test_any_history import first_mistake

HISTORIES = int(os.environ.get("MUNTIN_CORE", "400")) // 8


@pytest.mark.parametrize("kind", KINDS)
def test_every_history_equals_a_clean_run(kind: str) -> None:
    wrong = {seed: said for seed in range(HISTORIES) if (said := first_mistake(case_of(kind, seed)))}
    assert wrong == {}
