#!/usr/bin/env bash
# A browser for the tests that look at the page, where there is none and the system's package manager has one. Never an error: without a
# browser those tests are skipped.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit 0
source setup/system.sh

has_browser() {
  command -v chromium || command -v chromium-browser || command -v google-chrome
} >/dev/null

# Without any font a picture has no letters.
has_fonts() { [ -n "$(find /usr/share/fonts /usr/local/share/fonts -name '*.[to]tf' -print -quit 2>/dev/null)" ]; }

has_browser || apt_install chromium || say "no browser: the tests that need one are skipped"
has_browser && { has_fonts || apt_install fonts-liberation fonts-dejavu-core || true; }
exit 0
