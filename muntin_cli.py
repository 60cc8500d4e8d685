"""The entry point of the command `muntin`: it sees that `pipelines` is Muntin's package, not one of the user's project."""

import sys


def main() -> int:
    """Run a command; its exit status."""
    import pipelines

    if not hasattr(pipelines, "Pipeline"):
        place = next(iter(getattr(pipelines, "__path__", ())), pipelines.__file__)
        print(
            f"error (usage): {place} is found as the package `pipelines`, which is the name of Muntin's own; "
            "rename that package, or take its folder off PYTHONPATH",
            file=sys.stderr,
        )
        return 2
    from pipelines.cli.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
