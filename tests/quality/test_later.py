"""Modules that Great Expectations seldom uses are imported on first use: whoever asks for anything of them gets the real thing."""

import subprocess
import sys

import pytest

from muntin.quality.gx import SELDOM_USED
from muntin.quality.later import imported_later

NAME = "xml.dom.pulldom"  # of the standard library, and nobody uses it


@pytest.fixture(autouse=True)
def _fresh() -> None:
    sys.modules.pop(NAME, None)


def test_it_is_imported_when_it_is_used() -> None:
    with imported_later(NAME):
        from xml.dom import pulldom
    assert NAME not in sys.modules
    assert pulldom.START_ELEMENT == "START_ELEMENT"
    assert pulldom.parse is sys.modules[NAME].parse  # type: ignore[attr-defined]


def test_after_the_block_everybody_else_imports_as_ever() -> None:
    with imported_later(NAME):
        pass
    from xml.dom import pulldom

    assert sys.modules[NAME] is pulldom
    assert type(pulldom) is type(sys)


@pytest.mark.parametrize("words", ["from xml.dom.pulldom import parse", "import xml.dom.pulldom as p; p.parse"])
def test_what_is_used_in_the_block_is_imported_there(words: str) -> None:
    with imported_later(NAME):
        exec(words)  # noqa: S102 - the statements are above
        assert type(sys.modules[NAME]) is type(sys)


def test_a_package_has_its_modules() -> None:
    sys.modules.pop("xml.sax.saxutils", None)
    with imported_later("wsgiref"):
        from wsgiref import headers
    assert headers.Headers
    assert type(sys.modules["wsgiref"]) is type(sys)


def test_what_is_not_there_is_missing_as_ever() -> None:
    with imported_later("no_such_module", "xml.no_such_module"), pytest.raises(ModuleNotFoundError):
        import no_such_module  # type: ignore[import-not-found] # noqa: F401


def test_great_expectations_imports_none_of_them_and_still_has_them() -> None:
    program = f"""
import sys
from muntin.quality.gx import imported
imported()
print([name for name in {SELDOM_USED!r} if name in sys.modules])
from great_expectations.expectations.core import expect_column_kl_divergence_to_be_less_than as uses
print(round(float(uses.stats.entropy([0.5, 0.5], [0.25, 0.75])), 4), uses.alt.Chart.__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n0.1438 Chart\n", done.stderr
