#!/usr/bin/env bash
# Installs the Debian/Ubuntu packages that building and testing Krafla needs, and only those that are missing.
set -euo pipefail

packages=(
  build-essential cmake ninja-build ccache mold pkg-config git ca-certificates python3
  libsimdjson-dev libyaml-dev zlib1g-dev libcli11-dev libfmt-dev libhowardhinnant-date-dev tzdata
  libcurl4-openssl-dev libboost-dev libcpp-httplib-dev prometheus-cpp-dev openssl
  libgtest-dev librapidcheck-dev libbenchmark-dev valgrind binutils
)
# Wanted by `make test` for fuzzing. Older ones do not compile the standard library's <expected>.
if [ "${1:-}" = "--with-clang" ]; then
  [ -n "$(ls -A /var/lib/apt/lists 2>/dev/null)" ] || packages+=(clang-19)
  if apt-cache show clang-19 >/dev/null 2>&1; then packages+=(clang-19 libclang-rt-19-dev); fi
fi
# Wanted by `make test` to look at the report. Not on Ubuntu, where the package only stands for a snap: any Chrome that
# is there will do, and tests/report/browser_test.py says so loudly if there is none.
if [ "${1:-}" = "--with-browser" ] && grep -q '^ID=debian' /etc/os-release; then packages+=(chromium); fi

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
  run=(sudo env DEBIAN_FRONTEND=noninteractive)
fi
export DEBIAN_FRONTEND=noninteractive
"${run[@]}" apt-get update -qq
"${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
