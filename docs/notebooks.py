"""The notebooks of examples/notebooks: their code cells are run, and what they show is written into them by `python -m docs.notebooks`."""

from __future__ import annotations

import ast
import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def loaded(path: Path) -> dict[str, Any]:
    """A notebook as its file has it."""
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with what its code cells print and what their last lines give, as if they had been run one after the other."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            cells.append(cell)
            continue
        count += 1
        cells.append({**cell, "execution_count": count, "outputs": _run("".join(cell["source"]), names, count)})
    return {**notebook, "cells": cells}


def _run(code: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The outputs of a cell, as a notebook's file has them."""
    tree, printed, value = ast.parse(code), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), names)  # noqa: S102 - our own notebooks
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names)  # noqa: S307 - as above
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def text(notebook: dict[str, Any]) -> str:
    """A notebook's file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for each in NOTEBOOKS:
        each.write_text(text(executed(loaded(each))), encoding="utf-8")
