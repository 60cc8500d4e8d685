"""Numba: what a new minor version may move without a word. See `tests/contracts/private-names.md`."""

import subprocess
import sys
from pathlib import Path

KERNEL = """
import sys
from numba import njit

@njit(cache=True)
def plus(n):
    return n + 1
"""
USED = """
import sys
from kernel import plus
from muntin.extensions.zygote.daemon import load_compiled_code
if "prepared" in sys.argv:
    load_compiled_code()
before = set(sys.modules)
plus(1)
print(sum(plus.stats.cache_hits.values()), len([name for name in sys.modules.keys() - before if name.startswith("numba.")]))
"""
TWINS = """
from muntin.engine.reduce.fold import _specialised

def kernel(one, other):
    return combine(one, other)

def low(one, other):
    return min(one, other)

def high(one, other):
    return max(one, other)

for combine in (low, high):
    made = _specialised(kernel, combine)
    print(made(1, 3), sum(made.code().stats.cache_hits.values()))
"""


def run(folder: Path, program: str, *words: str) -> list[str]:
    """What a program prints whose compiled code lies in a folder of its own."""
    file = folder / "program.py"
    file.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, str(file), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_refresh_imports_what_compiled_code_needs(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL, encoding="utf-8")
    run(tmp_path, USED)
    hits, late = run(tmp_path, USED)
    assert (hits, int(late) > 0) == ("1", True), "the first compiled function imports something"
    assert run(tmp_path, USED, "prepared") == ["1", "0"]


def test_the_cache_tells_twins_of_a_kernel_apart(tmp_path: Path) -> None:
    """Functions of one code, each made with another function: the name says which, and the disk gives each its own."""
    assert run(tmp_path, TWINS) == ["1", "0", "3", "0"]
    assert run(tmp_path, TWINS) == ["1", "1", "3", "1"]
