#!/usr/bin/env bash
# Asks Kubernetes' own filter and score plugins about random pods and nodes and compares our answers with theirs.
# Needs Go 1.26 or newer; the first build of the Go program takes some minutes.
#   scripts/compare-with-kubernetes.sh BUILD_DIR [QUESTIONS] [SEED]
set -euo pipefail
build=$1 questions=${2:-2000} seed=${3:-$RANDOM}

if ! command -v go >/dev/null; then
  echo "error: no Go here; the recorded questions of tests/kube_oracle are part of 'make test' all the same" >&2
  exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "building the Go program of tests/kube_oracle"
(cd tests/kube_oracle && go build -o "$work/kube_oracle" .)
echo "$questions questions, seed $seed"
"$work/kube_oracle" gen --seed "$seed" --count "$questions" | "$work/kube_oracle" answer --with-question | gzip -1 > "$work/cases.jsonl.gz"
KRAFLA_KUBE_CASES="$work/cases.jsonl.gz" "$build/krafla_tests" --gtest_filter='KubeRulesOracle.*' --gtest_brief=1
