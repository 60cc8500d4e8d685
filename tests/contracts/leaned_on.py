"""What the product uses of libraries and of Python beside what they document, found in its code.

how the code uses it                                found as
a private attribute of an object that is not ours   its name: _spark
an attribute set on an object that is not ours      its name: fileloc
an import from a module that is not documented      module and name: numba.core.registry.cpu_target
a text that names one of these                      the text: spark.python.daemon.module
a way of Python around its own rules                its name: sys._getframe
the text of an error, which decides what is done    ERROR_TEXT
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "pipelines/muntin", ROOT / "plugins")
LIBRARIES = {"airflow", "deltalake", "duckdb", "great_expectations", "numba", "py4j", "pyiceberg", "pyspark"}
ERROR_TEXT = "text of an error"

DOCUMENTED = {
    "airflow.configuration", "airflow.plugins_manager", "airflow.sdk", "airflow.sdk.exceptions", "airflow.triggers.base",
    "airflow.providers.openlineage.api", "airflow.providers.standard.operators.hitl",
    "airflow.providers.apache.spark.hooks.spark_connect",
    "deltalake", "deltalake.exceptions", "duckdb", "great_expectations", "great_expectations.expectations", "numba",
    "pyiceberg.catalog", "pyiceberg.exceptions", "pyiceberg.io", "pyiceberg.manifest", "pyiceberg.schema", "pyiceberg.table",
    "pyiceberg.table.metadata", "pyiceberg.table.name_mapping", "pyiceberg.table.snapshots", "pyiceberg.table.update",
    "pyiceberg.transforms", "pyiceberg.types", "pyiceberg.utils.config", "pyiceberg.utils.datetime",
    "pyspark", "pyspark.errors", "pyspark.sql", "pyspark.sql.types",
}  # fmt: skip
"""Modules of these libraries that their reference has."""
DOCUMENTED_ATTRIBUTES = {
    "__file__", "__init__", "__qualname__", "__module__",  # of a module, a class and a function
    "_exit", "_replace",  # of os, and of a named tuple
    "daemon", "propagate", "text", "unraisablehook",  # threading, logging, ElementTree, sys
    "filters", "globals", "muntin_reader",  # Jinja's environment; Starlette's `request.state`
    "socket_connect_timeout", "socket_read_timeout", "overflow_mode",  # Apprise's services
    "argv",  # of sys
    "args", "msg",  # of a record of a log
    "extra",  # of an outlet's event in Airflow
    "cache_clear", "is_there",  # ours, of a function and of an error
    "by", "bytes", "bytes_read", "given", "kept", "kept_tiles", "of", "tables", "touched", "state", "twice", "weight", "what",  # ours
}  # fmt: skip
DOCUMENTED_TEXTS = {
    "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_REMOTE",
    "spark.authenticate",
    "spark.default.parallelism", "spark.driver.bindAddress", "spark.driver.defaultJavaOptions",
    "spark.driver.host", "spark.driver.memory", "spark.log.level",
    "spark.master", "spark.pyspark.python", "spark.remote", "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.sql.catalog.spark_catalog", "spark.sql.catalogImplementation",  # of Delta's and of Spark's pages on metastores of Hive
    "spark.sql.shuffle.partitions", "spark.ui.enabled", "spark.ui.showConsoleProgress",
    "__version__", "__main__", "__pycache__",
    "__file__", "__name__", "__dict__", "__eq__", "__path__", "__module__", "__qualname__",  # Python's
    "__HIVE_DEFAULT_PARTITION__", "__extra__", "__arrow_c_stream__",  # Hive; Airflow's connections in the environment; Arrow's interface
}  # fmt: skip
AROUND_THE_RULES = {
    "ctypes.CDLL", "gc.freeze", "os.fork", "os.register_at_fork", "sys._getframe", "sys.meta_path", "sys.path_importer_cache",
}  # fmt: skip
ONLY_SHOWN = {
    "app", "batch_reports", "contents", "delivery", "diagnosis", "definition_fit", "derive_expressions", "gathered",
    "tables", "log_check", "log_checkpoint", "options",
    "attempts", "overview", "parquet", "path_templates", "read_split", "send",
    "source_columns", "written", "apprise_channel", "fitting_files", "printable",
    "registry", "spark", "traces",  # of ours, also from a task to the driver
    "table", "rows", "misfits", "sink_topic", "client",  # of psycopg and confluent-kafka, which document errors
    "sink",  # of redis-py and PyMySQL
    "changed_files",  # of a source
    "outdated",  # the same
    "catalogs",  # of pyiceberg and of databases
    "registered",  # of pyspark
}  # fmt: skip
"""Modules that show the text of an error, or hand it on to a module that looks into it."""

_LAST_WORDS = {name.rpartition(".")[2] for name in AROUND_THE_RULES}
"""To spell each attribute of the product takes seconds."""
_TEXT = re.compile(r"(PYSPARK|SPARK|PYTHON_WORKER|MIMALLOC)_[A-Z_]+|spark\.[a-z][\w.]+|__[A-Za-z_]+__")


@cache
def leaned_on() -> Mapping[str, set[str]]:
    """What is found -> the names of the modules that use it, without their folders."""
    found = defaultdict[str, set[str]](set)
    for file, nodes in _nodes().items():
        for node in nodes:
            for name in _names(node):
                found[name].add(file.stem)
        if file.stem not in ONLY_SHOWN and _looks_into_errors(nodes):
            found[ERROR_TEXT].add(file.stem)
    return dict(found)


@cache
def _nodes() -> Mapping[Path, list[ast.AST]]:
    files = [file for folder in FOLDERS for file in sorted(folder.rglob("*.py")) if "templates" not in file.parts]
    return {file: [*ast.walk(ast.parse(file.read_text(encoding="utf-8")))] for file in files}


@cache
def _ours() -> set[str]:
    """Every name that the product itself gives to a function, a class, a variable or an attribute of its own objects."""
    nodes = [node for of_file in _nodes().values() for node in of_file]
    own = {node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_set(node) and _is_self(node.value)}
    names = {node.id for node in nodes if isinstance(node, ast.Name) and _is_set(node)}
    return own | names | {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Attribute():
            yield from _of_attribute(node)
        case ast.ImportFrom(module=str(module), names=names) if _is_undocumented(module):
            yield from (f"{module}.{each.name}" for each in names)
        case ast.Import(names=names):
            yield from (each.name for each in names if _is_undocumented(each.name))
        case ast.Constant(value=str(text)) if _TEXT.fullmatch(text) and text not in DOCUMENTED_TEXTS:
            yield text
        case ast.Call(args=[ast.Constant(value=str(module)), *more]) if module.partition(".")[0] in LIBRARIES:
            yield from (each.value for each in more if isinstance(each, ast.Constant) and str(each.value).startswith("_"))
        case _:
            pass


def _of_attribute(node: ast.Attribute) -> Iterator[str]:
    if node.attr in _LAST_WORDS and (whole := ast.unparse(node)) in AROUND_THE_RULES:
        yield whole
    elif _is_self(node.value) or node.attr in DOCUMENTED_ATTRIBUTES:
        return
    elif _is_set(node) or (node.attr.startswith("_") and not node.attr.startswith("__") and node.attr not in _ours()):
        yield node.attr


def _is_undocumented(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES and module not in DOCUMENTED


def _is_set(node: ast.Attribute | ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store | ast.Del)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _looks_into_errors(nodes: list[ast.AST]) -> bool:
    """Whether the text of an error is more than shown: `str(wrong)` somewhere else than in a formatted text or in what is raised."""
    texts = [node for node in nodes if _is_text_of_error(node)]
    shown = {
        id(inner)
        for node in (nodes if texts else ())
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.Return)
        for inner in ast.walk(node)
        if isinstance(node, ast.JoinedStr) or (isinstance(inner, ast.Call) and _is_raised(node, inner))
    }
    return any(id(node) not in shown for node in texts)


def _is_raised(node: ast.AST, inner: ast.Call) -> bool:
    """`raise Error(str(wrong))` and `return str(wrong)` show the text."""
    value = node.exc if isinstance(node, ast.Raise) else node.value if isinstance(node, ast.Return) else None
    return value is inner or (isinstance(value, ast.Call) and inner in value.args)


def _is_text_of_error(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id="wrong" | "error")], keywords=[]):
            return True
        case _:
            return False
