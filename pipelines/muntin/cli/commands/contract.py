"""`muntin contract`: what readers of published windows may count on."""

from muntin.cli import options as opt
from muntin.cli.output import say_json
from muntin.cli.place import inspected
from muntin.cli.working import working


def contract(file: opt.File, root: opt.Root = None, name: opt.Name = None) -> None:
    """Print the contract of published windows.

    In the Open Data Contract Standard: columns, types, keys, units, suites, freshness, retention. It is written as JSON, which is YAML,
    too. `muntin check --against` holds a later definition against it.

    Example:
      muntin contract dags/flights.py --root state > contract.yaml
    """
    with working():
        from muntin.jobs.inspect import contract as of_windows

        pipeline, folder = inspected(file, name, root)
        document = of_windows.contract(pipeline, root=folder)
    say_json(document)
