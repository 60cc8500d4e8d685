"""Options of a source, each by its own name, as tests vary them one by one."""

from typing import Any

from muntin import sources

_TIMES = {"unit": "unit", "timezone": "timezone", "time_format": "format", "ambiguous": "ambiguous", "nonexistent": "nonexistent"}
_ROWS = {
    "id": "id",
    "operation": "operation",
    "deletes": "deletes",
    "dedupe": "dedupe",
    "newest_by": "newest_by",
    "dedupe_within": "within",
    "changes_within": "within",
}
_CSV = ("delimiter", "quote", "null", "encoding", "decimal", "header", "thousands", "skip_lines")


def grouped(path: object = "", /, **options: Any) -> dict[str, Any]:
    """The arguments of a source: what belongs together in the values that hold it. `path`: of its files."""
    times = {now: options.pop(name) for name, now in _TIMES.items() if name in options}
    rows = {now: options.pop(name) for name, now in _ROWS.items() if name in options}
    text = {name: value for name in _CSV if (value := options.pop(name, None)) is not None}
    if times:
        options["event_time"] = sources.at(options["event_time"], **times)
    if any(value is not None for value in rows.values()):
        options["rows"] = sources.events(**rows)
    if text:
        options["format"] = (
            sources.jsonl(**text) if options.get("format") in ("json", "jsonl") or "json" in str(path) else sources.csv(**text)
        )
    elif options.get("format") == "json":
        options["format"] = "jsonl"
    return options
