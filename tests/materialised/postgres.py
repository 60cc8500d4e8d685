"""`python -m tests.materialised.postgres FOLDER PORT`: a PostgreSQL cluster of the wheel in a folder, and its server on a port.

The wheel itself starts servers without a port, which JDBC needs.
"""

import sys

from examples.demo.postgres import serve

if __name__ == "__main__":
    serve(sys.argv[1], "-k", "", "-h", "127.0.0.1", "-p", sys.argv[2], "-F")
