"""What is installed is pinned, with a hash of each file; an audit leaves out only what has a reason."""

import json
import os
import re
import subprocess
import sys
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


ADVISORIES = {
    "Foo_Bar": [{"id": "GHSA-1", "cve": "CVE-1", "advisory": "reads too much", "fixed_in": "2.0", "v": ">=1.0,<2.0"}],
    "foo-bar": [{"id": "GHSA-2", "cve": "N/A", "advisory": "long ago", "fixed_in": "1.0", "v": "<1.0"}],
    "odd": [{"id": "GHSA-3", "cve": "N/A", "advisory": "of a distribution", "fixed_in": "?", "v": "<0.8ubuntu7.5"}],
}


def offline(folder: Path, pins: str, *options: str) -> subprocess.CompletedProcess[str]:
    """`make audit ARGS=--offline` of other pins, by other advisories."""
    (folder / "db.json").write_text(json.dumps(ADVISORIES))
    (folder / "pins.txt").write_text("".join(f"{pin} \\\n    --hash=sha256:00\n" for pin in pins.split()))
    command = [sys.executable, ROOT / "setup/offline_audit.py", folder / "db.json", folder / "pins.txt", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_offline_audit_finds_what_concerns_a_pinned_version(tmp_path: Path) -> None:
    told = offline(tmp_path, "foo-bar==1.5 other==1.5")
    assert told.returncode == 1
    assert told.stdout.splitlines()[0] == "foo-bar 1.5: GHSA-1 (CVE-1): reads too much; mended in 2.0"
    assert "2 packages, 3 advisories, 1 concern us" in told.stdout


@pytest.mark.parametrize("known_as", ["GHSA-1", "CVE-1"])
def test_an_offline_audit_leaves_out_exceptions(tmp_path: Path, known_as: str) -> None:
    assert offline(tmp_path, "foo-bar==1.5", "--ignore-vuln", known_as).returncode == 0


def test_an_offline_audit_is_clean_where_all_is_mended(tmp_path: Path) -> None:
    assert offline(tmp_path, "foo-bar==2.0 other==1.5").returncode == 0


def test_versions_that_cannot_be_read_concern_each(tmp_path: Path) -> None:
    assert offline(tmp_path, "odd==9.0").returncode == 1
