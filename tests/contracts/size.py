"""How large the product is: `python -m tests.contracts.size` writes `size.json` anew. A number that grows has its reason in the commit.

Counted are nodes of the syntax tree (`ast.walk`, contexts of names aside), since lines can be made longer and nodes cannot.
"""

import ast
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from muntin.cli.main import names

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pipelines/muntin"
RECORD = Path(__file__).with_suffix(".json")
WORDS = ("told", "found", "known", "done", "made", "taken", "kept", "lacking")
"""Names of variables that do not say what they hold."""
WRITTEN_BY_USERS = {("as_of", "known"), ("answers_for", "known")}
"""(function, name) of arguments that users write: of `as_of(..., known="ended")`, in Python and as `--known`."""
HANG = re.compile(r"\b(those|others|nobody)\b", re.IGNORECASE)
"""Words of a docstring that stand for a noun."""
RUN = """
import sys
from muntin.__main__ import main
sys.argv = ["muntin", "run", "flow.py", "--root", "state", "--start", "2024-01-01", "--end", "2024-01-02", "--quiet"]
try:
    main()
except SystemExit:
    pass
print(sum(name.partition(".")[0] == "muntin" for name in sys.modules))
"""
FLOW = """
from datetime import UTC, datetime
from muntin import Pipeline, aggregates as agg, sources, windows
flow = Pipeline(name="flow", source=sources.files("{start:%d}.csv", event_time="at"), schedule="@daily",
    start=datetime(2024, 1, 1, tzinfo=UTC), windows={"day": windows.tumbling("1d")}, aggregates={"n": agg.count()})
"""


def _unmarked(line: str) -> str:
    """A line without the mark of a checker at its end, as ruff measures it."""
    return re.split(r"  # (?:noqa|type: ignore)", line)[0]


def room_of(file: Path) -> str:
    """The room of a file: a folder of the package; below `jobs` and `extensions` a folder of these."""
    folders = file.relative_to(PACKAGE).parts[:-1]
    return "/".join(folders[:2] if folders[:1] in (("jobs",), ("extensions",)) else folders[:1]) or "."


def size() -> dict[str, object]:
    """The numbers, as `size.json` has them."""
    nodes, functions, bodies, lines, files, words, hanging = Counter[str](), 0, 0, 0, 0, 0, 0
    for file in sorted(PACKAGE.rglob("*.py")):
        if "templates" in file.parts:
            continue
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        nodes[room_of(file)] += sum(not isinstance(node, ast.expr_context) for node in ast.walk(tree))
        made = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        functions += len(made)
        inner = {id(node) for each in made for node in ast.walk(each) if node is not each}
        bodies += sum(body_lines(each) for each in made if id(each) not in inner)
        words += sum((each.name, name) not in WRITTEN_BY_USERS for each in made for name in variables(each) & {*WORDS})
        hanging += sum(bool(HANG.search(ast.get_docstring(each) or "")) for each in [tree, *made])
        lines += text.count("\n")
        files += 1
    extensions = sum(count for room, count in nodes.items() if room.startswith("extensions"))
    return {
        "rooms": dict(sorted(nodes.items())),
        "core": sum(nodes.values()) - extensions,
        "all": sum(nodes.values()),
        "files": files,
        "functions per 1,000 nodes": round(1_000 * functions / sum(nodes.values()), 2),
        "share of lines that are no bodies": round(1 - bodies / lines, 3),
        "lines over 110 columns": sum(
            len(_unmarked(line)) > 110 for file in PACKAGE.rglob("*.py") for line in file.read_text().splitlines()
        ),
        "variables that do not say what they hold": words,
        "docstrings that hang on a pronoun": hanging,
        "modules of a run": modules_of_a_run(),
        "commands": sum(" " not in name for name in names()),
    }


def variables(function: ast.AST) -> set[str]:
    """The variables and arguments of a function."""
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function behind its signature and its docstring."""
    statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (function.end_lineno or 0) - statements[0].lineno + 1 if statements else 0


def modules_of_a_run() -> int:
    """How many modules of ours `muntin run` of a CSV file imports."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "flow.py").write_text(FLOW)
        Path(folder, "01.csv").write_text("at\n2024-01-01T01:00:00\n")
        done = subprocess.run([sys.executable, "-c", RUN], cwd=folder, capture_output=True, text=True, check=True)
        return int(done.stdout.split()[-1])


if __name__ == "__main__":
    RECORD.write_text(json.dumps(size(), indent=2) + "\n")
