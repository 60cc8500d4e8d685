"""The pages stay short, and sentences that readers did not understand do not come back."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
FIRST = (DOCS.parent / "README.md", DOCS / "tutorial.md", DOCS / "how-it-works.md")
"""The pages of a reader's first ten minutes."""
WORDS_OF_THE_GLOSSARY = 25
WORDS = 70_000
WORDS_OF_A_DECISION = 300
NOT_UNDERSTOOD = (
    "adds what the extra lacks and fetches no Muntin",
    "Exact sums are deducted: two steps a window",
    "three combines a frame",
    "a part of a microsecond: the quarantine; of event times it is cut off downwards",
    "whose names differ in capitals only are refused where the definition uses either",
    "mend the data or the suite, then read the batch again",
    "What fails gravely is not published",
    "readers know the windows before until the new ones are complete",
    "Results that were asked for, as of `show`",
    "States name the decision that they were made by",
)


def words(page: Path) -> int:
    """As `wc -w` counts: code and tables too."""
    return len(page.read_text(encoding="utf-8").split())


def met_in(page: Path, terms: set[str]) -> set[str]:
    """The words of the glossary that a reader of a page meets, in prose or code, addresses of links aside."""
    text = re.sub(r"\]\([^)]*\)", "]", page.read_text(encoding="utf-8").lower())
    return {term for term in terms if re.search(rf"\b{re.escape(term)}(s|es|d|ed)?\b", text)}


def test_ten_minutes_meet_few_words_of_the_glossary() -> None:
    terms = set(re.findall(r"\*\*([^*]+)\*\*", (DOCS / "glossary.md").read_text(encoding="utf-8").lower()))
    met = {term for page in FIRST for term in met_in(page, terms)}
    assert len(terms) > 100
    assert len(met) <= WORDS_OF_THE_GLOSSARY, sorted(met)


def test_all_pages_together_have_a_limit() -> None:
    assert sum(map(words, PAGES)) <= WORDS


@pytest.mark.parametrize("page", sorted((DOCS / "adr").glob("*.md")), ids=lambda page: page.stem)
def test_a_decision_is_short(page: Path) -> None:
    assert words(page) <= WORDS_OF_A_DECISION


@pytest.mark.parametrize("sentence", NOT_UNDERSTOOD)
def test_a_sentence_that_was_not_understood_is_gone(sentence: str) -> None:
    texts = [*PAGES, *(DOCS.parent / "pipelines").rglob("*.py")]
    assert [text.name for text in texts if sentence in re.sub(r"[\s\"]+", " ", text.read_text(encoding="utf-8"))] == []
