# Two commands do everything on a fresh Debian 12 or Ubuntu 24.04: `make demo` and `make test`.
# Whatever is missing is installed by scripts/install-packages.sh (needs root or sudo, once).

BUILD := build
SANITIZED := build-sanitized
FUZZ := build-fuzz
JOBS ?= $(shell nproc)

.PHONY: demo build test test-fast test-e2e bench bench-growth bench-e2e bench-micro package packages compare-kubernetes lint format clean

demo: build
	@scripts/demo.sh $(BUILD)/krafla

packages:
	@scripts/install-packages.sh

build: packages
	@cmake -S . -B $(BUILD) -G Ninja >/dev/null
	@ninja -C $(BUILD) -j $(JOBS) krafla

# All tests twice: as users get it, and under sanitizers with every sum re-derived after each action.
test: build
	@scripts/test.sh $(BUILD) $(SANITIZED) $(FUZZ) $(JOBS)

# Only the plain build's tests.
test-fast: build
	@ninja -C $(BUILD) -j $(JOBS) krafla_tests
	@$(BUILD)/krafla_tests --gtest_brief=1

# krafla serve against a real API server (needs Go).
test-e2e: build
	@tests/e2e/run.py $(BUILD)/krafla

# Whole cycles on large generated clusters: a table, results.json and growth.svg in $(BUILD)/bench.
bench: build
	@python3 bench/run.py $(BUILD)/krafla $(BUILD)/bench
	@python3 bench/warm.py $(BUILD)/krafla $(BUILD)/bench

# Instructions of cycles, twice as many nodes each time: some ten minutes, the same whatever else the machine does.
bench-growth: build
	@python3 bench/count_growth.py $(BUILD)/krafla $(BUILD)/bench

# krafla serve, kube-scheduler and a bare client against one API server (needs Go).
bench-e2e: build
	@ninja -C $(BUILD) -j $(JOBS) krafla_http_load
	@python3 bench/e2e.py $(BUILD)/krafla $(BUILD)/krafla_http_load $(BUILD)/bench

# The hot pieces one by one.
bench-micro: build
	@ninja -C $(BUILD) -j $(JOBS) krafla_micro_benchmarks
	@$(BUILD)/krafla_micro_benchmarks

# Thousands of random questions to Kubernetes' own plugins (needs Go).
compare-kubernetes: build
	@ninja -C $(BUILD) -j $(JOBS) krafla_tests
	@scripts/compare-with-kubernetes.sh $(BUILD)

# A Debian package in the build folder.
package: build
	@cd $(BUILD) && cpack -G DEB >/dev/null && ls -1 *.deb

lint: packages
	@scripts/lint.sh

format:
	@git ls-files '*.cpp' '*.h' | xargs clang-format-19 -i

clean:
	rm -rf $(BUILD) $(SANITIZED) $(FUZZ)
