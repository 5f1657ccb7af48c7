# Targets install their system dependencies first, or print what to install.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help setup demo check test soak soak-server soak-disks soak-pooler fuzz-coverage bench bench-scaling bench-server bench-copies bench-postgres bench-clients bench-instructions bench-profiles bench-instructions-record api api-record docs docs-preview format lint clean

# The sources to format and lint.
SOURCES := Package.swift Sources Tests Plugins Examples Benchmarks
TEST_RESULTS ?= .build/tests.xml

help:
	@echo "make demo          copy movies between all engines with the tool, and run one app on each"
	@echo "make check         the inner loop: tests of the changed targets, and the contract on memory and SQLite"
	@echo "make test          all tests, on every engine"
	@echo "make soak          the long tests: 10,000 kills and 2,000 losses of power per engine, a million random operations"
	@echo "make soak-server   a served store under load, abuse, generated requests and a generated client (wrk, schemathesis)"
	@echo "make soak-disks    kills, faults and full disks on ext4, XFS and btrfs (Linux, as root)"
	@echo "make soak-pooler   the suite, and half a million random operations, on PostgreSQL behind PgBouncer"
	@echo "make fuzz-coverage libFuzzer over what reads bytes that others wrote (TARGET=rows SECONDS=60; all targets by default)"
	@echo "make bench         the library beside raw C, GRDB and Codable"
	@echo "make bench-scaling a thousand to a million rows; one to eight readers beside a writer; changed schemas"
	@echo "make bench-server  requests per second beside the bare framework (needs wrk)"
	@echo "make bench-copies  a million records copied, beside sqlite3's and mdb's own dump and load"
	@echo "make bench-postgres stores in PostgreSQL beside libpq, on a private server"
	@echo "make bench-clients the time and the size of what four minimal clients build, in README's table"
	@echo "make bench-instructions         instructions for each operation, compared with the recorded counts (Callgrind)"
	@echo "make bench-profiles             the functions that execute those instructions"
	@echo "make bench-instructions-record  record the counts in Benchmarks/instructions.json"
	@echo "make api           compare the public API with the baseline in Documentation/API; run make test first"
	@echo "make api-record    record the public API as the baseline"
	@echo "make docs          regenerate the table of the contract's rules and checks"
	@echo "make docs-preview  build the static documentation site in .build/site"
	@echo "make format        format the sources"
	@echo "make lint          check the format"

setup:
	@.ci/setup

demo: setup
	@Examples/demo

# The package with all of its traits. Tests run three times as fast with the optimizer (the manifest reads the variable),
# and the build is shorter by whole modules and without debug information. `.ci` and `Examples` use the same options.
export PERSISTENCE_OPTIMIZED := 1
OPTIONS := $(shell cat .ci/options)
# SwiftPM passes the traits to the compiler in the order of a hash table. In another order, all targets are compiled again.
BUILD := SWIFT_DETERMINISTIC_HASHING=1 swift build $(OPTIONS)
# Stores of short tests are in memory if there are 4 GiB, which saves most of the system's time; those of soaks on disks.
IN_MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4194304 { print "TMPDIR=/dev/shm" }')
RELEASE := swift build --enable-all-traits -c release --product persistence
# A benchmark, built with the package's present sources.
BENCHMARK = touch Benchmarks/Package.swift && \
	SWIFT_DETERMINISTIC_HASHING=1 swift build --package-path Benchmarks -c release --product
BENCHMARKS := Benchmarks/.build/release

check: setup
	@.ci/check

test: setup
	$(BUILD) --build-tests
	$(IN_MEMORY) .ci/run-tests $(TEST_RESULTS)

# The kills of each durable engine, which the test KillTests counts.
SOAK_KILLS ?= 10000

soak: setup
	$(BUILD) --build-tests
	PERSISTENCE_SOAK=1 PERSISTENCE_SOAK_KILLS=$(SOAK_KILLS) .ci/run-tests .build/soak.xml
	$(BENCHMARK) Endurance
	$(BENCHMARKS)/Endurance 200
	$(RELEASE)
	.ci/fuzz $(FUZZ_SEEDS) $(FUZZ_OPERATIONS)

# The server runs ten minutes under load by default. The target installs schemathesis and openapi-python-client for the
# run if they are missing.
LOAD_SECONDS ?= 600

soak-server: setup
	$(RELEASE)
	.ci/load-server .build/release/persistence $(LOAD_SECONDS)
	.ci/schemathesis .build/release/persistence 200
	.ci/openapi-client .build/release/persistence

soak-disks: setup
	$(RELEASE)
	.ci/soak-disks .build/release/persistence

# The target installs PgBouncer if it is missing.
POOLER_OPERATIONS ?= 500000

soak-pooler: setup
	$(RELEASE)
	.ci/soak-pooler .build/release/persistence $(POOLER_OPERATIONS)

# Mutated bytes, guided by coverage, for readers of files and requests. CONTRIBUTING.md describes the targets.
SECONDS ?= 60

fuzz-coverage: setup
	@.ci/fuzz-coverage "$(TARGET)" $(SECONDS)

# Random programs on all contexts: a million operations in total.
FUZZ_SEEDS ?= 20
FUZZ_OPERATIONS ?= 50000

# The library beside the raw C interfaces, GRDB and Codable, then the first ten of a million rows, relations and wide rows.
# The target fails, after all have run, if one of the last three exceeds its limits.
bench: setup
	$(BENCHMARK) Workloads
	$(BENCHMARKS)/Workloads --results Benchmarks/results.json --chart Documentation/benchmarks.svg
	@status=0; \
	for program in FirstTen Relating WideRows; do \
		$(BENCHMARK) $$program && $(BENCHMARKS)/$$program || status=1; \
	done; \
	exit $$status

bench-server: setup
	$(BENCHMARK) Serving
	.ci/bench-server $(BENCHMARKS)/Serving

# Copies a million records between engines. The target fails if the engines' own dump and load are faster.
COPY_ROWS ?= 1000000

bench-copies: setup
	$(RELEASE)
	.ci/bench-copies .build/release/persistence $(COPY_ROWS)

# Reads and writes of PostgreSQL beside libpq, on a private server or that of POSTGRES_URL, which the program reads from the
# environment: its password is not printed. The target fails if a goal is missed. It runs on one processor where it can be
# bound to one: whether the system lets a client share one with its server decides more than the library does, and a get
# takes 16 or 55 µs.
ONE_PROCESSOR = $(shell command -v taskset >/dev/null && echo taskset -c 0)

bench-postgres: setup
	$(BENCHMARK) PostgresOverhead
	$(ONE_PROCESSOR) $(BENCHMARKS)/PostgresOverhead

# Takes about a quarter of an hour.
bench-clients: setup
	@.ci/bench-clients

# Costs for a thousand to a million rows, and reads by one to eight threads beside a writer. The target fails if they
# exceed their limits. Then the costs of changed schemas, by default for fewer rows than the ten million of the goals.
EVOLVING_ROWS ?= 200000

bench-scaling: setup
	$(BENCHMARK) Workloads
	$(BENCHMARKS)/Workloads --scaling Documentation/scaling.svg --results Benchmarks/scaling.json
	$(BENCHMARK) Evolving
	$(BENCHMARKS)/Evolving --rows $(EVOLVING_ROWS)

# Counts instructions, which do not depend on the machine's speed. The target fails if a count exceeds the record.
COUNT_INSTRUCTIONS = touch Benchmarks/Instructions/Package.swift && swift build --package-path Benchmarks/Instructions -c release && \
	Benchmarks/Instructions/.build/release/Instructions

bench-instructions: setup
	@.ci/setup valgrind
	$(COUNT_INSTRUCTIONS) check Benchmarks/instructions.json

# Prints the functions that execute the instructions of each operation.
bench-profiles: setup
	@.ci/setup valgrind
	$(COUNT_INSTRUCTIONS) profile

bench-instructions-record: setup
	@.ci/setup valgrind
	$(COUNT_INSTRUCTIONS) record Benchmarks/instructions.json

docs: setup
	$(BUILD) --product persistence
	.build/debug/persistence conform --list > Documentation/Conformance.md

# The site has one folder per module. DocC comes with the toolchain; the plug-in is resolved for this target only.
docs-preview: setup
	@.ci/docs-site .build/site

api:
	@.ci/api check

api-record:
	@.ci/api record

format:
	swift format format --in-place --parallel --recursive --configuration .swift-format $(SOURCES)

lint:
	swift format lint --strict --parallel --recursive --configuration .swift-format $(SOURCES)

clean:
	rm -rf .build Benchmarks/.build Benchmarks/Instructions/.build
