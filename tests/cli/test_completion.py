"""The shell completes what is typed: a real bash, with what `muntin --install-completion` wrote for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent


@pytest.fixture
def bash(tmp_path: Path) -> "Bash":
    return Bash(tmp_path)


class Bash:
    """A bash whose home is a folder of the test."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = os.environ | {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}"}

    def say(self, line: str) -> str:
        alive = f"{line}\nexit $?"  # bash would become its last command, and be no shell that typer can find
        done = subprocess.run(["bash", "-c", alive], env=self.environment, cwd=self.home, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def complete(self, *words: str) -> list[str]:
        """What bash offers for the last of the words."""
        typed = " ".join(f"'{word}'" for word in words)
        asked = f"source .bashrc; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _muntin_completion muntin"
        return self.say(asked + """; printf '%s\\n' "${COMPREPLY[@]}" """).split()


def test_what_was_installed_completes_commands_options_and_templates(bash: Bash) -> None:
    assert "bash completion installed in" in bash.say("muntin --install-completion")
    assert bash.complete("muntin", "pl") == ["plan"]
    assert bash.complete("muntin", "show", "--prov") == ["--provisional"]
    assert bash.complete("muntin", "new", "shop", "--template", "cl") == ["clicks"]


def test_what_is_shown_is_what_is_installed(bash: Bash) -> None:
    shown = bash.say("muntin --show-completion")
    bash.say("muntin --install-completion")
    (installed,) = (bash.home / ".bash_completions").iterdir()
    assert "complete -o default -F _muntin_completion muntin" in shown  # -o default: files where it knows nothing better
    assert installed.read_text().strip() == shown.strip()
