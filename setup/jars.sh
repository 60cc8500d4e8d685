#!/usr/bin/env bash
# Jars for tests: in build/jars PostgreSQL by JDBC and Delta, for Spark; in build/iceberg a REST catalog of Iceberg. Never an error: without them
# those tests are skipped.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit 0
source setup/system.sh

PLUGIN=org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies

fetch() {
  [ "build/$1/.whole" -nt "setup/$1/pom.xml" ] && return
  rm -rf "build/$1"
  mkdir -p "build/$1"
  if mvn -q -B -f "setup/$1/pom.xml" "$PLUGIN" "-DoutputDirectory=$PWD/build/$1" >/dev/null 2>&1; then
    touch "build/$1/.whole"
  else
    say "no jars in build/$1: they could not be fetched, and the tests that need them are skipped"
  fi
}

[ build/jars/.whole -nt setup/jars/pom.xml ] && [ build/iceberg/.whole -nt setup/iceberg/pom.xml ] && exit 0
if command -v mvn >/dev/null; then
  say "fetching jars for the tests (half a minute, the first time)"
  fetch jars
  fetch iceberg
else
  say "no jars: there is no Maven to fetch them, and the tests that need them are skipped"
fi
exit 0
