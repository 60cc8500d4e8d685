"""A hook of MkDocs: the files of `BESIDE`, which pages link to, are part of the site; the README is its first page.

Links between pages lead to where the site has the files. `folder/*.md` in the navigation stands for the pages that no line names.
"""

import re
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
BESIDE = {  # path in the repository -> path on the site
    "README.md": "index.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "benchmarks/results.md": "benchmarks/results.md",
    "examples/nexmark/README.md": "examples/nexmark/queries.md",
    **{f"examples/nexmark/{path.name}": f"examples/nexmark/{path.name}" for path in sorted((ROOT / "examples/nexmark").glob("q*.py"))},
    "examples/notebooks/an_aggregate.ipynb": "examples/notebooks/an_aggregate.ipynb",
    "examples/notebooks/windows_of_flights.ipynb": "examples/notebooks/windows_of_flights.ipynb",
    "examples/notebooks/a_training_set.ipynb": "examples/notebooks/a_training_set.ipynb",
}
_IN_REPOSITORY = {site: path for path, site in BESIDE.items()}
_LEAVES = re.compile(r"\]\((?P<target>(?:\.\./)*(?:benchmarks|docs|examples)/[^)#]+|(?:\.\./)+[A-Z]+\.md)")


def on_config(config: MkDocsConfig) -> None:
    """The navigation with each `folder/*.md` replaced by the pages of the folder that no line names."""
    sections = config.nav or []
    lines = [line for section in sections for lines in section.values() for line in lines]
    named = {page for line in lines for page in (line.values() if isinstance(line, dict) else [line])}
    for section in sections:
        for title, lines in section.items():
            section[title] = [page for line in lines for page in _pages(line, named, Path(config.docs_dir))]


def _pages(line: str | dict[str, str], named: set[str], docs: Path) -> list[str | dict[str, str]]:
    """The pages of a line of the navigation."""
    if isinstance(line, dict) or "*" not in line:
        return [line]
    return sorted({str(PurePosixPath(path.relative_to(docs))) for path in docs.glob(line)} - named)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The files of the site, with those beside `docs`."""
    for path, site in BESIDE.items():
        files.append(File.generated(config, site, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """A page whose links from `docs` to a file beside it, or back, lead to where the site has the file."""
    here = PurePosixPath(page.file.src_uri)
    in_repository = PurePosixPath(_IN_REPOSITORY.get(str(here), f"docs/{here}"))

    def on_the_site(link: re.Match[str]) -> str:
        target = normpath(in_repository.parent / link["target"])
        return f"]({relpath(BESIDE.get(target, target.removeprefix('docs/')), here.parent)}"

    return _LEAVES.sub(on_the_site, markdown)
