"""A file belongs to one batch: its rows count once."""

from pathlib import Path

import pytest

from muntin.errors import SourceError
from tests.end_to_end.hourly import Hourly, times


# the template repeats after 60 minutes, and the glob takes 00-05 for hour 0 and for hour 5
def test_a_file_of_two_batches_is_refused(tmp_path: Path) -> None:
    hourly = Hourly(tmp_path, "*{start:%H}*.parquet", {"missing": "empty"})
    hourly.write("00-05.parquet", {"at": times(1)})
    with pytest.raises(SourceError, match=r"00-05\.parquet is a file of the batch \[2024-01-01, .* and of \[2024-01-01T05:00.*twice"):
        hourly.run(0, 5)
    assert hourly.run(0, 4).batches[0].rows_accepted == 1


def test_every_file_is_read_by_every_batch_where_that_is_said(tmp_path: Path) -> None:
    hourly = Hourly(tmp_path, "*.parquet", {"all_files": True})
    hourly.write("a.parquet", {"at": times(1)})
    assert [batch.rows_read for batch in hourly.run(0, 1).batches] == [1, 1]
