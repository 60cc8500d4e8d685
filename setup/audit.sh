#!/usr/bin/env bash
# Ask OSV (https://osv.dev) whether pinned packages have known vulnerabilities. It fails if there is one, and if it could not ask.
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
exec "${UV:-.venv/bin/uv}" tool run --from "pip-audit==$PIP_AUDIT" pip-audit --strict --progress-spinner off \
  --vulnerability-service osv --disable-pip --require-hashes --requirement requirements.txt ${ignored[@]+"${ignored[@]}"}
