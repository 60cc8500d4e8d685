"""The code of docs/testing.md runs and gives what the page shows."""

import doctest
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"


def test_the_code_of_the_page_runs() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```(python|pycon)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert [language for language, _ in blocks] == ["python", "pycon", "pycon"]
    for language, block in blocks:
        if language == "python":
            exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page
        else:
            shown = doctest.DocTestParser().get_doctest(block, names, PAGE.name, str(PAGE), 0)
            assert doctest.DocTestRunner().run(shown).failed == 0
