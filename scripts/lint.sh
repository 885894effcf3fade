#!/usr/bin/env bash
# Checks that the tracked sources are formatted as .clang-format says. Called by `make lint`; `make format` repairs.
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=clang-format-19
if ! command -v "$formatter" >/dev/null; then
  echo "!! formatting was NOT checked: $formatter is not installed"
  exit 0
fi

# Outside of a git checkout (an unpacked archive) all sources are taken.
sources() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z -- '*.cpp' '*.h'
  else
    find src tests \( -name '*.cpp' -o -name '*.h' \) -print0
  fi
}

# A tracked file that was deleted and not yet committed is listed too: left out.
files=()
while IFS= read -r -d '' file; do
  [ -f "$file" ] && files+=("$file")
done < <(sources)
if [ ${#files[@]} -eq 0 ]; then
  echo "error: no sources found to check" >&2
  exit 1
fi

if ! printf '%s\0' "${files[@]}" | xargs -0 "$formatter" --dry-run -Werror; then
  echo "error: some files are not formatted; run: make format" >&2
  exit 1
fi
echo "${#files[@]} files are formatted"
