"""Drawings as files that stand alone: PNG, SVG, PDF, HTML. Nothing in them is fetched from elsewhere."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from muntin.errors import DefinitionError
from muntin.extensions.page.pictures.drawing import LIGHT, drawn, saved

if TYPE_CHECKING:
    from pathlib import Path

    from muntin.extensions.page.pictures.drawing import Drawing

ENDINGS = (".png", ".svg", ".pdf", ".html")
_DOTS = 144  # an inch


def write_picture(drawing: Drawing, path: Path) -> None:
    """Write a drawing in the format that the path ends in."""
    check_ending(path)
    try:
        path.write_bytes(_content(drawing, path.suffix))
    except OSError as wrong:
        raise DefinitionError(f"--out {path}: {wrong.strerror or wrong}") from wrong


def check_ending(path: Path) -> None:
    """Refuse a path that does not end as pictures do."""
    if path.suffix not in ENDINGS:
        raise DefinitionError(f"--out {path}: end it in {', '.join(ENDINGS)}")


def _content(drawing: Drawing, ending: str) -> bytes:
    if ending == ".html":
        return _html(drawing).encode()
    if ending == ".svg":
        text = re.sub(r"var\(--(\w+)\)", lambda match: LIGHT[match[1]], drawn(drawing))
        return text.replace("<svg ", f'<svg style="background: {LIGHT["paper"]}" ', 1).encode()
    return saved(drawing, ending[1:], LIGHT, dpi=_DOTS, facecolor=LIGHT["paper"])[0]


def _html(drawing: Drawing) -> str:
    """A page with the picture, light and dark as the reader's machine is."""
    style = files("muntin.extensions.page").joinpath("static", "page.css").read_text(encoding="utf-8")
    title = escape(drawing.title)
    head = f'<head><meta charset="utf-8"><title>{title}</title><style>\n{style}</style></head>'
    return (
        "<!doctype html>\n<html"
        f' lang="en">{head}\n<body><h1>{title}</h1>\n<figure>{drawn(drawing)}</figure></body></html>\n'
    )
