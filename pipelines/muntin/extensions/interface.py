"""The interface of an extension. A distribution names its parts as entry points of the group
`muntin.extensions`:

- `sources.NAME`: a function that returns a frozen dataclass, for `muntin.sources.NAME(...)`: a `Source`, on
  `RowSource`; its files by `Listing`.
- `sinks.NAME`: a function that returns a frozen dataclass, for `muntin.sinks.NAME(...)`: a `Sink`, which
  opens an `Opened`.
- `commands.NAME`: a function with options of Typer, for `muntin NAME`; its docstring is its help.
- `show.NAME`: the same, for `muntin show --NAME`: a view of a pipeline.
- `muntin.NAME`: anything, for `from muntin import NAME`; a listener of runs has `ended` and `failed`, as
  `Listener` has them.
- `mirrors.NAME`: a module that reads tables which name files of windows, as
  `muntin.extensions.iceberg.mirrors`.
- `spark.daemon`: the name of the module that starts Spark's processes of Python.
- `contracts.contract`, `contracts.held_against`: what `muntin check --contract` prints, and what a
  definition breaks of it.
- `page.host`, `alerts.host`: a module for a program that shows the page, or runs pipelines itself, as
  Airflow's extension calls them.

A name is imported when a definition or a command asks for it, and not before. An extension imports the core
and no other extension.
"""

from muntin.definition.parts import Alerts as Listener
from muntin.jobs.inputs.listings.listing import Inputs, Listing
from muntin.sinks.declaration import Declared as Sink
from muntin.sinks.declaration import choice_of
from muntin.sinks.delivery import Delivery, Misfit, Opened, Position, Reach
from muntin.sinks.errors import AllNeededError, BlockedError, MovedError, RefusedError, SinkError
from muntin.sinks.misfits import Fitted
from muntin.sources.listing import SourceFile
from muntin.sources.row_source import RowSource
from muntin.sources.source import Source

__all__ = [
    "AllNeededError",
    "BlockedError",
    "Delivery",
    "Fitted",
    "Inputs",
    "Listener",
    "Listing",
    "Misfit",
    "MovedError",
    "Opened",
    "Position",
    "Reach",
    "RefusedError",
    "RowSource",
    "Sink",
    "SinkError",
    "Source",
    "SourceFile",
    "choice_of",
]
