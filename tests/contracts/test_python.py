"""Python itself and its C library: what a new minor version may move without a word. See `tests/contracts/private-names.md`."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from muntin.definition.function_marks import mark
from muntin.jobs.state.definition_files import _ARGUMENT, _IMPORTED


def test_a_frame_names_the_file_of_who_called() -> None:
    assert sys._getframe(0).f_code.co_filename == __file__


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_glibc_takes_the_two_thresholds() -> None:
    from muntin.extensions.zygote.daemon import _MMAP_THRESHOLD, _TRIM_THRESHOLD

    words = (
        f"import ctypes; c = ctypes.CDLL('libc.so.6'); print(*(c.mallopt(each, 1 << 28) for each in {_MMAP_THRESHOLD, _TRIM_THRESHOLD}))"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1"]


def test_the_allocator_of_arrow_takes_its_delay_from_the_environment() -> None:
    words = "import pyarrow as pa; print(pa.default_memory_pool().backend_name); pa.array([1])"
    environment = {**os.environ, "MIMALLOC_PURGE_DELAY": "-1", "MIMALLOC_VERBOSE": "1"}
    done = subprocess.run([sys.executable, "-c", words], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["mimalloc"]
    assert "'purge_delay': -1" in done.stderr


def test_frozen_objects_are_left_alone() -> None:
    words = "import gc; gc.collect(); before = len(gc.get_objects()); gc.freeze(); print(before, len(gc.get_objects()))"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    before, behind = map(int, done.stdout.split())
    assert behind < before / 10


def test_a_fork_calls_what_was_registered() -> None:
    words = (
        "import os; os.register_at_fork(after_in_child=lambda: print('child', flush=True))\n"
        "if os.fork() == 0: os._exit(0)\n"
        "os.wait(); print('parent')"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["child", "parent"]


def test_a_forgotten_importer_of_an_archive_is_asked_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "some.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("module_of_an_archive.py", "VALUE = 1")
    monkeypatch.syspath_prepend(str(archive))
    import module_of_an_archive

    assert module_of_an_archive.VALUE == 1
    assert sys.path_importer_cache.pop(str(archive)) is not None


def test_arrow_looks_for_pandas_once() -> None:
    words = (
        "from muntin.cli.place import without_pandas\n"
        "without_pandas()\n"
        "import sys, pyarrow as pa\n"
        "pa.array([1.5, None]); print('pandas' in sys.modules)\n"
        "import pandas; print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_what_is_raised_while_an_object_is_freed_is_told() -> None:
    words = (
        "import signal, sys\n"
        "def hear(*_): raise KeyError('of a signal')\n"
        "class Freed:\n"
        "    def __del__(self): signal.raise_signal(signal.SIGUSR1)\n"
        "signal.signal(signal.SIGUSR1, hear)\n"
        "sys.unraisablehook = lambda lost: print(type(lost.exc_value).__name__)\n"
        "Freed()"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["KeyError"]


def test_code_is_the_same_in_another_process() -> None:
    words = "import sys; from muntin.definition.function_marks import mark; print(mark(eval(sys.argv[1])))"
    function = "lambda x: [y + 1.5 for y in x if y in {'a', 'b', 'c'}]"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", words, function], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [mark(eval(function))]  # noqa: S307 - the same text in both


def test_errors_name_what_was_misspelt() -> None:
    with pytest.raises(ImportError) as unknown:
        exec("from muntin import Pipelin")  # noqa: S102 - it is not there
    found = _IMPORTED.search(str(unknown.value))
    assert found
    assert found.groups() == ("Pipelin", "muntin")

    def tumbling(size: str) -> str:
        return size

    with pytest.raises(TypeError) as argument:
        tumbling(siz="1h")  # type: ignore[call-arg]
    found = _ARGUMENT.search(str(argument.value))
    assert found
    assert found[2] == "siz"
