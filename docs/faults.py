"""The tables of `docs/operating/faults.md`, from the catalogue of faults: `python -m docs.faults` writes them anew."""

from pathlib import Path

from tests.faults.catalogue import FAULTS, Fault

PAGE = Path(__file__).parent / "operating/faults.md"
BEGIN, END = "<!-- the faults, by python -m docs.faults -->\n", "<!-- end of the faults -->\n"
_HEAD = "| what happens | what Muntin does |\n| --- | --- |\n"


def tables() -> str:
    """A table for each part of the catalogue."""
    return "\n".join(f"## {part}\n\n{_HEAD}{''.join(map(_row, faults))}" for part, faults in FAULTS.items())


def _row(fault: Fault) -> str:
    return f"| {fault.what} | {fault.answer} |\n"


def page() -> str:
    """The page with tables made anew between its marks."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}\n{tables()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
