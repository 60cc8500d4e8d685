#!/usr/bin/env bash
# What the tests need beside Python's packages, side by side: to fetch is to wait. Never an error.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit 0
trap 'trap - INT TERM; kill 0' INT # what runs beside a script does not hear of Ctrl-C

{ bash setup/browser.sh; bash setup/stores.sh; } & # one after the other: apt-get lets no other beside it
bash setup/object_store.sh moto &
bash setup/compose.sh &
# One after the other: Maven's own folder is not made for two at once.
{ bash setup/kafka.sh; bash setup/jars.sh; } &
wait
exit 0
