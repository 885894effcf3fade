#!/usr/bin/env bash
# A tour through the examples: what happens, and why. Usage: scripts/demo.sh BINARY
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: $0 BINARY" >&2; exit 2; }
krafla=$(realpath "$1")
cd "$(dirname "$0")/.."

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

say "${bold}Krafla${plain} decides who is bound, who is evicted, and for whom. \`krafla run\` does one cycle on a" \
    "snapshot of a cluster and prints the decisions; nothing is changed anywhere. These are its examples."

title "All or nothing"
say "Room for three pods. The first job needs four at once and gets none; the second needs two and starts."
show run --cluster examples/gang/cluster.yaml --config examples/gang/scheduler.yaml

title "Preemption inside a queue"
say "Both workers are full of a sweep with priority 1. A job with priority 100 needs two places at once."
show run --cluster examples/preempt/cluster.yaml --config examples/preempt/scheduler.yaml

title "Taking back what a queue deserves"
say "Three teams, a third each. team-vision has two thirds; team-nlp comes back and gets what it deserves, not more."
show run --cluster examples/reclaim/cluster.yaml --config examples/reclaim/scheduler.yaml

title "Nodes shared by the clock"
say "Zones rz1 and rz2 close in the evening. At 22:30 what runs there leaves, as fast as each job's budget allows."
show run --cluster examples/tdm/cluster.yaml --config examples/tdm/scheduler.yaml --now 2026-03-10T22:30:00+08:00

title "Cooldown"
say "Four pods came back at 12:00 and have five minutes of cooldown. At 12:03 nobody may take their places."
cdp=(run --cluster examples/cdp/cluster.yaml --config examples/cdp/scheduler.yaml --now 2026-03-10T12:03:00Z)
show "${cdp[@]}"
say '' "Volcano evicts one at 12:03 all the same: a later tier decides without the plugin. The same cluster, its way:"
show "${cdp[@]}" --compatibility volcano

title "Why did the high-priority job not preempt?"
say "Job urgent (priority 100) waits, job batch (priority 1) runs. Each line is a cluster of" \
    "examples/why-no-preemption, in the order in which the questions are asked:" ''
for variant in examples/why-no-preemption/[0-9]*.yaml; do
  answer=$("$krafla" run --cluster "$variant" --config examples/why-no-preemption/scheduler.yaml)
  why=$(sed -n 's/^    preempt *//p' <<<"$answer")
  [ -n "$why" ] || why=$(sed -n '/^left waiting/{n;n;s/^ *//p}' <<<"$answer")
  [ -n "$why" ] || why=$(sed -n 's/^  evict  \([^ ]*\)  .*  for \([^ ]*\)  .*/\1 is evicted for \2/p' <<<"$answer")
  printf '  %-22s %s\n' "$(basename "$variant" .yaml)" "$why"
done

say '' "${bold}Next:${plain} your own cluster. Nothing is changed by it:" \
    "  kubectl get nodes,pods,podgroups,queues,priorityclasses -A -o json | $1 run --cluster -"
