"""The Java that a local Spark starts with, and what is wrong with it:

Spark's own scripts would only say that it exited.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.errors import MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST = 17
MEND = "install Java 17 or newer and set JAVA_HOME to its folder"
_VERSION = re.compile(r'^JAVA_VERSION="(\d+)', re.MULTILINE)


def name_java() -> None:
    """Let the environment name the Java of `make setup`, unless it names a Java already."""
    java_home_file = Path(sys.prefix, "java-home")
    if java_home_file.is_file():
        os.environ.setdefault("JAVA_HOME", java_home_file.read_text(encoding="utf-8").strip())


def java_fault(environment: Mapping[str, str]) -> str:
    """Why Spark cannot start with the Java of an environment; "" where nothing is known to be wrong."""
    home = environment.get("JAVA_HOME")
    if not home:
        return (
            ""
            if shutil.which("java", path=environment.get("PATH"))
            else "JAVA_HOME is not set, and there is no java on the PATH"
        )
    if not os.access(Path(home, "bin", "java"), os.X_OK):
        return f"JAVA_HOME is {home}, where there is no bin/java"
    release = Path(home, "release")
    match = (
        _VERSION.search(release.read_text(encoding="utf-8", errors="replace")) if release.is_file() else None
    )
    return f"JAVA_HOME is {home}, which is Java {match[1]}" if match and int(match[1]) < LEAST else ""


def check_java() -> None:
    """Refuse a machine without a Java that Spark can start with; the error names the package that was
    searched.
    """
    if fault := java_fault(os.environ):
        raise MissingPackageError(f"a local Spark needs Java {LEAST} or newer: {fault}; {MEND}")
