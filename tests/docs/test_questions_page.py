"""The code of docs/questions.md runs and gives what the page shows."""

import doctest
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "questions.md"


def test_the_code_of_the_page_runs() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```(python|pycon)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 5
    for language, block in blocks:
        if language == "python":
            exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page
        else:
            shown = doctest.DocTestParser().get_doctest(block, names, PAGE.name, str(PAGE), 0)
            assert doctest.DocTestRunner().run(shown, clear_globs=False).failed == 0
            names |= shown.globs
