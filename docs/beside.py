"""A hook of MkDocs: the files of `BESIDE`, which pages link to, are part of the site, below the paths that they have in the repository."""

import re
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
BESIDE = (
    "benchmarks/notes.md",
    "benchmarks/results.md",
    "examples/notebooks/an_aggregate.ipynb",
    "examples/notebooks/windows_of_flights.ipynb",
)
_LEAVES = re.compile(r"\]\((?P<target>(?:\.\./)+(?:benchmarks|docs|examples)/[^)#]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The files of the site, with those beside `docs`."""
    for path in BESIDE:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """A page whose links from `docs` to a file beside it, or back, lead to where the site has the file."""
    here = PurePosixPath(page.file.src_uri)
    in_repository = here if str(here) in BESIDE else "docs" / here

    def on_the_site(link: re.Match[str]) -> str:
        target = normpath(in_repository.parent / link["target"]).removeprefix("docs/")
        return f"]({relpath(target, here.parent)}"

    return _LEAVES.sub(on_the_site, markdown)
