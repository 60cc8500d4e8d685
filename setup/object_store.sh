#!/usr/bin/env bash
# A server of S3 for the tests of object stores, in build/bin, where there is Go to build it. Never an error: without it those tests are skipped.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit 0
source setup/system.sh

VERSION=v1.8.0
GO=$(command -v go || echo /usr/local/go/bin/go)

[ -x build/bin/versitygw ] && exit 0
if [ -x "$GO" ]; then
  say "building an object store for the tests (versitygw $VERSION; a minute, the first time)"
  mkdir -p build/bin
  GOBIN=$PWD/build/bin "$GO" install "github.com/versity/versitygw/cmd/versitygw@$VERSION" >/dev/null 2>&1 ||
    say "no object store: it could not be built, and the tests that need one are skipped"
else
  say "no object store: there is no Go to build one, and the tests that need one are skipped"
fi
exit 0
