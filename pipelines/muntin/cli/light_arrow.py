"""Arrow without pandas. Arrow imports pandas, where it is installed, as soon as it is given a Python value; that takes half a second."""

import sys
from contextlib import suppress


class _Refused:
    """Says of pandas, while Arrow tries to import it, that it cannot be imported."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ImportError(name)


def without_pandas() -> None:
    """Let Arrow try to import pandas once, in vain; from then on it goes without. Other modules can import pandas as before.

    For commands that read tables. It does nothing where pandas is there already, as after a definition that imports it.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    sys.meta_path.insert(0, _Refused)  # type: ignore[arg-type]
    try:
        with suppress(ImportError):
            pa.scalar(0)
    finally:
        sys.meta_path.remove(_Refused)  # type: ignore[arg-type]
