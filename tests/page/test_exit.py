"""A process that has shown every page ends well. What a thread of the web server has opened in DuckDB would abort it (status 134)."""

import subprocess
import sys
from pathlib import Path

from tests.page.sensors import Sensors

SHOW = """
import sys
from tests.page.conftest import client_of
from tests.page.sensors import Sensors
from tests.page.test_pages import EVERY_PAGE
from pathlib import Path
with client_of(Sensors(Path(sys.argv[1]))) as client:
    for path in EVERY_PAGE:
        assert client.get(f"/pipeline/sensors/{path}").status_code == 200, path
"""


def test_the_process_ends_well(made: Sensors) -> None:
    words = [sys.executable, "-c", SHOW, str(made.folder)]
    done = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
