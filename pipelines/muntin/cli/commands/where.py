"""`muntin where`: the addresses of windows, and a line for each tool that reads them."""

from muntin.cli import options as opt
from muntin.cli.output import say, say_json
from muntin.cli.place import placed
from muntin.cli.working import working
from muntin.definition.relative_paths import is_object_store

_READERS = {
    "DuckDB": "SELECT * FROM delta_scan('{table}');",
    "Polars": "polars.read_delta('{table}')",
    "pandas": "deltalake.DeltaTable('{table}').to_pandas()",
    "Spark": "spark.read.format('delta').load('{table}')",
    "Trino": "CALL delta.system.register_table('default', '{name}', '{location}');",
    "Muntin": "muntin show {file} {window} --root {root}",
}


def where(
    file: opt.File,
    window: opt.SomeWindow = None,
    root: opt.Root = None,
    name: opt.Name = None,
    as_json: opt.Json = False,
) -> None:
    """Say where windows are, and how other tools read them.

    The path of a window's table stays, whatever becomes of the definition.

    Example:
      muntin where dags/flights.py day --root state
    """
    with working():
        from muntin.jobs.inspect.unknown import no_window
        from muntin.store.state import WINDOWS

        pipeline, folder = placed(file, name, root)
        if window is not None and window not in pipeline.windows:
            raise no_window(pipeline, window)
        names = [window] if window else [*pipeline.windows]
        tables = {each: str(folder.absolute() / pipeline.name / WINDOWS / each) for each in names}
    if as_json:
        return say_json(tables)
    for each, table in tables.items():
        say(f"{each}: {table}")
        location = table if is_object_store(table) else f"file://{table}"
        plain = f"{pipeline.name}_{each}".replace(".", "_")
        facts = {
            "table": table,
            "location": location,
            "name": plain,
            "file": file,
            "window": each,
            "root": folder,
        }
        for reader, line in _READERS.items():
            say(f"  {reader:<8}{line.format(**facts)}")
        for sink in pipeline.to:
            if sink.window == each and sink.query:
                say(f"  {'Catalog':<8}{sink.query}")
    return None
