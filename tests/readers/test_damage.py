"""What a compressed file says of its content holds, or the file is refused by name: checksums, lengths, ends."""

import gzip
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from muntin import sources
from muntin.errors import SourceError
from muntin.files.paths import path_of
from muntin.jobs.inspect.late import quarantined
from muntin.sources.sessions import fetched_files, plain_text
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly
from tests.source_options import grouped

AT = "2024-01-01 00:10:00"
BODIES = {
    "csv": f"at,x\n{AT},1\n".encode() + b"".join(b"%s,%d\n" % (AT.encode(), at) for at in range(2, 501)),
    "jsonl": b"".join(b'{"at": "%s", "x": %d}\n' % (AT.encode(), at) for at in range(1, 501)),
}


def member(content: bytes, *, crc: int | None = None, length: int | None = None) -> bytes:
    """A member of gzip with a trailer that may lie."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    raw = packer.compress(content) + packer.flush()
    told = zlib.crc32(content) if crc is None else crc, len(content) if length is None else length
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + raw + struct.pack("<II", *told)


def frame(content: bytes, **how: bool) -> bytes:
    return zstandard.ZstdCompressor(**how).compress(content)


def one_digit(content: bytes) -> bytes:
    """A content with another digit in one of its numbers, as long as before."""
    return content.replace(b"250", b"260", 1)


def half(content: bytes) -> list[bytes]:
    at = content.index(b"\n", len(content) // 2) + 1
    return [content[:at], content[at:]]


def with_a_digit_in_the_frame(content: bytes) -> bytes:
    """A frame of zstd whose literals are as they are, so that a changed digit changes nothing but the content."""
    small = content[: content.index(b"\n", 40) + 1]
    packed = bytearray(frame(small, write_checksum=True))
    packed[packed.rindex(AT.encode()[-8:-3])] ^= 1
    return bytes(packed)


DAMAGED: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "a digit": ("gz", lambda body: member(one_digit(body), crc=zlib.crc32(body)), "CRC check failed"),
    "the length": ("gz", lambda body: member(body, length=5), "Incorrect length of data"),
    "a digit of the second member": (
        "gz",
        lambda body: member(half(body)[0]) + member(one_digit(half(body)[1]) + b"\n", crc=7),
        "CRC check failed",
    ),
    "cut off in the trailer": ("gz", lambda body: member(body)[:-4], "ended before the end-of-stream marker"),
    "cut off in the content": ("gz", lambda body: member(body)[:-400], "ended before the end-of-stream marker"),
    "cut off between members' bytes": ("gz", lambda body: b"".join(map(member, half(body)))[:-30], "ended before"),
    "other bytes behind it": ("gz", lambda body: member(body) + b"garbage", "Not a gzipped file (b'ga')"),
    "not compressed": ("gz", lambda body: body, "Not a gzipped file"),
    "zstd: a digit": ("zst", with_a_digit_in_the_frame, "Restored data doesn't match checksum"),
    "zstd: cut off": ("zst", lambda body: frame(body)[:-3], "Truncated compressed stream"),
    "zstd: cut off in the second frame": ("zst", lambda body: b"".join(map(frame, half(body)))[:-3], "Truncated compressed stream"),
    "zstd: other bytes behind it": ("zst", lambda body: frame(body) + b"garbage!", "Unknown frame descriptor"),
}
WHOLE: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "as gzip writes it": ("gz", gzip.compress),
    "two members": ("gz", lambda body: b"".join(map(member, half(body)))),
    "zeros behind it": ("gz", lambda body: member(body) + bytes(512)),
    "an empty member between": ("gz", lambda body: member(b"").join(map(member, half(body)))),
    "capital letters": ("GZ", gzip.compress),
    "zstd": ("zst", frame),
    "zstd with a checksum": ("zst", lambda body: frame(body, write_checksum=True)),
    "zstd, two frames": ("zst", lambda body: b"".join(map(frame, half(body)))),
}


def case(root: str, tmp_path: Path, form: str, ending: str, content: bytes, **source: Any) -> tuple[Hourly, str]:
    """An hour with a plain file of one row and a compressed one, and the path of this one."""
    plain, packed = path_of(root, "data", f"00.{form}"), path_of(root, "data", f"00b.{form}.{ending}")
    plain.parent.mkdir(parents=True, exist_ok=True)
    plain.write_bytes(f"at,x\n{AT},7\n".encode() if form == "csv" else b'{"at": "%s", "x": 7}\n' % AT.encode())
    packed.write_bytes(content)
    form = {"csv": "csv", "jsonl": "json"}[form]
    return Hourly(
        tmp_path, other={"source": sources.files(f"{root}/data/{{start:%H}}*", **grouped(event_time="at", format=form, **source))}
    ), str(packed)


@pytest.mark.parametrize(("what", "form"), paired(DAMAGED, BODIES))
def test_a_damaged_file_is_refused_by_name(roots: str, tmp_path: Path, what: str, form: str) -> None:
    ending, spoiled, told = DAMAGED[what]
    hours, path = case(roots, tmp_path, form, ending, spoiled(BODIES[form]))
    with pytest.raises(SourceError) as wrong:
        hours.run()
    assert f"{path} is cut off or damaged (" in str(wrong.value)
    assert told in str(wrong.value)
    assert str(wrong.value).endswith('Mend or remove it, or say on_bad_file="quarantine" in sources.files(...)')


@pytest.mark.parametrize(("what", "form"), paired(DAMAGED, BODIES))
def test_or_goes_to_the_quarantine(roots: str, tmp_path: Path, what: str, form: str) -> None:
    ending, spoiled, told = DAMAGED[what]
    hours, path = case(roots, tmp_path, form, ending, spoiled(BODIES[form]), on_bad_file="quarantine")
    (batch,) = hours.run().batches
    assert (batch.rows_accepted, batch.rows_quarantined) == (1, 1)
    (row,) = quarantined(hours.pipeline, root=hours.root).to_pylist()
    assert row["file"] == path
    assert told in row["reason"]


@pytest.mark.parametrize(("what", "form"), paired(WHOLE, BODIES))
def test_a_whole_file_is_read(roots: str, tmp_path: Path, what: str, form: str) -> None:
    ending, packed = WHOLE[what]
    hours, _ = case(roots, tmp_path, form, ending, packed(BODIES[form]))
    (batch,) = hours.run().batches
    assert (batch.rows_read, batch.rows_accepted) == (501, 501)


@pytest.mark.parametrize("form", BODIES)
@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_large_file_is_read_in_parts(roots: str, tmp_path: Path, form: str, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (fetched_files, plain_text):
        monkeypatch.setattr(module, "KEPT_BYTES", 10)
    hours, _ = case(roots, tmp_path, form, ending, {"gz": gzip.compress, "zst": frame}[ending](BODIES[form]))
    assert hours.run().batches[0].rows_accepted == 501
