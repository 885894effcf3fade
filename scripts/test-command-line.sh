#!/usr/bin/env bash
# The command line as a user meets it: examples, ways to hand in a cluster, wrong input, warnings, output formats, log
# lines. Usage: scripts/test-command-line.sh BINARY
set -uo pipefail

[ $# -eq 1 ] || { echo "usage: $0 BINARY" >&2; exit 2; }
krafla=$(realpath "$1")
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

checks=0
failures=0

fail() {
  failures=$((failures + 1))
  echo "FAILED: $1"
  shift
  local text
  for text in "$@"; do echo "$text" | head -c 2000 | sed 's/^/        /'; done
}

# Runs krafla; leaves $status, $out, $err and the files $tmp/out, $tmp/err.
run() {
  "$krafla" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
  status=$?
  read_output
}
run_with_input() {
  local input=$1
  shift
  "$krafla" "$@" >"$tmp/out" 2>"$tmp/err" <"$input"
  status=$?
  read_output
}
read_output() {
  out=$(head -c 200000 "$tmp/out" | tr -d '\0')
  err=$(head -c 200000 "$tmp/err" | tr -d '\0')
}

check() {
  checks=$((checks + 1))
}
expect_status() {  # name, wanted
  check
  [ "$status" -eq "$2" ] || fail "$1: exit code $status instead of $2" "stderr: $err"
}
expect_out() {  # name, text
  check
  grep -qF -- "$2" "$tmp/out" || fail "$1: standard output does not say \"$2\"" "$out"
}
expect_err() {  # name, text
  check
  grep -qF -- "$2" "$tmp/err" || fail "$1: standard error does not say \"$2\"" "$err"
}
expect_quiet() {  # name
  check
  [ ! -s "$tmp/err" ] || fail "$1: something is on standard error" "$err"
}
# Wrong input: exit code 2, nothing on standard output, a message that contains each of the texts.
expect_refused() {  # name, texts...
  local name=$1
  shift
  expect_status "$name" 2
  check
  [ ! -s "$tmp/out" ] || fail "$name: something is on standard output" "$out"
  check
  [ "$(wc -l <"$tmp/err")" -le 12 ] || fail "$name: more than a message on standard error" "$err"
  check
  [ "$(wc -c <"$tmp/err")" -le 4000 ] || fail "$name: the message is too long" "$err"
  for text in "$@"; do expect_err "$name" "$text"; done
}
expect_python() {  # name, python that asserts something about `plan`, the JSON on standard output
  check
  local said
  said=$(python3 - "$tmp/out" <<PYTHON 2>&1
import json, sys
plan = json.load(open(sys.argv[1]))
$2
PYTHON
  ) || fail "$1" "$said" "$out"
}
expect_json() {  # name, python expression about `plan`
  expect_python "$1: $2" "assert $2"
}

preempt=(--cluster examples/preempt/cluster.yaml --config examples/preempt/scheduler.yaml)

# ---- examples -------------------------------------------------------------------------------------------------------

# example cluster now lines...: exit code 0, nothing on standard error, the same bytes twice, the expected lines.
example() {
  local cluster=examples/$1 config
  local now=$2
  shift 2
  config=$(dirname "$cluster")/scheduler.yaml
  run run --cluster "$cluster" --config "$config" --now "$now" -o json
  expect_status "$cluster as JSON" 0
  expect_quiet "$cluster as JSON"
  cp "$tmp/out" "$tmp/first"
  run run --cluster "$cluster" --config "$config" --now "$now" -o json
  check
  cmp -s "$tmp/first" "$tmp/out" || fail "$cluster: two runs give different JSON"
  run run --cluster "$cluster" --config "$config" --now "$now"
  expect_status "$cluster" 0
  expect_quiet "$cluster"
  for line in "$@"; do expect_out "$cluster at $now" "$line"; done
}

noon=2026-03-10T12:00:00+08:00
example preempt/cluster.yaml $noon \
  "preempt: 2 evicted" "evict  research/hyperparameter-sweep-trial-0  from worker-1" \
  "waiting for room that is being made"
example reclaim/cluster.yaml $noon \
  "reclaim: 1 evicted" "vision/image-labels-worker-1  from worker-2  for nlp/translation-worker-0" \
  "reclaim   with summaries-worker-0 queue team-nlp would have more than it deserves"
example gang/cluster.yaml $noon \
  "allocate: 2 bound" "bind  vision/resnet-eval-worker-0  to worker-1" "room for 3 of its pods, 4 needed at once"
example tdm/cluster.yaml $noon \
  "bind  analytics/nightly-report-worker-0  to shared-1" "bind  shop/checkout-web-0                to own-1"
example tdm/cluster.yaml 2026-03-10T22:30:00+08:00 \
  "preempt: 3 evicted" "analytics/spark-etl-executor-0  from shared-1  for nobody  zone rz1 is closed" \
  "its budget: maxUnavailable 30%" "zone rz1 is closed until 08:00 UTC+08:00"
example cdp/cluster.yaml 2026-03-10T12:03:00Z "it is in its cooldown" "Nothing to do"
example cdp/cluster.yaml 2026-03-10T12:06:00Z "evict  default/elastic-training-training-1"
example why-no-preemption/0-success.yaml $noon "evict  research/batch-worker-0"
example why-no-preemption/1-not-starving.yaml $noon "its minimum of 1 runs"
example why-no-preemption/2-not-valid.yaml $noon "valid: 2, min: 3"
example why-no-preemption/3a-not-preemptable.yaml $noon "research/batch-worker-0 says preemptable: false"
example why-no-preemption/3b-best-effort.yaml $noon "it asks for nothing itself, the others do"
example why-no-preemption/3c-not-running.yaml $noon "research/batch-worker-0 is Unknown"
example why-no-preemption/4a-gang-veto.yaml $noon "its job needs it for its minimum"
example why-no-preemption/4b-drf-veto.yaml $noon "its job would have the smaller share"
example why-no-preemption/5a-predicate.yaml $noon "no node would take it, whoever is evicted"
example why-no-preemption/5b-too-large.yaml $noon "not enough room on worker-1"
example why-no-preemption/5c-queue-share.yaml $noon "queue research has no share left for it"
example why-no-preemption/6-not-pipelined.yaml $noon "room for 1 of its pods, 2 needed at once"
example why-no-preemption/7-policy-never.yaml $noon "says preemptionPolicy Never"

for variant in examples/why-no-preemption/[1-9]*.yaml; do
  run run --cluster "$variant" --config examples/why-no-preemption/scheduler.yaml -o json
  expect_json "$variant" "plan['evictions'] == [] and plan['binds'] == {} and plan['pipelined'] == {}"
done

run run --cluster examples/cdp/cluster.yaml --config examples/cdp/scheduler.yaml --now 2026-03-10T12:03:00Z \
  --compatibility volcano -o json
expect_json "cdp, Volcano's way" "len(plan['evictions']) == 1"

# ---- output ---------------------------------------------------------------------------------------------------------

run run "${preempt[@]}" -o json
expect_json "JSON" "list(plan) == ['binds', 'evictions', 'pipelined', 'podGroups', 'queues']"
expect_json "JSON" "list(plan['evictions'][0]) == ['pod', 'node', 'action', 'for', 'reason']"
expect_json "JSON" "plan['evictions'][0]['for'] == 'research/urgent-finetune-worker-0'"
expect_json "JSON" "list(plan['podGroups']['research/urgent-finetune']) == ['phase', 'conditions']"
expect_json "JSON" "list(plan['queues']['research']) == ['deserved', 'allocated', 'share', 'state']"
run run "${preempt[@]}" -o json --stats
expect_json "JSON" "list(plan) == ['binds', 'evictions', 'pipelined', 'podGroups', 'queues', 'stats']"
expect_json "stats" "list(plan['stats']) == ['cpu_ms', 'wall_ms', 'load_ms', 'peak_rss_mb']"
expect_json "stats" "{'total', 'enqueue', 'allocate', 'preempt'} <= set(plan['stats']['cpu_ms'])"
expect_json "stats" "plan['stats']['cpu_ms'].keys() == plan['stats']['wall_ms'].keys()"
run run "${preempt[@]}" --stats
expect_out "stats as text" "CPU ms:"
run run --cluster examples/tdm/cluster.yaml --config examples/tdm/scheduler.yaml --now 2026-03-10T22:30:00+08:00 -o json
expect_json "zone closing" "all(e['for'] is None and e['reason'] == 'zone-closed' for e in plan['evictions'])"
check
run run "${preempt[@]}"
if grep -q $'\x1b' "$tmp/out"; then fail "colours though standard output is not a terminal"; fi
run --version
expect_status "--version" 0
expect_out "--version" "krafla "
run --help
expect_status "--help" 0
expect_out "--help" "run"
run run --help
expect_status "run --help" 0
expect_out "run --help" "--lenient"

# ---- ways to hand in a cluster --------------------------------------------------------------------------------------

# One small cluster in every form kubectl may print it in, and in several files.
python3 - "$tmp" <<'PYTHON'
import json, os, sys
tmp = sys.argv[1]

def pod(name, node=None):
    spec = {"schedulerName": "volcano",
            "containers": [{"name": "main", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}]}
    if node:
        spec["nodeName"] = node
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "team",
                         "annotations": {"scheduling.k8s.io/group-name": "train"}},
            "spec": spec, "status": {"phase": "Running" if node else "Pending"}}

objects = [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
     "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}},
    {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "default"},
     "spec": {"weight": 1}},
    {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
     "metadata": {"name": "train", "namespace": "team"}, "spec": {"queue": "default", "minMember": 1}},
    pod("a", "n1"), pod("b"), pod("c")]

def yaml(value, indent=""):
    if isinstance(value, dict):
        return "".join(f"\n{indent}{k}:{yaml(v, indent + '  ')}" for k, v in value.items())
    if isinstance(value, list):
        return "".join(f"\n{indent}-{yaml(v, indent + '  ').replace(indent + '  ', ' ', 1).lstrip(chr(10))}"
                       for v in value)
    return " " + json.dumps(value)

def write(name, text):
    open(f"{tmp}/{name}", "w").write(text)

whole = {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}}
write("list.json", json.dumps(whole, indent=4))
write("lines.json", "".join(json.dumps(o) + "\n" for o in objects))
write("list.yaml", yaml(whole))
write("documents.yaml", "\n---".join(yaml(o) for o in objects))
write("first.yaml", "\n---".join(yaml(o) for o in objects[:3]))
write("second.json", "\n".join(json.dumps(o, indent=1) for o in objects[3:]))
os.makedirs(f"{tmp}/parts/deeper")
for i, o in enumerate(objects):
    folder = "parts/deeper" if i % 2 else "parts"
    write(f"{folder}/{i}.{'json' if i % 3 else 'yml'}", json.dumps(o) if i % 3 else yaml(o))
write("parts/notes.txt", "not a manifest: {")
PYTHON

run run --cluster "$tmp/documents.yaml" -o json
expect_status "YAML documents" 0
expect_json "YAML documents" "plan['binds'] == {'team/b': 'n1'}"
cp "$tmp/out" "$tmp/wanted"
same_plan() {
  expect_status "$1" 0
  expect_quiet "$1"
  check
  cmp -s "$tmp/wanted" "$tmp/out" || fail "$1: not the plan of the plain file" "$out"
}
for form in list.json lines.json list.yaml parts; do
  run run --cluster "$tmp/$form" -o json
  same_plan "$form"
done
for form in documents.yaml list.json lines.json list.yaml; do
  run_with_input "$tmp/$form" run --cluster - -o json
  same_plan "$form on standard input"
done
run run --cluster "$tmp/first.yaml" --cluster "$tmp/second.json" -o json
same_plan "two files"
run run --cluster "$tmp/first.yaml" "$tmp/second.json" -o json
same_plan "two files after one --cluster"
run_with_input "$tmp/second.json" run --cluster "$tmp/first.yaml" --cluster - -o json
same_plan "a file and standard input"

# ---- wrong input ----------------------------------------------------------------------------------------------------

base='apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: default}
spec: {weight: 1}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: train, namespace: team}
spec: {queue: default, minMember: 1}
---'
pod() {  # name, request for cpu, more metadata
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: team, annotations: {scheduling.k8s.io/group-name: train}${3:-}}
spec:
  schedulerName: volcano
  containers:
  - name: main
    resources:
      requests: {cpu: "$2"}
YAML
}
cluster() { printf '%s\n' "$@" >"$tmp/cluster.yaml"; }
try() { run run --cluster "$tmp/cluster.yaml" "$@"; }
# With --lenient what is wrong is skipped and named, and the rest is scheduled.
expect_lenient() {  # name, text that names it
  try --lenient
  expect_status "$1, lenient" 0
  expect_err "$1, lenient" "$2"
  expect_err "$1, lenient" "warning"
  expect_out "$1, lenient" "bind  team/good "
}

head -c 900 "$tmp/list.json" >"$tmp/truncated.json"
run run --cluster "$tmp/truncated.json"
expect_refused "truncated JSON" "truncated.json:" "error"

printf 'apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {a: "b' >"$tmp/truncated.yaml"
run run --cluster "$tmp/truncated.yaml"
expect_refused "truncated YAML" "truncated.yaml:3" "error"

head -c 100M /dev/urandom >"$tmp/noise.yaml"
run run --cluster "$tmp/noise.yaml"
expect_refused "100 MB of noise" "noise.yaml:" "error"
mv "$tmp/noise.yaml" "$tmp/noise.json"
run run --cluster "$tmp/noise.json"
expect_refused "100 MB of noise called .json" "noise.json:" "error"
run run --cluster examples/preempt/cluster.yaml --config "$tmp/noise.json"
expect_refused "100 MB of noise as configuration" "noise.json" "error"
rm "$tmp/noise.json"

cluster "$base" "$(pod bad -1)" --- "$(pod good 1)"
try
expect_refused "negative request" "cluster.yaml:24:" "Pod team/bad" "cpu" "-1"
expect_lenient "negative request" "Pod team/bad"

cluster "$base" "$(pod bad 1e400)" --- "$(pod good 1)"
try
expect_refused "request of 1e400" "cluster.yaml:24:" "Pod team/bad" "cpu" "1e400"
expect_lenient "request of 1e400" "Pod team/bad"

cluster "$base" "$(pod good 1)" --- 'apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: egg}
spec: {parent: hen}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: hen}
spec: {parent: egg}'
try
expect_refused "cycle of queue parents" "error" "egg" "hen"
expect_lenient "cycle of queue parents" "hen"

cluster "$base" "$(pod good 1)" --- "$(pod twice 1)" --- "$(pod twice 2)"
try
expect_refused "duplicate name" "cluster.yaml:" "team/twice" "there is one of that name already, at $tmp/cluster.yaml:"
expect_lenient "duplicate name" "team/twice"

cluster "$base" "$(pod good 1)" '---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: heavy}
spec: {wieght: 3}'
try
expect_refused "misspelt key of a queue" "Queue heavy: spec.wieght" 'did you mean "weight"?'
expect_lenient "misspelt key of a queue" "wieght"

run run --cluster "$tmp/does-not-exist.yaml"
expect_refused "missing file" "does-not-exist.yaml" "error"
run run --cluster examples/preempt/cluster.yaml --config "$tmp/does-not-exist.yaml"
expect_refused "missing configuration" "does-not-exist.yaml" "error"
run run "${preempt[@]}" --now yesterday
expect_refused "bad --now" "--now" "yesterday"
run run "${preempt[@]}" --compatibility volcan
expect_refused "bad --compatibility" "--compatibility" "volcan"
run run "${preempt[@]}" --output xml
expect_refused "bad --output" "--output" "xml"
run run "${preempt[@]}" --lenien
expect_refused "unknown option" "--lenien"
run run
expect_refused "run without --cluster" "--cluster"
run
expect_status "no arguments" 2
check
[ -s "$tmp/err" ] || fail "no arguments: nothing on standard error"
check
[ ! -s "$tmp/out" ] || fail "no arguments: something is on standard output" "$out"
run runn
expect_status "unknown command" 2
run help
expect_status "help" 0
expect_out "help" "simulate"
run help run
expect_status "help run" 0
expect_out "help run" "--cluster"
run help serve
expect_status "help serve" 0
expect_out "help serve" "--scheduler-conf"
run help runn
expect_refused "help of an unknown command" 'unknown command "runn"'
run run --clster examples/preempt/cluster.yaml
expect_refused "a misspelt option" "unknown option --clster; did you mean --cluster?"
run run examples/preempt/cluster.yaml
expect_refused "a word that no option takes" 'error: run: unexpected "examples/preempt/cluster.yaml"' "krafla run --help"
run run --cluster
expect_refused "an option without its value" "error: run: --cluster: expected a value, got none"
run --foo run
expect_refused "an option before the command" 'error: unexpected "--foo"'
run run -- foo
expect_refused "a word behind two dashes" 'foo'
run bench --warm pods
expect_refused "unknown kind of bench" "error: bench: --warm" "pod,full"
run bench --warm crowd --nodes 1 --rounds 1
expect_refused "a bench on too small a cluster" "error: bench: --warm crowd cannot be measured so" "--nodes 1"
run simulate examples/scenarios/first.yaml --set "queues[reserch].weight=3"
expect_refused "a setting of a queue that is not there" 'did you mean "research"?'

config() { printf '%s\n' "$@" >"$tmp/scheduler.yaml"; }
try_config() { run run --cluster examples/preempt/cluster.yaml --config "$tmp/scheduler.yaml" "$@"; }
expect_lenient_config() {  # name, text
  try_config --lenient
  expect_status "$1, lenient" 0
  expect_err "$1, lenient" "warning"
  expect_err "$1, lenient" "$2"
  expect_out "$1, lenient" "QUEUE"
}

config 'actions: "allocate, preemt"' 'tiers:' '- plugins: [{name: gang}]'
try_config
expect_refused "unknown action" "scheduler.yaml:1:" 'unknown action "preemt"' 'did you mean "preempt"?'
expect_lenient_config "unknown action" "preemt"
config 'actions: "allocate"' 'tiers:' '- plugins:' '  - name: gnag'
try_config
expect_refused "unknown plugin" "scheduler.yaml:4:" 'unknown plugin "gnag"' 'did you mean "gang"?'
expect_lenient_config "unknown plugin" "gnag"
config 'actions: "allocate"' 'tiers:' '- plugins:' '  - name: tdm' '    arguments:' '      tdm.evict.perod: 1m'
try_config
expect_refused "unknown argument" "scheduler.yaml:6:" '"tdm.evict.perod"' 'did you mean "tdm.evict.period"?'
expect_lenient_config "unknown argument" "tdm.evict.perod"
config 'actions: "allocate"' 'tiers:' '- plugins:' '  - name: tdm' '    arguments:' \
  '      tdm.revocable-zone.rz1: "25:00-26:00"'
try_config
expect_refused "window 25:00-26:00" "scheduler.yaml:6:" "tdm.revocable-zone.rz1" "25:00"
expect_lenient_config "window 25:00-26:00" "25:00"
config 'actions: "allocate"' 'tiers:' '- plugins: [{name: gang}]' 'compatibility: {windws: false}'
try_config
expect_refused "unknown switch" "scheduler.yaml:4:" "windws" 'did you mean "windows"?'
config 'actions: "allocate, preemt"' 'tiers:' '- plugins:' '  - name: gnag'
try_config
expect_refused "every problem is listed" "preemt" "gnag"

# ---- warnings, not errors -------------------------------------------------------------------------------------------

expect_warning() {  # name, texts...
  local name=$1
  shift
  try
  expect_status "$name" 0
  check
  [ "$(grep -c warning "$tmp/err")" -eq 1 ] || fail "$name: not exactly one warning" "$err"
  for text in "$@"; do expect_err "$name" "$text"; done
  expect_out "$name" "bind  team/good  to n1"
}

cluster "$base" "$(pod good 1)" --- "$(pod lost 1 | sed 's/^spec:/spec:\n  nodeName: gone/')" 'status: {phase: Running}'
expect_warning "a pod on a node that is not there" "team/lost" "gone"

cluster "$base" "$(pod good 1)" --- 'apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: stray, namespace: team}
spec: {queue: nowhere, minMember: 1}'
expect_warning "a missing queue" "nowhere" "team/stray"

cluster "$base" "$(pod good 1)" --- 'apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: important, namespace: team}
spec: {queue: default, minMember: 1, priorityClassName: golden}'
expect_warning "a missing priority class" "golden" "team/important"

cluster "$base" "$(pod good 1)" --- 'apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: team}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: team}'
expect_warning "unknown kinds" "2 Deployment" "1 ConfigMap"

# A pod that is about to end holds its place, and the place is given to who waits for it.
cluster "$base" "$(pod waits 4)" --- "$(pod ending 4 ', deletionTimestamp: "2026-03-10T12:00:00Z"' |
  sed 's/^spec:/spec:\n  nodeName: n1/')" 'status: {phase: Running}'
try
expect_status "a terminating pod" 0
expect_quiet "a terminating pod"
expect_out "a terminating pod" "team/waits  on n1  as soon as terminating pods are gone"

: >"$tmp/cluster.yaml"
try
expect_status "an empty file" 0
expect_err "an empty file" "warning"

# ---- log lines: what people who debug preemption look for ------------------------------------------------------------

# logs LEVEL EXAMPLE NOW TEXT...: at that level standard error has each text, and below it does not.
logs() {
  local level=$1 cluster=examples/$2 now=$3
  shift 3
  local options=(--cluster "$cluster" --config "$(dirname "$cluster")/scheduler.yaml" --now "$now")
  run run "${options[@]}" -v $((level - 1))
  cp "$tmp/err" "$tmp/below"
  run run "${options[@]}" -v "$level"
  for text in "$@"; do
    expect_err "-v $level $cluster" "$text"
    check
    if grep -qF -- "$text" "$tmp/below"; then fail "$cluster: \"$text\" appears below level $level"; fi
  done
}

night=2026-03-10T22:30:00+08:00
logs 5 preempt/cluster.yaml $noon "Enter Preempt ..." "Leaving Preempt ..."
logs 5 reclaim/cluster.yaml $noon "Enter Reclaim ..." "Leaving Reclaim ..."
logs 3 preempt/cluster.yaml $noon \
  "Considering Task <research/urgent-finetune-worker-0> on Node <worker-1>." \
  "Try to preempt Task <research/hyperparameter-sweep-trial-1> for Task <research/urgent-finetune-worker-0>" \
  "Preempted <" "> for Task <research/urgent-finetune-worker-0> requested <" "Committing operations" \
  "No preemptors in Queue <research>, break."
logs 3 why-no-preemption/1-not-starving.yaml $noon "No preemptors in Queue <research>, break."
logs 4 why-no-preemption/2-not-valid.yaml $noon "Job <research/urgent> Queue <research> skip preemption, reason: "
logs 3 why-no-preemption/6-not-pipelined.yaml $noon "Discarding operations" "No preemptor task in job <research/urgent>"
logs 3 why-no-preemption/7-policy-never.yaml $noon "Failed to preempt Task"
logs 3 reclaim/cluster.yaml $noon "Queue <team-speech> is overused" \
  "Queue <team-nlp> cannot reclaim for task <summaries-worker-0>"
logs 4 tdm/cluster.yaml $noon "TDM filter for Task analytics/nightly-report-worker-0 on node shared-1"
logs 4 tdm/cluster.yaml $night \
  "TDM filter for Task analytics/nightly-report-worker-0 on node shared-1 refuses: zone rz1 is closed until 08:00"
logs 4 cdp/cluster.yaml 2026-03-10T12:03:00Z "Victims from cdp plugins are"
run run "${preempt[@]}" -v 5 -o json
expect_json "the log does not disturb JSON" "len(plan['evictions']) == 2"

# ---------------------------------------------------------------------------------------------------------------------
# explain, check, simulate: the binary itself, on every example

for cluster in examples/why-no-preemption/[0-9]*.yaml; do
  run explain job research/urgent --cluster "$cluster" --config examples/why-no-preemption/scheduler.yaml --now $noon
  expect_status "explain job, $cluster" 0
  expect_out "explain job, $cluster" "what the scheduler asked, in its order"
  run explain job research/urgent --cluster "$cluster" --config examples/why-no-preemption/scheduler.yaml --now $noon -o json
  expect_json "explain job as JSON, $cluster" "plan['gates']"
done
run explain pod research/batch-worker-0 --cluster examples/why-no-preemption/0-success.yaml \
  --config examples/why-no-preemption/scheduler.yaml --now $noon
expect_status "explain pod" 0
run explain queue research --cluster examples/why-no-preemption/0-success.yaml \
  --config examples/why-no-preemption/scheduler.yaml --now $noon
expect_status "explain queue" 0
run explain zone rz1 --cluster examples/tdm/cluster.yaml --config examples/tdm/scheduler.yaml --now $night
expect_status "explain zone" 0
expect_out "explain zone" "08:00"
run explain job research/urgnt --cluster examples/why-no-preemption/0-success.yaml
expect_status "explain of a name that is not there" 2
expect_err "explain of a name that is not there" "research/urgent"

run check --config examples/traps/scheduler.yaml --cluster examples/tdm/cluster.yaml --now $noon
expect_status "check" 0
expect_out "check" "K205"
run check --strict --config examples/traps/scheduler.yaml --cluster examples/tdm/cluster.yaml --now $noon
expect_status "check --strict" 1
run check --config examples/traps/scheduler.yaml --cluster examples/tdm/cluster.yaml --now $noon -o sarif
expect_json "check as SARIF" "plan['version'] == '2.1.0' and plan['runs'][0]['results']"
run check --config "$tmp/does-not-exist.yaml" -o sarif
expect_status "check of nothing as SARIF" 2
expect_json "check of nothing as SARIF" "not plan['runs'][0]['invocations'][0]['executionSuccessful']"
run_with_input examples/traps/scheduler.yaml check --config - --now $noon
expect_status "check of standard input" 0
expect_out "check of standard input" "K205"

for scenario in examples/scenarios/*.yaml; do
  run simulate "$scenario" --events "$tmp/events-1" --report "$tmp/report"
  expect_status "simulate $scenario" 0
  expect_out "simulate $scenario" "Expectations:"
  run simulate "$scenario" --events "$tmp/events-2" -o json
  expect_status "simulate $scenario as JSON" 0
  check
  cmp -s "$tmp/events-1" "$tmp/events-2" || fail "simulate $scenario: two runs have two event logs"
  check
  [ -s "$tmp/report/index.html" ] || fail "simulate $scenario: no report"
done
run simulate tests/scenarios/preempt
expect_status "simulate a folder" 0
run simulate examples/scenarios/first.yaml --set expect[0].count=11
expect_status "simulate with an expectation that is not met" 1
run simulate examples/scenarios/first.yaml --set kubelt.startup=3s
expect_status "simulate with a key that is not there" 2

# ---------------------------------------------------------------------------------------------------------------------
# run --replay: a record with a segment that is whole and one whose writer was killed while it wrote the state

record_head='{"krafla":1,"zone":"UTC","offset":0,"schedulerNames":["volcano"],"nodeLabels":[],'
record_head+='"defaultQueue":"default","ignoredProvisioners":[]}'
record_config='{"config":"actions: allocate\ntiers:\n- plugins:\n  - name: gang\n"}'
record_state='{"state":"complete","objects":0,"cycles":0}'
record_cycle='{"cycle":1,"at":1773181800000000000,"decisions":[]}'
record=$tmp/record
torn=$record/record-000000002-20260310T223100Z.jsonl.gz
mkdir "$record"
printf '%s\n' "$record_head" "$record_config" "$record_state" "$record_cycle" |
  gzip >"$record/record-000000001-20260310T223000Z.jsonl.gz"
# Without gzip's end, which has 8 bytes.
printf '%s\n' "$record_head" "$record_config" | gzip | head -c -8 >"$torn"
torn_says="$torn: holds no complete state: it ends before the end of line 3, where the rest of the state up to "
run run --replay "$record"
expect_status "replay beside a torn state" 0
expect_err "replay beside a torn state" "warning: $torn_says"
expect_out "replay beside a torn state" "1 cycle, 0 decisions: as recorded"
run run --replay "$record" -o json
expect_json "replay beside a torn state as JSON" \
  "plan['equal'] and len({tuple(s) for s in plan['segments']}) == 1"
expect_json "replay beside a torn state as JSON" \
  "[(s['objects'], s['torn'], s['error']) for s in plan['segments']] == [(0, False, None), (None, True, None)]"
expect_json "replay beside a torn state as JSON" \
  "plan['segments'][0]['warning'] is None and 'end of line 3' in plan['segments'][1]['warning']"
printf '%s\n' "$record_head" "$record_config" "$record_state" "$record_cycle" '{"cycle":true}' |
  gzip >"$record/record-000000003-20260310T223200Z.jsonl.gz"
run run --replay "$record" -o json
expect_status "replay of a damaged segment as JSON" 2
expect_json "replay of a damaged segment as JSON" "len({tuple(s) for s in plan['segments']}) == 1"
expect_json "replay of a damaged segment as JSON" \
  "plan['segments'][2]['difference'] is None and ': line 5 ' in plan['segments'][2]['error']"
run run --replay "$torn"
expect_refused "replay of a torn state" "error: $torn_says" "there is nothing to replay"

# ---------------------------------------------------------------------------------------------------------------------

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
