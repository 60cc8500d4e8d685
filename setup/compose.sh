#!/usr/bin/env bash
# What reads docker-compose.yml as docker compose does, in build/bin, where there is Go to build it. Never an error: without it a test is skipped.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit 0
source setup/system.sh

GO=$(command -v go || echo /usr/local/go/bin/go)

[ build/bin/compose-check -nt setup/compose/main.go ] && [ build/bin/compose-check -nt setup/compose/go.mod ] && exit 0
if [ -x "$GO" ]; then
  say "building a reader of compose files for the tests (compose-go; some seconds, the first time)"
  mkdir -p build/bin
  (cd setup/compose && "$GO" build -trimpath -o ../../build/bin/compose-check . >/dev/null 2>&1) ||
    say "no reader of compose files: it could not be built, and the test that needs it is skipped"
else
  say "no reader of compose files: there is no Go to build it, and the test that needs it is skipped"
fi
exit 0
