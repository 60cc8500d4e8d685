#!/usr/bin/env bash
# Redis and MariaDB for the tests of sinks, where there is none and the system's package manager has them: the packages that hold the
# programs and start no service. Never an error: without them those tests are skipped.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit 0
source setup/system.sh

has_redis() {
  command -v redis-server || command -v valkey-server || command -v redis-check-rdb || command -v valkey-check-rdb
} >/dev/null
has_maria() { [ -n "$(PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v mariadbd)" ]; }

has_redis || apt_install redis-tools valkey-tools || brew_install valkey || say "no Redis: it could not be fetched, and the tests that need it are skipped"
has_maria || apt_install mariadb-server-core || brew_install mariadb || say "no MariaDB: it could not be fetched, and the tests that need it are skipped"
exit 0
