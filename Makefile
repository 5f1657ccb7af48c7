# make demo and make test install what they need first, or say what to install.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help setup demo test soak soak-server bench bench-scaling bench-server bench-copies bench-instructions bench-profiles bench-instructions-record docs format lint clean

# What is formatted and linted: everything written by hand.
SOURCES := Package.swift Sources Tests Plugins Examples Benchmarks
TEST_RESULTS ?= .build/tests.xml
EXAMPLE_RESULTS = $(TEST_RESULTS:.xml=-example.xml)
ASYNC_RESULTS = $(TEST_RESULTS:.xml=-async.xml)
# Tests of what suspends have a process of their own: checks of contexts block, and in one process with them hold the
# few threads of the cooperative pool for minutes, while time-outs run.
ASYNC_TESTS = ^(DataAccessTests|DataAccessCombineTests|OfflineTests|PersistenceServerTests)[.]

help:
	@echo "make demo     movies through the real tool and a small app, on every engine"
	@echo "make test     all tests, on every engine, and those of the example of a context"
	@echo "make soak     the long tests too: hundreds of kills, many processes"
	@echo "make soak-server  a served store under load, abuse and requests made of its description (wrk, schemathesis)"
	@echo "make bench    the library beside raw C, GRDB and Codable, and the first ten of a million"
	@echo "make bench-scaling  what a million rows cost beside a thousand, and eight readers beside one"
	@echo "make bench-server   requests a second of a served store beside the framework's own limit (needs wrk)"
	@echo "make bench-copies   a million records copied, beside sqlite3's and mdb's own dump and load"
	@echo "make bench-instructions         instructions a row, get and insert beside what is recorded, by Callgrind"
	@echo "make bench-profiles             in which functions those instructions are"
	@echo "make bench-instructions-record  writes down what they are now, in Benchmarks/instructions.json"
	@echo "make docs     writes the table of the contract's rules and their checks anew"
	@echo "make format   puts the sources into the one form"
	@echo "make lint     says where they are not in it"

setup:
	@.ci/setup

demo: setup
	@Examples/demo

test: setup
	swift build --build-tests
	rm -f $(TEST_RESULTS) $(TEST_RESULTS:.xml=-swift-testing.xml) $(ASYNC_RESULTS) $(ASYNC_RESULTS:.xml=-swift-testing.xml)
	swift test --skip-build --skip '$(ASYNC_TESTS)' --xunit-output $(TEST_RESULTS)
	swift test --skip-build --filter '$(ASYNC_TESTS)' --xunit-output $(ASYNC_RESULTS)
	touch Examples/OneFile/Package.swift # a nested package's plan does not notice new files of ours
	swift build --package-path Examples/OneFile --build-tests
	rm -f $(EXAMPLE_RESULTS) $(EXAMPLE_RESULTS:.xml=-swift-testing.xml)
	swift test --package-path Examples/OneFile --skip-build --xunit-output $(abspath $(EXAMPLE_RESULTS))

soak: setup
	swift build --build-tests
	PERSISTENCE_SOAK=1 swift test --skip-build --skip '$(ASYNC_TESTS)'
	PERSISTENCE_SOAK=1 swift test --skip-build --filter '$(ASYNC_TESTS)'
	touch Benchmarks/Package.swift
	swift run --package-path Benchmarks -c release Endurance 200
	swift build -c release --product persistence
	.ci/fuzz $(FUZZ_SEEDS) $(FUZZ_OPERATIONS)

# Ten minutes, or as long as is said; schemathesis is installed for the run where it is not there.
LOAD_SECONDS ?= 600

soak-server: setup
	swift build -c release --product persistence
	.ci/load-server .build/release/persistence $(LOAD_SECONDS)
	.ci/schemathesis .build/release/persistence 200

# Programs of chance on all contexts: a million operations in all.
FUZZ_SEEDS ?= 20
FUZZ_OPERATIONS ?= 50000

# Ours beside the raw C interfaces, GRDB and Codable; then the first ten of a million, whose bar fails the target.
bench: setup
	touch Benchmarks/Package.swift
	swift build --package-path Benchmarks -c release --product Workloads
	Benchmarks/.build/release/Workloads --results Benchmarks/results.json --chart Documentation/benchmarks.svg
	touch Benchmarks/Package.swift
	swift run --package-path Benchmarks -c release FirstTen

# Costs at a thousand to a million rows, and reads by one to eight threads while one commits: fails beyond its bars.
bench-server: setup
	touch Benchmarks/Package.swift
	swift build --package-path Benchmarks -c release --product Serving
	.ci/bench-server Benchmarks/.build/release/Serving

# A million records from engine to engine, beside the engines' own dump and load: fails where we are not the faster.
COPY_ROWS ?= 1000000

bench-copies: setup
	swift build -c release --product persistence
	.ci/bench-copies .build/release/persistence $(COPY_ROWS)

bench-scaling: setup
	touch Benchmarks/Package.swift
	swift build --package-path Benchmarks -c release --product Workloads
	Benchmarks/.build/release/Workloads --scaling Documentation/scaling.svg --results Benchmarks/scaling.json

# Instructions, which do not depend on the machine's speed: the target fails where there are more than recorded.
COUNT_INSTRUCTIONS = touch Benchmarks/Instructions/Package.swift && swift build --package-path Benchmarks/Instructions -c release && \
	Benchmarks/Instructions/.build/release/Instructions

bench-instructions: setup
	@.ci/setup valgrind
	$(COUNT_INSTRUCTIONS) check Benchmarks/instructions.json

# In which functions they are, for each way through the library.
bench-profiles: setup
	@.ci/setup valgrind
	$(COUNT_INSTRUCTIONS) profile

bench-instructions-record: setup
	@.ci/setup valgrind
	$(COUNT_INSTRUCTIONS) record Benchmarks/instructions.json

docs: setup
	swift build --product persistence
	.build/debug/persistence conform --list > Documentation/Conformance.md

format:
	swift format format --in-place --parallel --recursive --configuration .swift-format $(SOURCES)

lint:
	swift format lint --strict --parallel --recursive --configuration .swift-format $(SOURCES)

clean:
	rm -rf .build Examples/MoviesApp/.build Examples/OneFile/.build Benchmarks/.build Benchmarks/Instructions/.build
