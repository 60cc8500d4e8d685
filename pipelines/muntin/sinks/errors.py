"""The errors of a sink. They stop no run: they are logged, and the next run catches up."""


class SinkError(Exception):
    """Changes could not be sent. The text names the address and what mends it, and holds no secret."""


class MovedError(Exception):
    """Another run sent to this sink meanwhile: its missing changes must be worked out again."""
