"""The columns that Muntin adds to states. Names for readers of files have no prefix, internal names have."""

from typing import Any

INSTANT: Any  # the type of all instants: timestamp[us, UTC]

# Columns of a checkpoint.
BATCH, BUCKET = "batch", "bucket"  # start of the batch's interval; bucket of the key
FRAME = "frame"  # start of the frame
FIRST_EVENT, LAST_EVENT = "first_event", "last_event"  # times of the first and the last event in the frame
ARRIVAL_TIME = "muntin_arrival"  # of a state that is a row: when the row arrived
FILE_NUMBER = "muntin_file"  # of a state that is a row: number of its file in the batch
ROW_IN_BATCH = "muntin_place"  # of a state that is a row: its number in the batch, by arrival
STATE_PREFIX = "state_"  # begins the names of fields' columns that stand next to results in published windows

# Columns of a table of ids, in addition to the batch.
ID_HIGH, ID_LOW = "id_high", "id_low"  # the halves of an event's id as a hash of 128 bits
ID_TIME = "event_time"  # of the row that brought the id; where rows change others, the start of its batch
ID_ROW = "id_row"  # a hash of what the last row of the id says where rows change others; else 0

# Columns of a note.
COUNTERS, BASE = (
    "muntin_counters",
    "muntin_base",
)  # the counters of a partition; the value that a delta compares with

# Columns while states are made.
EVENT_TIME = "muntin_time"  # of a source row, microseconds
ODD = "muntin_odd"  # of a local time: 1 if clocks show it twice, -1 if never, 0 if once; null without a time
ORDER = "muntin_order"  # sorts source rows before arrival does: the event time; by arrival, a constant
ORDINAL = "muntin_ordinal"  # a source row's number in its split, from 1, by arrival
ROW_IN_SPLIT = "muntin_row_number"  # a source row's number in its split, from 1, as read
IDENTITY = "muntin_identity"  # what a source row has in common with rows of the same event; null: nothing
BROUGHT = "muntin_brought"  # whether the first row of an identity in its batch brings it, and changes no row
ROW_BATCH = "muntin_batch"  # start of a source row's batch, microseconds, where several lie in one relation
LATEST = "muntin_latest"  # next to it: the latest event time that the batch takes, microseconds
FILE_PATH = "muntin_path"  # a source row's file, where rows of several files lie in one relation
FAULT = "muntin_fault"  # a source row's number of what cannot be computed of it; null: all can
WRITTEN = "muntin_written"  # next to it: the row as JSON, before columns are cast
SOURCE_ROWS = "muntin_rows"  # the relation of the source rows

# Columns while windows are made.
BATCH_POSITION = "muntin_position"  # position of the state's batch in the history
ITEM_POSITION = "position"  # of windows whose lists come out as rows: the item's place in the list


def __getattr__(name: str) -> Any:  # noqa: ANN401 - Arrow's type
    """`INSTANT` when it is first asked for: a definition needs the names here, not Arrow."""
    if name != "INSTANT":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import pyarrow as pa

    return pa.timestamp("us", tz="UTC")
