"""The page of the command line has what the commands say of themselves, and a section for each."""

from docs import commands


def test_the_page_is_made_from_the_commands() -> None:
    assert commands.page() == commands.PAGE.read_text(encoding="utf-8"), "python -m docs.commands makes the page anew"
