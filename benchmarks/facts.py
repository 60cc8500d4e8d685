"""What the figures depend on: the machine and the versions, without anyone's names."""

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

import psutil

LIBRARIES = ("pyspark", "duckdb", "polars", "pyarrow", "numpy", "numba", "deltalake")


def machine() -> str:
    """Cores, memory, processor, system."""
    memory_gb = psutil.virtual_memory().total / 1e9
    return f"{os.cpu_count()} cores, {memory_gb:.0f} GB, {_processor()}, {platform.system()}"


def versions() -> str:
    """Of Python, Java and the libraries."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"Python {platform.python_version()}, Java {_java()}, {libraries}"


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.+)", told.read_text()) if told.exists() else []
    return names[0] if names else platform.machine()


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "([^"]+)"', told)
    return found[1] if found else "unknown"
