"""Errors reported once: a readable block on stderr, a document on stdout for machines."""

import sys
import traceback as tracebacks
from textwrap import indent

from muntin.cli.output import coloured, say_json
from muntin.errors import (
    BrokerError,
    DefinitionError,
    ExpectationsError,
    MissingPackageError,
    MuntinError,
    OutOfMemoryError,
    SourceError,
    StateError,
    StorageError,
)
from muntin.printable import make_printable, printable
from muntin.tasks.runner import MEND, lack_of_memory

USAGE = 2
UNEXPECTED = 3
_KINDS = {
    ExpectationsError: "expectations failed",
    DefinitionError: "definition or call",
    MissingPackageError: "installation",
    SourceError: "source",
    StateError: "state",
    StorageError: "object store",
    BrokerError: "kafka",
    OutOfMemoryError: "memory",
}
_JAVA = (
    "Spark's Java ended before Spark was there; see what it said above. Spark needs Java 17 or newer, by"
    " JAVA_HOME or on the PATH"
)


def exit_status(wrong: Exception) -> int:
    """1 failed expectations, 2 wrong usage or definition, 3 source, state and everything else."""
    if isinstance(wrong, MuntinError):
        return wrong.exit_status
    return USAGE if _is_usage(wrong) else UNEXPECTED


def tell(wrong: Exception, *, as_json: bool, traceback: bool) -> None:
    """Write the error to stderr and, if asked, as a document to stdout."""
    text = explained(wrong)
    if traceback:
        make_printable(wrong)
        tracebacks.print_exception(wrong)
    error = coloured("error", "red", stream=sys.stderr)
    head = f"{error} ({_kind(wrong)}): "
    first, *rest = text.splitlines() or [""]
    print(
        "\n".join([head + printable(first), *(indent(printable(line), "  ") for line in rest)]),
        file=sys.stderr,
    )
    if as_json:
        document = {"type": type(wrong).__name__, "message": text, "exit_status": exit_status(wrong)}
        report = getattr(wrong, "report", None)
        say_json({"error": document | ({"report": report.to_dict()} if report else {})})


def explained(wrong: Exception) -> str:
    """The part of an error that a person needs."""
    if isinstance(wrong, MuntinError):
        return str(wrong)
    if _is_usage(wrong):
        text, context = str(getattr(wrong, "format_message", str)()), getattr(wrong, "ctx", None)
        where = f"\n{context.get_usage()}\nfor help: {context.command_path} --help" if context else ""
        return f"{text}{where}"
    if "JAVA_GATEWAY" in str(wrong):
        return _JAVA
    if problem := lack_of_memory(wrong):
        return f"{problem}; {MEND}"
    if isinstance(wrong, PermissionError) and wrong.filename:
        return (
            f"{wrong.filename}: {wrong.strerror}; let the user that runs this command read and write it, and"
            " run again"
        )
    lines = [line.strip() for line in str(wrong).splitlines() if line.strip()] or ["no message"]
    # where gRPC says what it means
    detail = next((line for line in lines if line.startswith("details = ")), lines[0])
    return f"{type(wrong).__name__}: {detail}; run again with --debug for the traceback"


def _is_usage(wrong: Exception) -> bool:
    return hasattr(wrong, "format_message") and hasattr(wrong, "exit_code")


def _kind(wrong: Exception) -> str:
    if _is_usage(wrong):
        return "usage"
    return next((name for kind, name in _KINDS.items() if isinstance(wrong, kind)), "unexpected")
