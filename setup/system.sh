# shellcheck shell=bash
# What the setup needs of the machine: words for the user, and the system's package manager where it may be used.

say() { printf 'setup: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

may_be_root() { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# apt_install NAME...: install the first of these packages that this system has.
apt_install() {
  local name
  command -v apt-get >/dev/null && may_be_root || return 1
  as_root apt-get update -qq || return 1
  for name; do
    # Not `grep -q`: it ends at the first match, apt-cache dies of the closed pipe, and `pipefail` takes that for "not found".
    apt-cache policy "$name" | grep 'Candidate: [0-9]' >/dev/null || continue
    say "installing $name with apt-get"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$name" >&2
    return
  done
  return 1
}

brew_install() {
  command -v brew >/dev/null || return 1
  say "installing $1 with brew"
  brew install --quiet "$1" >&2
}
