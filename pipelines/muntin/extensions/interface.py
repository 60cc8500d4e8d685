"""The interface of an extension. A distribution names its parts as entry points of the group `muntin.extensions`:

| entry point | what it names | protocol |
| --- | --- | --- |
| `sinks.NAME` | a function that returns a frozen dataclass: `muntin.sinks.NAME(...)` in a definition | `Sink`, which opens an `Opened` |

A name is imported when a definition or a command asks for it, and not before. An extension imports the core and no other extension.
"""

from muntin.sinks.declaration import Declared as Sink
from muntin.sinks.declaration import choice_of
from muntin.sinks.delivery import Delivery, Misfit, Opened, Position, Reach
from muntin.sinks.errors import AllNeededError, BlockedError, MovedError, RefusedError, SinkError
from muntin.sinks.misfits import Fitted

__all__ = [
    "AllNeededError",
    "BlockedError",
    "Delivery",
    "Fitted",
    "Misfit",
    "MovedError",
    "Opened",
    "Position",
    "Reach",
    "RefusedError",
    "Sink",
    "SinkError",
    "choice_of",
]
