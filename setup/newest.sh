#!/usr/bin/env bash
# The tests of tests/contracts/private-names.md and the end-to-end tests, with the newest versions that pyproject.toml allows instead of those that
# requirements.txt pins. What it says first: which of the libraries that the page names are other versions than the pinned.
set -euo pipefail
cd -P "$(dirname "$0")/.."
source setup/system.sh
source setup/python.sh

NEWEST=build/newest
LIBRARIES='^(apache-airflow|apache-airflow-task-sdk|deltalake|duckdb|great-expectations|numba|py4j|pyarrow|pyspark)=='

use_pip_settings_for_uv
.venv/bin/uv venv --quiet --clear --python .venv/bin/python "$NEWEST"
cp .venv/java-home "$NEWEST/java-home"
say "installing the newest versions that pyproject.toml allows into $NEWEST"
.venv/bin/uv pip install --quiet --python "$NEWEST/bin/python" --editable '.[all,dev]'
.venv/bin/uv pip freeze --quiet --python "$NEWEST/bin/python" >"$NEWEST/versions.txt"
say "other than pinned (< pinned, > newest); all are in $NEWEST/versions.txt:"
pinned=$(grep -oE '^[a-z0-9-]+==[^ ;]+' requirements.txt | grep -E "$LIBRARIES" | sort -u)
diff <(printf '%s\n' "$pinned") <(grep -E "$LIBRARIES" "$NEWEST/versions.txt" | sort -u) >"$NEWEST/other.txt" || grep '^[<>]' "$NEWEST/other.txt" >&2
export JAVA_HOME
JAVA_HOME=$(cat .venv/java-home)
exec "$NEWEST/bin/python" -m pytest -n 2 --dist loadfile tests/contracts tests/end_to_end "$@"
