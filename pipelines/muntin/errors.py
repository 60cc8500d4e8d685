"""Every error Muntin raises for its reader: what was asked, what was found, what to do."""

from muntin.printable import lines


class MuntinError(Exception):
    """The root of all errors of this package; `exit_status` is what the command line returns."""

    exit_status = 3

    def __str__(self) -> str:
        """The text, in which a name or a value of the data is no escape sequence."""
        return lines(super().__str__())


class DefinitionError(MuntinError, ValueError):
    """A pipeline, a window, an aggregate or a call that cannot be, found before anything is read."""

    exit_status = 2


class MissingPackageError(MuntinError, ImportError):
    """A package is not installed that only some of Muntin needs."""

    exit_status = 2


class SourceError(MuntinError):
    """The source cannot be read as the definition says.

    `is_there`: whether all rows are there; a batch whose rows are not there yet is read later.
    """

    is_there = True


class ForgottenError(SourceError):
    """The source does not keep any more what a batch holds. Batches that were read stay as they are."""


class StateError(MuntinError):
    """The state directory cannot be used: another pipeline's, of another format, damaged, or full."""


class StorageError(MuntinError):
    """An object store or a catalog of tables cannot be used: no such bucket, refused credentials, no answer,
    a path nobody can open.
    """


class BrokerError(MuntinError):
    """A broker of Kafka or its schema registry cannot be used: no answer, no such topic, or credentials that
    it refuses.
    """


class ConflictError(StateError):
    """Another run committed first, and changed files that this run wanted to replace."""


class VersionGoneError(StateError):
    """The changes since a version are not known any more: its commits or its files are removed."""


class OutOfMemoryError(MuntinError):
    """More memory is needed than there is, or a process was ended for its memory.

    What was published before is whole.
    """


class ExpectationsError(MuntinError):
    """A critical expectation failed: nothing was published."""

    exit_status = 1


class LawError(MuntinError, AssertionError):
    """An aggregate breaks a law that the engine counts on: its windows would depend on
    how batches were cut.
    """

    exit_status = 2
