"""Batches are cut into pieces by their files alone, so that two to four cores share a batch of a few megabytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.sources.listing import SPLIT_BYTES, SourceFile, piece_bytes, splits

MB = 2**20


def files(*sizes: int) -> list[SourceFile]:
    return [SourceFile(f"/{at:03d}", size, 0) for at, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "pieces"),
    [
        ([], []),
        ([7 * MB], [1]),
        ([MB] * 7, [7]),
        ([MB] * 9, [5, 4]),
        ([MB] * 16, [4, 4, 4, 4]),
        ([1160_000] * 15 + [1172_000], [4, 4, 4, 4]),  # no fifth task for what is a little too much for four
        ([12 * MB] * 4, [1, 1, 1, 1]),
        ([12 * MB] * 16, [4, 4, 4, 4]),
        ([12 * MB] * 18, [4, 4, 4, 4, 2]),
    ],
)
def test_pieces_of_a_batch(sizes: list[int], pieces: list[int]) -> None:
    assert [len(piece) for piece in splits(files(*sizes))] == pieces


@given(st.lists(st.integers(0, 30 * MB), max_size=30))
def test_every_file_is_in_one_piece_in_order_and_pieces_are_small(sizes: list[int]) -> None:
    given, pieces = files(*sizes), splits(files(*sizes))
    assert [file for piece in pieces for file in piece] == given
    assert all(sum(file.size for file in piece) <= SPLIT_BYTES for piece in pieces if len(piece) > 1)
    assert len(splits(given, whole=True)) == min(1, len(given))


@given(st.integers(0, 10**12))
def test_a_larger_batch_has_no_fewer_tasks(total: int) -> None:
    tasks = [-(-size // piece_bytes(size)) for size in (total, total + MB)]
    assert tasks == sorted(tasks)
