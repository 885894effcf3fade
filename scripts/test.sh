#!/usr/bin/env bash
# All tests: the plain build, the sanitized builds, the fuzz targets for a bounded number of inputs. Called by `make test`.
set -euo pipefail
build=$1 sanitized=$2 fuzz=$3 jobs=$4

passed=0
failed=0

# Runs a gtest binary, a part of its tests on each processor, and adds the counts; "name" is for the reader, the rest the
# command.
run_tests() {
  local name=$1 logs part pids=()
  shift
  logs=$(mktemp -d)
  echo "== $name"
  for ((part = 0; part < jobs; ++part)); do
    GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$part "$@" --gtest_brief=1 >"$logs/$part" 2>&1 &
    pids[part]=$!
  done
  for ((part = 0; part < jobs; ++part)); do
    local status=0 ok bad
    wait "${pids[part]}" || status=$?
    cat "$logs/$part"
    ok=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\?\..*/\1/p' "$logs/$part" | tail -1)
    bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) tests\?, listed below:.*/\1/p' "$logs/$part" | tail -1)
    passed=$((passed + ${ok:-0}))
    failed=$((failed + ${bad:-0}))
    # A crash has no closing line.
    if [ "$status" -ne 0 ] && [ -z "$bad" ]; then
      echo "!! $name, part $part: ended with $status"
      failed=$((failed + 1))
    fi
  done
  rm -rf "$logs"
}

ninja -C "$build" -j "$jobs" krafla_tests
run_tests "plain build" "$build/krafla_tests"

# A moment of each: that they build, and find what they measure.
echo "== micro-benchmarks"
ninja -C "$build" -j "$jobs" krafla_micro_benchmarks
if times=$("$build/krafla_micro_benchmarks" --benchmark_min_time=0.001 2>&1) && [[ $times != *"ERROR OCCURRED"* ]]; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "$times"
fi

# With clang where it is packaged: it builds in two thirds of the time, and another compiler sees other mistakes.
scripts/install-packages.sh --with-clang
clang=$(command -v clang++-19 || true)
cmake -S . -B "$sanitized" -G Ninja -DKRAFLA_SANITIZE=ON -DKRAFLA_VERIFY=ON \
  ${clang:+-DCMAKE_CXX_COMPILER="$clang"} >/dev/null
ninja -C "$sanitized" -j "$jobs" krafla_tests krafla
run_tests "address and undefined-behaviour sanitizers, sums re-derived after each action" "$sanitized/krafla_tests"

# What several threads share. What the thread sanitizer has to say goes to files: a scheduler that is killed says nothing
# at its end. Libraries are not built with it; what only they touch is not looked at.
ninja -C "$build" -j "$jobs" krafla_thread_tests krafla_threads
races=$(mktemp -d)
threads="ignore_noninstrumented_modules=1 suppressions=$PWD/tests/thread_sanitizer.supp log_path=$races/found"
# Its runtime does not know of addresses that are as random as on newer kernels.
steady=()
if setarch "$(uname -m)" -R true 2>/dev/null; then steady=(setarch "$(uname -m)" -R); fi
show_races() {
  [ -n "$(ls "$races")" ] || return 0
  echo "!! the thread sanitizer has found something"
  cat "$races"/*
  rm "$races"/*
  failed=$((failed + 1))
}
TSAN_OPTIONS="$threads" run_tests "thread sanitizer" "${steady[@]}" "$build/krafla_thread_tests"
show_races

echo "== command line"
if scripts/test-command-line.sh "$build/krafla"; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
fi

echo "== hardening of the binary"
if scripts/test-hardening.sh "$build/krafla"; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
fi

echo "== instruction counts"
if python3 bench/instruction_guard.py "$build/krafla" "$build/bench"; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
fi

echo "== a real control plane"
status=0
timeout 2700 tests/e2e/run.py "$build/krafla" || status=$?
if [ "$status" -eq 0 ]; then
  passed=$((passed + 1))
elif [ "$status" -ne 3 ]; then # 3: no Go here, as it has said
  failed=$((failed + 1))
fi

echo "== a real control plane, thread sanitizer"
status=0
TSAN_OPTIONS="$threads" "${steady[@]}" timeout 600 tests/e2e/run.py "$build/krafla_threads" \
  test_decisions.Decisions.test_a_gang_is_bound_as_a_whole_and_its_status_tells \
  test_running.Running.test_a_bad_configuration_is_refused_and_the_old_one_stays \
  test_running.Running.test_one_of_two_leads_and_the_other_takes_over \
  test_running.Running.test_a_leader_out_of_reach_does_not_write_after_its_lease \
  test_seeing_in.SeeingIn.test_pages_show_queues_jobs_evictions_and_cycles \
  test_seeing_in.SeeingIn.test_explain_asks_the_running_scheduler \
  test_seeing_in.SeeingIn.test_a_record_is_replayed_to_the_same_decisions || status=$?
if [ "$status" -eq 0 ]; then
  passed=$((passed + 1))
elif [ "$status" -ne 3 ]; then
  failed=$((failed + 1))
fi
show_races
rm -r "$races"

echo "== the report in a browser"
scripts/install-packages.sh --with-browser || true
status=0
timeout 600 python3 tests/report/browser_test.py "$build/krafla_tests" || status=$?
if [ "$status" -eq 0 ]; then
  passed=$((passed + 1))
elif [ "$status" -ne 77 ]; then # 77: no browser here, as it has said
  failed=$((failed + 1))
fi

if [ -n "$clang" ]; then
  cmake -S . -B "$fuzz" -G Ninja -DCMAKE_CXX_COMPILER="$clang" -DKRAFLA_FUZZ=ON -DKRAFLA_SANITIZE=ON >/dev/null
  if ! ninja -C "$fuzz" -j "$jobs" fuzz_targets; then
    echo "!! the fuzz targets do not build"
    failed=$((failed + 1))
  fi
  for target in "$fuzz"/*_fuzz; do
    [ -x "$target" ] || continue
    echo "== fuzz $(basename "$target")"
    if "$target" -runs=20000 -max_total_time=60 -seed=1 -print_final_stats=0 -verbosity=0 -artifact_prefix="$fuzz/" >"$target.log" 2>&1; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      tail -40 "$target.log"
    fi
  done
else
  echo "!! fuzz targets were NOT run: clang 19 is not packaged here"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
