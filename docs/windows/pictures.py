"""The pictures of these pages and the list of windows on the first of them; `python -m docs.windows.pictures` makes them anew.

What they show stands in the table of kinds.
"""

from pathlib import Path

from tests.catalogue.kinds import KINDS

HERE = Path(__file__).parent
FIRST_PAGE = HERE / "README.md"
BEGIN, END = "<!-- the list of windows, by python -m docs.windows.pictures -->\n", "<!-- end of the list -->\n"


def questions() -> str:
    """A table of the questions that windows answer, with the page of each."""
    lines = ["| question | window |", "| --- | --- |"]
    for kind in KINDS:
        for question, call, heading in kind.questions:
            lines.append(f"| {question} | [`{call}`]({kind.page}.md{heading and '#'}{heading}) |")
    return "\n".join(lines) + "\n"


def first_page() -> str:
    """The first page with its list made anew between the marks."""
    before, rest = FIRST_PAGE.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}\n{questions()}\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Draw every picture and write the list."""
    from docs.windows.draw import draw

    for kind in KINDS:
        draw(kind.picture, HERE / f"{kind.page}.svg")
    FIRST_PAGE.write_text(first_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
