#!/usr/bin/env bash
# Jars for the tests of sources.spark, in build/jars: PostgreSQL by JDBC, and Delta. Never an error: without them those tests are skipped.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit 0
source setup/system.sh

PLUGIN=org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies

[ build/jars/.whole -nt setup/jars/pom.xml ] && exit 0
if command -v mvn >/dev/null; then
  say "fetching jars for the tests (half a minute, the first time)"
  mkdir -p build/jars
  if mvn -q -B -f setup/jars/pom.xml "$PLUGIN" "-DoutputDirectory=$PWD/build/jars" >/dev/null 2>&1; then
    touch build/jars/.whole
  else
    say "no jars: they could not be fetched, and the tests that need them are skipped"
  fi
else
  say "no jars: there is no Maven to fetch them, and the tests that need them are skipped"
fi
exit 0
