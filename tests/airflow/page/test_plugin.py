"""What Airflow loads of the page at its start."""

import subprocess
import sys

from examples.demo.home import PROJECT

LOAD = """
import sys
{before}
import airflow.plugins_manager
known = set(sys.modules)
sys.path.insert(0, "plugins")
from muntin_page import MuntinPage
print(len(MuntinPage.fastapi_apps), [view["destination"] for view in MuntinPage.external_views])
print([name for name in ("matplotlib", "pyarrow", "muntin.extensions.page") if name in set(sys.modules) - known])
"""


def loaded(before: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", LOAD.format(before=before)], cwd=PROJECT, capture_output=True, text=True, check=True)


def test_the_plugin_registers_a_page_and_imports_none_of_it() -> None:
    assert loaded().stdout.splitlines()[-2:] == ["1 ['nav', 'dag']", "[]"]


def test_a_broken_page_does_not_break_airflow() -> None:
    done = loaded('sys.modules["muntin.extensions.airflow.page"] = None')
    assert done.stdout.splitlines()[-2:] == ["0 []", "[]"]
    assert "no page of windows: " in done.stdout + done.stderr
