#!/usr/bin/env bash
# Installs the Debian/Ubuntu packages that building and testing Krafla needs, and only those that are missing.
set -euo pipefail

packages=(
  build-essential cmake ninja-build ccache mold pkg-config git ca-certificates python3
  libsimdjson-dev libyaml-dev zlib1g-dev libcli11-dev libfmt-dev libhowardhinnant-date-dev tzdata
  libgtest-dev librapidcheck-dev
)
# Wanted by `make test` for fuzzing; where the release has another version of clang that one is taken.
if [ "${1:-}" = "--with-clang" ]; then
  for version in 19 18 17 16; do
    if apt-cache show "clang-$version" >/dev/null 2>&1; then
      packages+=("clang-$version" "libclang-rt-$version-dev")
      break
    fi
  done
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "Installing packages: ${missing[*]}"
run=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "error: not root and no sudo; please install these packages yourself: ${missing[*]}" >&2
    exit 2
  fi
  run=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${run[@]}" apt-get update -qq
"${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
