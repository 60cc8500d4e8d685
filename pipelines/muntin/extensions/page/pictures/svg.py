"""The SVG of a drawing inside of a page: colours are names of the stylesheet, and marks say more under the
pointer.

matplotlib gets a colour of its own for each name, which is no colour of any picture, and the SVG gets the
name in its place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from muntin.extensions.page.pictures.drawing import LIGHT, saved
from muntin.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.extensions.page.pictures.drawing import Drawing, Mark

# name in the stylesheet -> what stands for it
_COLOURS = {name: f"#{0x0BAD00 + number:06x}" for number, name in enumerate(LIGHT)}
_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"


def drawn(drawing: Drawing) -> str:
    """A picture as the element `svg`. The page makes it as wide as it is itself."""
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    return _for_page(*saved(drawing, "svg", _COLOURS, transparent=True, metadata=nothing), drawing.title)


def _for_page(text: bytes, marks: Mapping[str, Mark], title: str) -> str:
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _LINK)
    root = ET.fromstring(text)  # noqa: S314 - matplotlib wrote it
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", printable(title))
    for parent in root.iter():
        for child in [each for each in parent if each.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style")]:
            parent.remove(child)
    for part in root.iter(f"{{{_SVG}}}g"):
        if mark := marks.get(part.get("id", "")):
            _tell(part, mark)
    return _named(ET.tostring(root, encoding="unicode"))


def _tell(part: ET.Element, mark: Mark) -> None:
    """A title, which browsers show under the pointer; and a link around all of the part."""
    inner = [*part]
    holder = part
    if mark.leads:
        for child in inner:
            part.remove(child)
        holder = ET.SubElement(part, f"{{{_SVG}}}a", {"href": mark.leads})
        holder.extend(inner)
    title = ET.Element(f"{{{_SVG}}}title")
    title.text = printable(mark.says)
    holder.insert(0, title)


def _named(text: str) -> str:
    """Colours by their names in the stylesheet."""
    names = {colour: name for name, colour in _COLOURS.items()}
    return re.sub(r"#0bad[0-9a-f]{2}", lambda match: f"var(--{names[match[0]]})", text)
