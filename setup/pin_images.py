"""`make pin`: each image of the Compose files and Dockerfiles with the digest that its registry has for its tag; `--check` only looks.

A digest is the SHA-256 of what the registry answers, computed here. Where the registry is out of reach nothing is written.
"""

import argparse
import hashlib
import json
import re
import sys
import urllib.error
import urllib.request
from http.client import UNAUTHORIZED
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEMPLATE = ROOT / "pipelines/muntin/templates/shared"
FILES = [folder / name for folder in (ROOT, TEMPLATE) for name in ("docker-compose.yml", "Dockerfile")]
IMAGE = re.compile(r"^(?P<head>FROM |\s+image: )(?P<image>[\w./-]+):(?P<tag>v?\d[\w.-]*)(?P<digest>@sha256:[0-9a-f]{64})?$", re.MULTILINE)
OURS = "muntin"  # built from this checkout
HUB = "https://registry-1.docker.io"
KINDS = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")


def main() -> int:
    """Pin, or check; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if an image has no digest, or another than its registry has")
    parser.add_argument("--registry", default=HUB)
    asked = parser.parse_args()
    try:
        found = {(image, tag): digest_of(asked.registry, image, tag) for image, tag in images()}
    except OSError as wrong:
        print(f"no digest is known: {asked.registry}: {wrong}; run this where the registry is in reach", file=sys.stderr)
        return 1
    changed = [path for path in FILES if path.read_text(encoding="utf-8") != pinned(path, found)]
    for path in changed:
        print(f"{path.relative_to(ROOT)}: {'not pinned as the registry has it: make pin' if asked.check else 'pinned'}")
        if not asked.check:
            path.write_text(pinned(path, found), encoding="utf-8")
    return 1 if asked.check and changed else 0


def images() -> set[tuple[str, str]]:
    """Name and tag of each image that comes from a registry."""
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    return {(each["image"], each["tag"]) for text in texts for each in IMAGE.finditer(text) if each["image"] != OURS}


def pinned(path: Path, found: dict[tuple[str, str], str]) -> str:
    """The text of a file with the digests."""

    def line(each: re.Match[str]) -> str:
        digest = found.get((each["image"], each["tag"]))
        return f"{each['head']}{each['image']}:{each['tag']}@{digest}" if digest else each[0]

    return IMAGE.sub(line, path.read_text(encoding="utf-8"))


def digest_of(registry: str, image: str, tag: str) -> str:
    """The digest of an image for all platforms.

    Raises:
        OSError: no answer, or the registry says another digest than its answer has.
    """
    name = image if "/" in image else f"library/{image}"
    address = f"{registry}/v2/{name}/manifests/{tag}"
    answer, said = _asked(address, {"Accept": ", ".join(KINDS)})
    digest = f"sha256:{hashlib.sha256(answer).hexdigest()}"
    if said not in (None, digest):
        raise OSError(f"{address} says {said} of what is {digest}")
    return digest


def _asked(address: str, headers: dict[str, str]) -> tuple[bytes, str | None]:
    """An answer and its `Docker-Content-Digest`; a registry that wants a token for what anybody may read says where it is."""
    try:
        return _answer(address, headers)
    except urllib.error.HTTPError as refused:
        fields = dict(re.findall(r'(\w+)="([^"]*)"', refused.headers.get("WWW-Authenticate", "")))
        if refused.code != UNAUTHORIZED or "realm" not in fields:
            raise
    token, _ = _answer(f"{fields['realm']}?service={fields.get('service', '')}&scope={fields.get('scope', '')}", {})
    return _answer(address, headers | {"Authorization": f"Bearer {json.loads(token)['token']}"})


def _answer(address: str, headers: dict[str, str]) -> tuple[bytes, str | None]:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30) as answer:  # noqa: S310 - a registry's
        return answer.read(), answer.headers.get("Docker-Content-Digest")


if __name__ == "__main__":
    sys.exit(main())
