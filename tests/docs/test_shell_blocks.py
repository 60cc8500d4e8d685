"""Blocks of shell in the docs: extras and targets exist. Settings of Airflow and its commands: tests/airflow/test_shell_blocks.py."""

import re
import tomllib

from tests.docs.test_snippets import PAGES, ROOT, blocks

BLOCKS = [(page, block) for page in PAGES for block in blocks(page, "sh")]


def words(first: str) -> set[str]:
    """The rest of each line that begins with a word."""
    lines = [line.split(" #")[0].strip() for _, block in BLOCKS for line in block.splitlines()]
    return {line.removeprefix(first).strip() for line in lines if line.startswith(f"{first} ")}


def test_a_line_is_of_a_kind_that_is_looked_at() -> None:
    starts = {line.split()[0] for _, block in BLOCKS for line in block.splitlines() if line.strip()}
    assert starts == {"#", "airflow", "cd", "export", "make", "muntin", "pip"}


def test_extras_of_the_package_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = re.findall(r"muntin\[(\w+)\]", "".join(path.read_text(encoding="utf-8") for path in PAGES.values()))
    assert set(named) <= extras.keys()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    places = (".", f"./wheels/muntin-{version}-py3-none-any.whl")  # no index is asked for the name, which may be another's there
    chosen = {line for line in words("pip") if line.startswith("install ") and "muntin[" not in line}
    assert words("pip") - chosen <= {"wheel --no-deps --wheel-dir wheels .", *(f"install 'muntin[{extra}]'" for extra in extras)}
    assert chosen
    for line in chosen:
        place, _, named = line.removeprefix("install ").strip("'").partition("[")
        assert place in places
        assert {extra for extra in named.removesuffix("]").split(",") if extra} <= extras.keys()


def test_targets_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert words("make") <= targets


def test_the_page_on_installing_names_every_extra_and_what_the_core_brings() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = PAGES["docs/install.md"].read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `muntin\[(\w+)\]`", page, re.MULTILINE)) == project["optional-dependencies"].keys() - {"dev", "gx"}
    why = page.split("## What the core brings")[1].split("\n## ")[0]
    assert [line for line in project["dependencies"] if re.match(r"[\w-]+", line)[0] not in why] == []
