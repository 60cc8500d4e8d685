"""What is installed is pinned, with a hash of each file; an audit leaves out only what has a reason."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PINNED = re.compile(r"^(?P<name>[a-z0-9][a-z0-9.-]*)==\S+(?: ; [^\\]+)? \\$")


def test_every_package_is_pinned_with_hashes() -> None:
    blocks: list[list[str]] = []
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith((" ", "#")):
            blocks.append([])
        blocks[-1].append(line)
    assert len(blocks) > 100
    for first, *rest in blocks:
        assert PINNED.match(first), first
        hashes = [line for line in rest if not line.strip().startswith("#")]
        assert hashes, first
        assert all(re.fullmatch(r" {4}--hash=sha256:[0-9a-f]{64}(?: \\)?", line) for line in hashes), first


def audit(folder: Path, exceptions: str) -> subprocess.CompletedProcess[str]:
    """`make audit` with other exceptions, and a `uv` that tells what it was asked."""
    (folder / "exceptions.txt").write_text(exceptions)
    (folder / "uv").write_text('#!/bin/sh\necho "$@"\n')
    (folder / "uv").chmod(0o755)
    env = {**os.environ, "EXCEPTIONS": str(folder / "exceptions.txt"), "UV": str(folder / "uv")}
    return subprocess.run(["bash", ROOT / "setup/audit.sh"], env=env, capture_output=True, text=True, check=False)


def test_an_exception_is_left_out_of_the_audit(tmp_path: Path) -> None:
    told = audit(tmp_path, "# why\n\nGHSA-1 only on Windows\nCVE-2 we send no mail\n")
    assert told.returncode == 0, told.stderr
    assert told.stdout.split()[-4:] == ["--ignore-vuln", "GHSA-1", "--ignore-vuln", "CVE-2"]
    assert "--strict" in told.stdout.split(), "what could not be asked is a failure"
    assert "requirements.txt" in told.stdout.split()


def test_without_exceptions_all_is_asked(tmp_path: Path) -> None:
    assert "--ignore-vuln" not in audit(tmp_path, "").stdout


@pytest.mark.parametrize("text", ["GHSA-1\n", "GHSA-1   \n", "CVE-2 a reason\nGHSA-1\n"])
def test_an_exception_without_a_reason_is_refused(text: str, tmp_path: Path) -> None:
    told = audit(tmp_path, text)
    assert told.returncode != 0
    assert "GHSA-1 has no reason" in told.stderr


def test_each_of_our_exceptions_has_a_reason(tmp_path: Path) -> None:
    assert audit(tmp_path, (ROOT / "setup/audit-exceptions.txt").read_text(encoding="utf-8")).returncode == 0
