"""Fresh environments with the wheel of this checkout and what the registry has for it, at the versions of requirements.txt."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
UV = str(Path(sys.executable).with_name("uv"))
HIDDEN = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "MUNTIN_HOME", "MUNTIN_ROOT", "SPARK_HOME", "SPARK_REMOTE"}
CACHED = f"""
source '{ROOT}/setup/python.sh'
use_pip_settings_for_uv
'{UV}' "$@" --offline 2>/dev/null || '{UV}' "$@"
"""
"""uv, from its cache alone if that has all: to ask the registry whether Spark is still the same would download and build it again."""


@dataclass(frozen=True)
class Place:
    """A folder with a wheel and one environment, which is made anew for each install.

    The environment always has the same path, so that kernels and bytecode are compiled once for all.
    """

    folder: Path

    @property
    def environment(self) -> Path:
        return self.folder / "env"

    def build(self) -> None:
        """The wheel, from a copy: the checkout may hold what an earlier build left."""
        source = self.folder / "source"
        shutil.copytree(ROOT / "pipelines", source / "pipelines", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, source)
        build = ["build", "--wheel", "--quiet", "--out-dir", self.folder / "wheels", source]
        subprocess.run(["bash", "-c", CACHED, "uv", *build], check=True)
        pinned = re.findall(r"^[\w.-]+==.*?(?= \\$)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
        pinned.append(f"muntin=={version('muntin')}")  # not what somebody else may call so in the registry
        (self.folder / "constraints.txt").write_text("\n".join(pinned), encoding="utf-8")

    def install(self, *requirements: str) -> None:
        """The environment anew, with these alone."""
        subprocess.run([UV, "venv", "--quiet", "--clear", "--python", sys.executable, self.environment], check=True)
        pip = self.environment / "bin/pip"
        pip.write_text(f'#!/usr/bin/env bash\nset -- pip "$@"\n{CACHED}', encoding="utf-8")
        pip.chmod(0o755)
        if requirements:
            done = self.call("pip", "install", *requirements, cwd=self.folder)
            assert done.returncode == 0, done.stderr

    def call(self, *words: str, cwd: Path, java: bool = False) -> subprocess.CompletedProcess[str]:
        """A program of the environment, or of the system; without Java unless it is asked for."""
        return subprocess.run(words, cwd=cwd, env=self.variables(java=java), capture_output=True, text=True, check=False)

    def variables(self, *, java: bool) -> dict[str, str]:
        """What programs of the environment see."""
        kept = {name: value for name, value in os.environ.items() if name not in HIDDEN}
        own = {
            "PATH": f"{self.environment / 'bin'}:{os.environ['PATH']}",
            "VIRTUAL_ENV": str(self.environment),
            "UV_CONSTRAINT": str(self.folder / "constraints.txt"),
            "UV_FIND_LINKS": str(self.folder / "wheels"),
            "NUMBA_CACHE_DIR": str(self.folder / "kernels"),
            "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"),
            "AIRFLOW_HOME": str(self.folder / "airflow"),
            "COLUMNS": "200",
        }
        return kept | own | ({} if java else {"JAVA_HOME": "/nowhere"})
