#!/usr/bin/env bash
# Azurite, an emulator of Azure Blob Storage, in build/azurite, where there is npm to fetch it. Never an error: without it those tests are skipped.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit 0
source setup/system.sh

VERSION=3.37.0

[ -x build/azurite/node_modules/.bin/azurite-blob ] && exit 0
if command -v npm >/dev/null; then
  say "fetching Azurite for the tests (186 MB, the first time)"
  mkdir -p build/azurite
  npm install --prefix build/azurite --no-fund --no-audit --loglevel error "azurite@$VERSION" >/dev/null 2>&1 ||
    say "no Azurite: npm could not fetch it, and the tests that need it are skipped"
else
  say "no Azurite: there is no npm to fetch it, and the tests that need it are skipped"
fi
exit 0
