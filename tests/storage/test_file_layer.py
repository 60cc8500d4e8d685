"""The verbs of a path are the same on a disk and in an object store."""

import os
import stat

import pytest

from muntin.errors import StateError
from muntin.files.paths import (
    AnyPath,
    folders_in,
    matching,
    move_folder,
    names_in,
    path_of,
    relative,
    remove_folder,
    rename,
    sizes_below,
    stats_of,
)
from muntin.store.disk import link, write_new, write_whole
from muntin.store.paths import folder_of
from tests.object_store import AnyServer, only_of_versitygw

# base   a.txt 1   sub/b.csv 22   sub/deep/c.csv 333   sub/[x].csv 4   .hidden/d.csv 5
FILES = {"a.txt": b"1", "sub/b.csv": b"22", "sub/deep/c.csv": b"333", "sub/[x].csv": b"4", ".hidden/d.csv": b"5"}


@pytest.fixture
def base(roots: str) -> AnyPath:
    for name, content in FILES.items():
        write_whole(path_of(roots, "base", name), content)
    return path_of(roots, "base")


def named(base: AnyPath, paths: object) -> list[str]:
    return sorted(relative(path, base) for path in paths)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", [".hidden", "a.txt", "sub"]),
        ("*/", [".hidden", "sub"]),
        ("*/*.csv", [".hidden/d.csv", "sub/[x].csv", "sub/b.csv"]),
        ("sub/b.csv", ["sub/b.csv"]),
        ("sub/none.csv", []),
        ("none/*", []),
        ("[!.]*.txt", ["a.txt"]),
        ("**/*.csv", [".hidden/d.csv", "sub/[x].csv", "sub/b.csv", "sub/deep/c.csv"]),
        ("sub/**/*.csv", ["sub/[x].csv", "sub/b.csv", "sub/deep/c.csv"]),
    ],
)
def test_glob(base: AnyPath, pattern: str, found: list[str]) -> None:
    assert named(base, base.glob(pattern)) == found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.txt", ["a.txt"]),
        ("**/*.csv", [".hidden/d.csv", "sub/[x].csv", "sub/b.csv", "sub/deep/c.csv"]),
        ("sub/[[]x].csv", ["sub/[x].csv"]),
        (".h*/*", [".hidden/d.csv"]),
        ("*", [".hidden", "a.txt", "sub"]),
    ],
)
def test_patterns_find_hidden_names_too(base: AnyPath, pattern: str, found: list[str]) -> None:
    assert named(base, map(path_of, matching(f"{base}/{pattern}"))) == found


def test_what_lies_below(base: AnyPath) -> None:
    assert named(base, base.rglob("deep")) == ["sub/deep"]
    assert named(base, base.iterdir()) == named(base, base.glob("*"))
    assert named(base, folders_in(base)) == [".hidden", "sub"]
    assert folders_in(base / "none") == []
    assert {relative(path, base): size for path, size, _ in sizes_below(base)} == {name: len(content) for name, content in FILES.items()}
    assert [*names_in(f"{base}/sub")] == ["[x].csv", "b.csv", "deep"]
    assert [*names_in(f"{base}/none")] == []


def test_what_a_path_is(base: AnyPath) -> None:
    kinds = {name: (path.exists(), path.is_file(), path.is_dir()) for name in ("a.txt", "sub", "su") if (path := base / name)}
    assert kinds == {"a.txt": (True, True, False), "sub": (True, False, True), "su": (False, False, False)}
    path = base / "sub" / "b.csv"
    assert (path.name, path.stem, path.suffix, path.parent.name) == ("b.csv", "b", ".csv", "sub")
    assert (str(path.with_name("x")), str(path.absolute())) == (f"{base}/sub/x", str(path))
    assert str(folder_of(path.parent, "../other")) == f"{base}/other"


def test_facts(base: AnyPath) -> None:
    facts = stats_of([f"{base}/a.txt", f"{base}/none", f"{base}/sub"])
    assert {path.removeprefix(f"{base}/"): stat.S_ISDIR(each.st_mode) for path, each in facts.items()} == {"a.txt": False, "sub": True}
    before = (base / "a.txt").stat()
    write_whole(base / "a.txt", b"2")
    assert (base / "a.txt").stat() != before
    with pytest.raises(FileNotFoundError) as gone:
        (base / "none").stat()
    assert (gone.value.errno, str(gone.value.filename)) == (2, f"{base}/none")


def test_reading_and_writing(base: AnyPath) -> None:
    assert (base / "sub" / "deep" / "c.csv").read_bytes() == b"333"
    assert (base / "a.txt").read_text(encoding="utf-8") == "1"
    with (base / "a.txt").open("rb") as file:
        assert file.read() == b"1"
    with pytest.raises(FileNotFoundError):
        (base / "none").read_bytes()


def test_of_two_first_writers_one_comes_first(base: AnyPath) -> None:
    write_new(base / "new.json", b"ours")
    with pytest.raises(FileExistsError):
        write_new(base / "new.json", b"theirs")
    assert (base / "new.json").read_bytes() == b"ours"


def test_a_link_outlives_what_it_was_made_of(base: AnyPath) -> None:
    link(base / "a.txt", base / "other" / "a.txt")
    (base / "a.txt").unlink()
    assert (base / "other" / "a.txt").read_bytes() == b"1"
    write_whole(base / "a.txt", b"another")
    link(base / "a.txt", base / "other" / "a.txt")
    assert (base / "other" / "a.txt").read_bytes() == b"1", "what is there stays"


def test_names_change(base: AnyPath) -> None:
    rename(base / "a.txt", base / "z.txt")
    rename(base / "sub", base / "bus")
    assert named(base, (path for path, *_ in sizes_below(base))) == [".hidden/d.csv", "bus/[x].csv", "bus/b.csv", "bus/deep/c.csv", "z.txt"]
    with pytest.raises(FileNotFoundError):
        rename(base / "none", base / "some")


def test_a_folder_goes_whole_and_may_be_gone(base: AnyPath) -> None:
    for _ in range(2):
        remove_folder(base / "sub")
        (base / "a.txt").unlink(missing_ok=True)
    assert [relative(path, base) for path, *_ in sizes_below(base)] == [".hidden/d.csv"]


def test_no_folder_of_an_object_store_is_moved_in_pieces(bucket: str) -> None:
    write_whole(path_of(bucket, "old", "x"), b"1")
    with pytest.raises(StateError, match=f"{bucket}/old is to become {bucket}/new, and an object store cannot rename a folder in one step"):
        move_folder(path_of(bucket, "old"), path_of(bucket, "new"))
    assert not path_of(bucket, "new").exists()


def test_more_files_than_a_page_of_a_listing_has(s3_bucket: str, object_store: AnyServer) -> None:
    folder = only_of_versitygw(object_store).folder / s3_bucket.removeprefix("s3://") / "many"
    folder.mkdir()
    for number in range(1_100):
        os.close(os.open(folder / f"{number:04d}", os.O_CREAT | os.O_WRONLY))
    assert len(sizes_below(path_of(s3_bucket, "many"))) == len(names_in(f"{s3_bucket}/many")) == 1_100
    remove_folder(path_of(s3_bucket, "many"))
    assert not path_of(s3_bucket, "many").is_dir()
