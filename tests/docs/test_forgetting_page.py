"""The worked examples of docs/forgetting.md are right: they are run over a day of visits."""

import re
from pathlib import Path
from typing import Any

import pytest

from muntin import read, run
from muntin.cli.main import main
from muntin.definition.pipeline import at_home
from muntin.extensions.forgetting.forget import plan_forget

TEXT = (Path(__file__).parents[2] / "docs/forgetting.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
ROWS = ["user,page,at,price", "u7,home,2024-01-01T10:00:00Z,1.5", "u8,home,2024-01-01T10:05:00Z,2.5", "u7,home,never,1.0"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the definition of the page, a day of visits, and what a run made of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/visits").mkdir(parents=True)
    (tmp_path / "data/visits/2024-01-01.csv").write_text("\n".join(ROWS) + "\n")
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags/visits.py").write_text(BLOCKS[0])
    names = defined(BLOCKS[0])
    run(
        at_home(names["visits"], tmp_path),
        root=tmp_path / "state",
        start=names["visits"].start,
        end=names["datetime"](2024, 1, 2, tzinfo=names["UTC"]),
    )
    return tmp_path


def defined(block: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(compile(block, "page", "exec"), found)  # noqa: S102 - our own page
    return found


def test_a_user_is_forgotten_from_python(place: Path) -> None:
    names = defined(BLOCKS[0])
    names["forget_user"]("u7")
    assert read(names["visits"], "hour", root=place / "state")["user"].to_pylist() == ["u8"]
    assert plan_forget(names["visits"], [{"user": "u7"}], root=place / "state").found == ()


def test_the_commands_of_the_page(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in re.findall(r"^    \$ muntin (.*)$", TEXT, re.MULTILINE):
        status = main(["--quiet", *line.split()])
        assert status == 0, (line, capsys.readouterr())
    told = capsys.readouterr().out
    assert "nothing was changed; --yes removes it" in told
    assert "1 key: nothing is found" in told
    assert main(["forget", "dags/visits.py", "--root", "state", "--key", "user=u8", "--prove"]) == 3
    assert "something is left" in capsys.readouterr().out
