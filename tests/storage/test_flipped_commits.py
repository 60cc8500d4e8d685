"""A byte of a commit is flipped, at every few places: the check of logs says so, or the table is the same."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from muntin.errors import ConflictError
from muntin.store.column_commits import commit_columns
from muntin.store.log_check import commit_path, problem_of_commit, problems_of_log
from muntin.store.seen_tables import listed, open_table
from muntin.store.store import Change, File, Snapshot, Texts

SCHEMA = pa.schema([("k", pa.string()), ("at", pa.timestamp("us", "UTC")), ("x", pa.float64())])
APART = 5
"""Every so many bytes."""


def made(folder: Path, schema: pa.Schema = SCHEMA) -> Path:
    """A table of one commit with two files."""
    files = [File("a.parquet", 10, 3), File("b.parquet", 20, 4)]
    commit_columns(folder, Snapshot(-1, ()), Change(schema, files, [], ["run"], texts=Texts("name", "text", {"k": "the key"})), 1)
    return folder


def test_the_first_commit(tmp_path: Path) -> None:
    table = made(tmp_path / "table")
    whole, path = listed(open_table(table)), commit_path(table, 0)
    content, seen = path.read_bytes(), []
    for at in range(0, len(content), APART):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        if not problems_of_log(table):
            assert listed(open_table(table)) == whole, content[at - 20 : at + 20]
            seen.append(at)
    assert max(seen) < content.index(b"\n")  # of what comes behind the digest nothing is passed over


def test_a_table_that_another_writer_made_first_is_a_conflict(tmp_path: Path) -> None:

    with pytest.raises(ConflictError, match="changed the table itself"):
        made(made(tmp_path / "table"))


def test_a_table_with_local_times_is_made_too(tmp_path: Path) -> None:
    table = made(tmp_path / "table", SCHEMA.append(pa.field("local", pa.timestamp("us"))))
    assert DeltaTable(str(table)).protocol().reader_features == ["timestampNtz"]


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("partitionValues", "partitionValuez", "an action 'add' has no 'partitionValues'"),
        ('minReaderVersion":3', 'minReaderVersioo":3', "an action 'protocol' has no 'minReaderVersion'"),
        ('{"add"', '{"bdd"', "Delta knows no action 'bdd'"),
        ('\\"nullable\\"', '\\"nullablf\\"', "a column has name, type, nullablf, metadata"),
    ],
)
def test_a_commit_of_deltalake_which_has_no_digest(tmp_path: Path, before: str, after: str, problem: str) -> None:
    path = commit_path(made(tmp_path / "table", SCHEMA.append(pa.field("local", pa.timestamp("us")))), 0)
    first, rest = path.read_text().split("\n", 1)
    assert "muntin.digest" not in first
    assert before in rest
    path.write_text(f"{first}\n{rest.replace(before, after, 1)}")
    assert problem_of_commit(path) == f"is damaged: {problem}"
