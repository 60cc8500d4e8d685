"""Colours, on a terminal alone."""

import os
import sys
from typing import TextIO

import typer


def coloured(text: str, colour: str, *, stream: TextIO | None = None) -> str:
    """The text in a colour of the terminal ("red", "yellow", ...) that the stream, else stdout, is; as it
    stands anywhere else.
    """
    return typer.style(text, fg=colour) if wanted(stream or sys.stdout) else text


def wanted(stream: TextIO) -> bool:
    """Whether the stream is a terminal that shows colours, and NO_COLOR is not set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
