# The commands for development; CI runs the same ones. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# The first one that runs: a version manager may define names without a Python. 3.11 is tested most.
PYTHONS := python3.11 python3.12 python3.13 python3
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for python in $(PYTHONS); do $$python -c '$(FITS)' 2>/dev/null && echo $$python && break; done)
VERSIONS := 3.11, 3.12 or 3.13
BIN := .venv/bin
READY := .venv/.ready
# Spark comes with the locked packages.
unexport SPARK_HOME
export DBT_PROFILES_DIR := $(CURDIR)
export DO_NOT_TRACK := 1
export NO_MKDOCS_2_WARNING := 1

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-21s %s\n", $$1, $$2}'

# Whoever deletes .spark, to begin with empty tables, deletes the jars as well. The Python behind .venv may go, too.
$(READY): requirements.lock pyproject.toml scripts/setup.py scripts/log4j2.properties \
    $(if $(and $(wildcard .spark/jars),$(realpath $(BIN)/python)),,FORCE)
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "setup: $(or $(PYTHON),Python) not found: install Python $(VERSIONS), or name it with PYTHON=" >&2; exit 1; }
	@"$(PYTHON)" scripts/setup.py

FORCE:

.PHONY: env
env: $(READY) ## create .venv from the lock file and download the jars (quick if up to date)

.PHONY: archive
archive: $(READY) ## wait for the archive of Java classes, with which Spark starts faster
	@$(BIN)/python scripts/setup.py archive

.PHONY: metastore
metastore: $(READY) ## create the tables of a shared metastore in an empty PostgreSQL database
	@$(BIN)/python scripts/make_metastore.py

.PHONY: lock
lock: $(READY) ## update requirements.lock from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --upgrade --all-extras --group dev --output-file requirements.lock pyproject.toml

.PHONY: build
build: $(READY) ## build the demo dimensions, apply the next changes, and print their history
	@$(BIN)/python scripts/build.py

.PHONY: state
state: $(READY) ## build the project and keep its state in target/state for `make pr` (run it on main)
	$(BIN)/python scripts/state.py keep

.PHONY: fetch-state
fetch-state: $(READY) ## download the state of main kept by CI (needs gh)
	$(BIN)/python scripts/state.py fetch

.PHONY: pr
pr: $(READY) ## build what differs from main, and its dependents, on a copy of main's tables
	$(BIN)/python scripts/state.py build

.PHONY: new-dimension
new-dimension: $(READY) ## write a starter model: SOURCE=schema.table [NAME=dim_x] [KEY=a,b] [LANGUAGE=python]
	@$(BIN)/python scripts/new_dimension.py "$(SOURCE)" $(if $(NAME),--name "$(NAME)") $(if $(KEY),--key "$(KEY)") \
	  $(if $(LANGUAGE),--language "$(LANGUAGE)")

.PHONY: test
test: archive ## run all tests except the slow ones
	$(BIN)/pytest -m "not slow" --numprocesses 2 --dist loadfile --no-loadscope-reorder

.PHONY: test-slow
test-slow: $(READY) ## run the slow tests
	$(BIN)/pytest -m slow

.PHONY: golden
golden: $(READY) ## regenerate the golden SQL; its diff shows how a macro change affects loads
	$(BIN)/pytest --quiet tests/python/unit/test_golden_sql.py --renew-golden

.PHONY: lint
lint: $(READY) ## check the style and types of Python, SQL and YAML
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/yamllint --strict .
	$(BIN)/sqlfluff lint models snapshots tests

.PHONY: hooks
hooks: $(READY) ## install git hooks that check changed files before a commit
	$(BIN)/pre-commit install

.PHONY: conventions
conventions: $(READY) ## check names, layers, descriptions and tests of models (dbt-bouncer.yml)
	$(BIN)/dbt --quiet parse
	$(BIN)/dbt-bouncer run

.PHONY: docs
docs: $(READY) ## build the documentation site in target/site
	mkdir -p target
	$(BIN)/dbt --quiet run-operation print_lineage_sql > target/lineage_sql.json
	$(BIN)/dbt docs generate --static
	$(BIN)/python scripts/docs_site.py

.PHONY: dist
dist: $(READY) ## build the wheel and the source distribution in dist, and test the wheel
	$(BIN)/python scripts/release.py build
	DELTA_SCD2_WHEEL="$$(ls "$(CURDIR)"/dist/*.whl)" $(BIN)/pytest tests/python/functional/test_as_a_package.py

.PHONY: release
release: $(READY) ## publish what is in dist (the workflow does so when a tag is pushed)
	$(BIN)/python scripts/release.py publish

.PHONY: report
report: $(READY) ## write HTML pages on the history of the demo's dimensions in target/report
	$(BIN)/delta-scd2 report

.PHONY: bench-one-pass
bench-one-pass: $(READY) ## compare fifty extracts in one run with fifty runs (about ten minutes)
	$(BIN)/python benchmarks/one_pass.py

.PHONY: bench-cost-of-change
bench-cost-of-change: $(READY) ## measure each source_kind by share of changed rows (about twenty minutes)
	$(BIN)/python benchmarks/cost_of_change.py

.PHONY: bench
bench: $(READY) ## compare loads with dbt's snapshot, handwritten MERGEs and a lower bound (100,000 keys)
	$(BIN)/python benchmarks/contenders.py
	$(BIN)/python benchmarks/plots.py target/bench

.PHONY: bench-full
bench-full: $(READY) ## like bench, with up to 3 million keys and other shares of changes (almost an hour)
	$(BIN)/python benchmarks/contenders.py --keys 1000 1000 100000 1000000 3000000 --changed 1 0.01 50 --rounds 4 1 1
	$(BIN)/python benchmarks/plots.py target/bench

.PHONY: bench-largest
bench-largest: $(READY) ## compare loads with dbt's snapshot, with 10 and 30 million keys (40 minutes, 75 GB of disk)
	$(BIN)/python benchmarks/contenders.py --keys 10000000 --rounds 2 --output target/bench/largest.json \
	  --only 'ours, staged' 'ours, staged, state hash' 'dbt snapshot'
	$(BIN)/python benchmarks/contenders.py --keys 30000000 --rounds 1 --output target/bench/thirty_million.json \
	  --only 'ours, staged' 'dbt snapshot'

.PHONY: bench-cold
bench-cold: $(READY) ## compare a process that loads one dimension with one that takes a snapshot (about ten minutes)
	$(BIN)/python benchmarks/cold_start.py

.PHONY: bench-many-loads
bench-many-loads: $(READY) ## measure 200 loads of one dimension (about half an hour)
	$(BIN)/python benchmarks/many_loads.py
	$(BIN)/python benchmarks/plots.py target/bench

.PHONY: bench-start-up
bench-start-up: $(READY) ## measure where a build of the demo spends its time (about five minutes)
	$(BIN)/python benchmarks/start_up.py

.PHONY: clean
clean: ## remove all generated files: environment, warehouse, build output
	rm -rf .venv .spark target logs dist dbt_packages .mypy_cache .pytest_cache .ruff_cache .hypothesis .user.yml derby.log
