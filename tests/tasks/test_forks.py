"""A program can be started after tasks ran in this process: a fork frees nothing that threads of tasks hold, as Spark's Java is started."""

import subprocess
import sys

PROGRAM = """
import subprocess
from muntin.sources.sessions.duckdb_session import kept_session
from muntin.tasks import Local

def counted(n):
    return kept_session("UTC").execute("SELECT count(*) FROM range(?)", [n]).fetchone()[0]

assert Local(2).run(counted, [1, 2, 3, 4]) == [1, 2, 3, 4]
started = subprocess.run(["true"], preexec_fn=lambda: None)  # Python itself forks, where a program is started with this
print(started.returncode)
"""


def test_a_program_can_be_started_behind_tasks() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n", done.stderr
