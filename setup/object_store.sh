#!/usr/bin/env bash
# A server of S3 for the tests of object stores: versitygw in build/bin, where there is Go to build it; else, or with the argument `moto`, moto in
# build/moto. Never an error: without a server those tests are skipped.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit 0
source setup/system.sh
source setup/python.sh

VERSION=v1.8.0
GO=${GO:-$(command -v go || echo /usr/local/go/bin/go)}

use_moto() {
  [ build/moto/ready -nt setup/moto.txt ] && exit 0
  say "object store: $1; moto, a server of S3 in Python, stands in (some seconds, the first time)"
  use_pip_settings_for_uv
  rm -rf build/moto
  .venv/bin/uv venv --quiet --python .venv/bin/python build/moto &&
    .venv/bin/uv pip install --quiet --python build/moto/bin/python --no-deps --require-hashes --requirement setup/moto.txt &&
    touch build/moto/ready || say "no object store: moto could not be fetched either, and the tests that need one are skipped"
  exit 0
}

[ -x build/bin/versitygw ] && exit 0
[ "${1:-}" = moto ] && use_moto "versitygw is not built here ('bash setup/object_store.sh' builds it, in some minutes)"
[ -x "$GO" ] || use_moto "there is no Go to build versitygw"
say "building an object store for the tests (versitygw $VERSION; some minutes, the first time)"
mkdir -p build/bin
GOBIN=$PWD/build/bin "$GO" install "github.com/versity/versitygw/cmd/versitygw@$VERSION" >/dev/null 2>&1 ||
  use_moto "versitygw could not be built"
exit 0
