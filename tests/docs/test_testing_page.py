"""The code of docs/testing.md and docs/sources.md runs and gives what the pages show."""

import doctest
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "testing.md"


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


def test_the_test_of_a_project_stands_as_it_is() -> None:
    (shown,) = re.findall(r'```python title="(.*?)"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown[1] in (DOCS.parent / "pipelines/muntin/templates/files" / shown[0]).read_text(
        encoding="utf-8"
    )  # tests/cli/test_new.py runs it


def test_the_code_of_the_page_on_sources_runs() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "sources.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(compile("\n".join(blocks), "sources.md", "exec"), names)  # noqa: S102 - our own page
    assert {"flights", "hourly", "clicks", "tills", "busiest"} <= names.keys()
