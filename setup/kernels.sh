#!/usr/bin/env bash
# Numba's kernels, compiled by tests that need most of them, unless some are there: a minute or two. What fails here fails in the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -z "$(find pipelines -name '*.nbi' -print -quit)" ] || exit 0
.venv/bin/python -m pytest -n 2 -k every_way tests/end_to_end/judge/test_{arrivals,random_batches}.py >/dev/null 2>&1 || true
