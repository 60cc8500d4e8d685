#!/usr/bin/env bash
# A broker of Kafka for the tests of topics: its jars in build/kafka, where there is Maven to fetch them. Never an error: without it those
# tests are skipped.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit 0
source setup/system.sh

PLUGIN=org.apache.maven.plugins:maven-dependency-plugin:3.6.1

[ -e build/kafka/whole ] && exit 0
if ! command -v mvn >/dev/null; then
  say "no Kafka: there is no Maven to fetch it, and the tests that need it are skipped"
  exit 0
fi
say "fetching Kafka for the tests (44 MB, the first time)"
mkdir -p build/kafka
if JAVA_HOME=$(cat .venv/java-home) mvn -q -B -f setup/kafka/pom.xml "$PLUGIN:copy-dependencies" -DoutputDirectory="$PWD/build/kafka" >/dev/null 2>&1; then
  touch build/kafka/whole
else
  say "no Kafka: Maven could not fetch it, and the tests that need it are skipped"
fi
exit 0
