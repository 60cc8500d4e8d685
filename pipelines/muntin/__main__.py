"""`python -m muntin`: the command `muntin` of this Python."""

import sys

from muntin.cli.main import main

sys.exit(main())
