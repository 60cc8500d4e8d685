#!/usr/bin/env bash
# Make .venv hold what requirements.txt pins, and note where Java is. A second call changes nothing.
set -euo pipefail
cd -P "$(dirname "$0")/.."
source setup/system.sh
source setup/python.sh
source setup/java.sh

STAMP=.venv/installed-from
JAVA_NOTE=.venv/java-home

# Everything the installation depends on: where the checkout is, and the two files word for word.
wanted_stamp() {
  printf '%s\n' "$PWD"
  cat requirements.txt pyproject.toml
}

packages_are_current() {
  [ -x .venv/bin/python ] && wanted_stamp | cmp -s - "$STAMP"
}

# A .venv copied along with its checkout would run the other checkout's code.
venv_is_usable() {
  [ ! -e "$STAMP" ] || [ "$(head -n 1 "$STAMP")" = "$PWD" ] || return 1
  is_supported_python .venv/bin/python && .venv/bin/python -m pip --version >/dev/null 2>&1
}

make_venv() {
  local python
  python=$(find_python)
  ensure_venv_module "$python"
  say "creating .venv with $("$python" --version) ($python)"
  "$python" -m venv --clear .venv
}

# With uv, which downloads and compiles in parallel, from wherever the user told pip to install from.
install_packages() {
  rm -f "$STAMP"
  say "installing the $(grep -c "==" requirements.txt) packages of requirements.txt into .venv (2 GB; a minute or a few the first time)"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement <(pinned uv)
  use_pip_settings_for_uv
  install --compile-bytecode --requirements requirements.txt
  install --no-deps --editable .
  .venv/bin/uv cache prune --quiet || true # of a package built from source, as pyspark is, each earlier build: 2 GB
  wanted_stamp >"$STAMP"
}

# pinned NAME: the lines of a package in requirements.txt, with its hashes.
pinned() {
  awk -v name="$1==" '/^[^ #]/ { on = index($0, name) == 1 } on' requirements.txt
}

install() {
  local quiet=--quiet
  [ ! -t 2 ] || quiet=
  .venv/bin/uv pip install $quiet --python .venv/bin/python "$@"
}

remember_java() {
  local home
  home=$(find_java)
  if [ -z "$home" ]; then
    install_java
    home=$(find_java)
  fi
  [ -n "$home" ] || die "$JAVA_ADVICE"
  printf '%s\n' "$home" >"$JAVA_NOTE"
}

# A JAVA_HOME set since then wins over the note.
java_is_remembered() {
  local home
  home=$(cat "$JAVA_NOTE" 2>/dev/null) && [ -x "$home/bin/java" ] && [ "${JAVA_HOME:-$home}" = "$home" ]
}

packages_are_current || venv_is_usable || make_venv
java_is_remembered || remember_java
if ! packages_are_current; then
  install_packages
  say "ready: $(.venv/bin/python --version), Java in $(cat "$JAVA_NOTE")"
fi
