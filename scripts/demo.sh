#!/usr/bin/env bash
# A day of a shared cluster in virtual time, and the three questions people ask about such days. Usage: scripts/demo.sh BINARY
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: $0 BINARY" >&2; exit 2; }
krafla=$(realpath "$1")
cd "$(dirname "$0")/.."
report=$(dirname "$1")/demo-report

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' cyan=$'\e[36m' plain=$'\e[0m'
else
  bold='' dim='' cyan='' plain=''
fi

step=0
title() {
  step=$((step + 1))
  printf '\n%s%s%d. %s%s\n' "$bold" "$cyan" "$step" "$1" "$plain"
}
say() { printf '%s\n' "$@"; }
# Shows the command as a user would type it, then its answer.
show() {
  printf '\n%s$ krafla %s%s\n' "$dim" "$*" "$plain"
  "$krafla" "$@"
}

say "${bold}Krafla${plain} decides who is bound, who is evicted, and for whom. Nothing here needs a cluster."

title "Why does the urgent job wait?"
say "Job urgent (priority 100) waits, job batch (priority 1) runs. Gate by gate, and what would change the answer:"
show explain job research/urgent --cluster examples/why-no-preemption/4a-gang-veto.yaml \
  --config examples/why-no-preemption/scheduler.yaml

title "What is wrong with this configuration?"
say "Volcano and Krafla read it without a complaint. It does not do what it seems to."
show check --config examples/traps/scheduler.yaml --cluster examples/tdm/cluster.yaml --now 2026-03-10T12:00:00+08:00

title "A day in the life of a shared cluster"
say "32 nodes. Zone rz1 belongs to Kubernetes from 08:00 to 21:00, rz2 from 10:00 to 18:00. An elastic training job with a" \
    "cooldown of five minutes, an urgent job at noon, two queues that fight in the afternoon, a node that is lost."
show simulate examples/scenarios/day-in-the-life.yaml --report "$report"

say '' "${bold}Look at it:${plain} open $report/index.html in a browser (one file, no network): windows, load, every eviction with" \
    "its reason." '' \
    "${bold}Next:${plain} your own cluster. Nothing is changed by it:" \
    "  kubectl get nodes,pods,podgroups.scheduling.volcano.sh,queues.scheduling.volcano.sh,priorityclasses,pdb,pvc,pv,sc,csinodes,namespaces \\" \
    "    -A -o json | $1 run --cluster - --config YOUR-SCHEDULER.yaml" \
    "README.md says where your configuration is; without --config Volcano's default counts."
