"""The command `muntin`, also as `python -m muntin`, from its first moment: before its modules are loaded."""

import signal
import sys


def main() -> int:
    """Run the command and return its exit status.

    Ctrl-C ends the process at once until the modules are there. Python's own handler would raise in the
    middle of an import, which prints a traceback, or is lost where the import system lets go of a lock.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from muntin.cli.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
