"""`muntin ui` as a program: a link on 127.0.0.1 that lets in, nobody else, until Ctrl-C."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import pytest

from tests.cli.conftest import Project, project

__all__ = ["project"]  # pytest looks for it here
MAIN = "import sys; from muntin.cli.main import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def shown(project: Project) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The program and the link that it has printed."""
    command = [sys.executable, "-c", MAIN, "ui", project.file, "--root", project.root]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout
        yield program, next(line for line in program.stdout if line.startswith("http")).strip()
        program.kill()


def test_the_link_lets_in_and_ctrl_c_ends_it(shown: tuple[subprocess.Popen[str], str]) -> None:
    program, link = shown
    address = urlsplit(link)
    assert address.hostname == "127.0.0.1"
    with pytest.raises(HTTPError, match="401"):
        urlopen(f"http://{address.netloc}/")
    with build_opener(HTTPCookieProcessor()).open(link) as page:
        assert "sensors" in page.read().decode()
    program.send_signal(signal.SIGINT)
    assert program.wait(timeout=60) == 130
    assert program.stderr
    assert "Traceback" not in program.stderr.read()


def test_a_mistake_in_a_file_is_told_before_anybody_looks(project: Project) -> None:
    project.define(**{"windows.tumbling": "windows.tumblin"})
    done = subprocess.run([sys.executable, "-c", MAIN, "ui", project.file], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "did you mean 'tumbling'" in done.stderr
