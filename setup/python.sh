# shellcheck shell=bash
# Which Python makes the virtual environment, and where its packages come from.

is_supported_python() {
  "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null
}

# The interpreter to use: $PYTHON if given, else the first on PATH that will do.
find_python() {
  local name
  for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
    is_supported_python "$name" || continue
    command -v "$name"
    return
  done
  die "Python 3.11 to 3.14 is needed; found: ${PYTHON:-none on PATH, under any usual name}. Install one, or name it: make setup PYTHON=/path/to/python3"
}

# Debian keeps venv in a package of its own.
ensure_venv_module() {
  local version
  "$1" -c 'import ensurepip' 2>/dev/null && return
  version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  apt_install "python$version-venv" ||
    die "$1 cannot make virtual environments. Install its venv module (Debian, Ubuntu: sudo apt-get install python$version-venv), then run this again."
}

# pip_setting NAME: from the environment (PIP_...) or pip's configuration files; nothing if it is not set.
pip_setting() {
  local scope
  for scope in :env: global; do
    .venv/bin/python -m pip config get "$scope.$1" 2>/dev/null && return
  done
  true
}

use_pip_settings_for_uv() {
  local index certificates
  index=$(pip_setting index-url)
  certificates=$(pip_setting cert)
  [ -z "$index" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$index}"
  [ -z "$certificates" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$certificates}"
  export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}" UV_HTTP_TIMEOUT="${UV_HTTP_TIMEOUT:-180}"
}
