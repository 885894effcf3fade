#!/usr/bin/env bash
# Whether a built krafla is hardened as CMakeLists.txt asks for (HARDENED_COMPILE_OPTIONS, HARDENED_LINK_OPTIONS). Reads
# the binary only; its libraries are shared, so that every symbol named here is asked for by our own code.
# Usage: scripts/test-hardening.sh BINARY
set -uo pipefail

[ $# -eq 1 ] || { echo "usage: $0 BINARY" >&2; exit 2; }
binary=$1
headers=$(readelf -hW "$binary") && segments=$(readelf -lW "$binary") && dynamic=$(readelf -dW "$binary") &&
  symbols=$(readelf -W --dyn-syms "$binary") || { echo "error: $binary: expected an ELF program" >&2; exit 2; }

checks=0
failures=0

# has NAME OPTION TEXT PATTERN: TEXT has a line that matches PATTERN, else OPTION is missing in the build.
has() {
  checks=$((checks + 1))
  grep -qE -- "$4" <<<"$3" && return
  failures=$((failures + 1))
  echo "FAILED: $1: $binary was built without $2"
}

has "position-independent executable" "-fPIE -pie" "$headers" '^ *Type: +DYN '
has "position-independent executable, not a library" "-pie" "$dynamic" '\(FLAGS_1\).* PIE'
has "read-only relocations" "-Wl,-z,relro" "$segments" '^ *GNU_RELRO '
has "no lazy binding" "-Wl,-z,now" "$dynamic" '\(FLAGS_1\).* NOW'
has "stack that cannot be executed" "-Wl,-z,noexecstack" "$segments" '^ *GNU_STACK .* RW +0x'
has "stack protector" "-fstack-protector-strong" "$symbols" ' UND __stack_chk_fail@'
has "checked library calls" "-D_FORTIFY_SOURCE" "$symbols" ' UND __[a-z0-9]+_chk@'

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
