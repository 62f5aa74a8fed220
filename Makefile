# Every command a developer needs; the same ones run in CI. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# The first that runs, for a version manager may answer to a name of which it has no Python; most is tested with the first.
PYTHONS := python3.11 python3.12 python3.13 python3
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for python in $(PYTHONS); do $$python -c '$(FITS)' 2>/dev/null && echo $$python && break; done)
VERSIONS := 3.11, 3.12 or 3.13
BIN := .venv/bin
READY := .venv/.ready
export DBT_PROFILES_DIR := $(CURDIR)
export DO_NOT_TRACK := 1

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-21s %s\n", $$1, $$2}'

$(READY): requirements.lock pyproject.toml scripts/setup.py scripts/log4j2.properties
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "setup: $(or $(PYTHON),Python) not found: install Python $(VERSIONS), or name it with PYTHON=" >&2; exit 1; }
	@"$(PYTHON)" scripts/setup.py

.PHONY: env
env: $(READY) ## make .venv from the lock file and resolve the jars (quick when done)

.PHONY: metastore
metastore: $(READY) ## make the tables of a shared metastore in an empty PostgreSQL database
	@$(BIN)/python scripts/make_metastore.py

.PHONY: lock
lock: $(READY) ## refresh requirements.lock from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --upgrade --all-extras --group dev --output-file requirements.lock pyproject.toml

.PHONY: build
build: $(READY) ## build the demo dimensions, bring them the next changes, and print their history
	$(BIN)/dbt build
	@echo "build: the next changes of the shop's products"
	$(BIN)/dbt build --select shop_products+

.PHONY: state
state: $(READY) ## build the project as it is here and keep it in target/state, for `make pr` (run it on main)
	$(BIN)/python scripts/state.py keep

.PHONY: fetch-state
fetch-state: $(READY) ## bring the state that CI kept of main (needs gh)
	$(BIN)/python scripts/state.py fetch

.PHONY: pr
pr: $(READY) ## build what differs from main, and what depends on it, on a copy of main's tables
	$(BIN)/python scripts/state.py build

.PHONY: new-dimension
new-dimension: $(READY) ## write a starter model: SOURCE=schema.table [NAME=dim_x] [KEY=a,b] [LANGUAGE=python]
	@$(BIN)/python scripts/new_dimension.py "$(SOURCE)" $(if $(NAME),--name "$(NAME)") $(if $(KEY),--key "$(KEY)") \
	  $(if $(LANGUAGE),--language "$(LANGUAGE)")

.PHONY: test
test: $(READY) ## run all tests but the slow ones
	$(BIN)/pytest -m "not slow" --numprocesses 2 --dist loadfile --no-loadscope-reorder

.PHONY: test-slow
test-slow: $(READY) ## run the slow tests
	$(BIN)/pytest -m slow

.PHONY: golden
golden: $(READY) ## write the golden SQL anew; its diff is what a change of the macros does to the statements of a load
	$(BIN)/pytest --quiet tests/python/unit/test_golden_sql.py --renew-golden

.PHONY: lint
lint: $(READY) ## check style and types of Python, SQL and YAML
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/yamllint --strict .
	$(BIN)/sqlfluff lint models snapshots tests

.PHONY: hooks
hooks: $(READY) ## let git check what a commit touches before it is made
	$(BIN)/pre-commit install

.PHONY: conventions
conventions: $(READY) ## check names, layers, descriptions and tests of models against dbt-bouncer.yml
	$(BIN)/dbt --quiet parse
	$(BIN)/dbt-bouncer run

.PHONY: docs
docs: $(READY) ## build the documentation site in target/site
	mkdir -p target
	$(BIN)/dbt --quiet run-operation print_lineage_sql > target/lineage_sql.json
	$(BIN)/dbt docs generate --static
	$(BIN)/python scripts/docs_site.py

.PHONY: report
report: $(READY) ## write a page about the history of the demo's airports, in target/report
	$(BIN)/delta-scd2 report dim_airport

.PHONY: bench-one-pass
bench-one-pass: $(READY) ## measure fifty extracts in one run against fifty runs (about ten minutes)
	$(BIN)/python benchmarks/one_pass.py

.PHONY: bench-cost-of-change
bench-cost-of-change: $(READY) ## measure runs of each source_kind by the share of rows that changed (about twenty minutes)
	$(BIN)/python benchmarks/cost_of_change.py

.PHONY: bench
bench: $(READY) ## measure loads beside dbt's snapshot, MERGEs written by hand, and the floor (100,000 keys)
	$(BIN)/python benchmarks/contenders.py
	$(BIN)/python benchmarks/plots.py target/bench

.PHONY: bench-full
bench-full: $(READY) ## the same with up to 3 million keys, and other shares of changes (more than an hour)
	$(BIN)/python benchmarks/contenders.py --keys 100000 1000000 3000000 --changed 1 0.01 50 --rounds 4 1 1
	$(BIN)/python benchmarks/plots.py target/bench

.PHONY: bench-many-loads
bench-many-loads: $(READY) ## measure 200 loads of one dimension (about half an hour)
	$(BIN)/python benchmarks/many_loads.py
	$(BIN)/python benchmarks/plots.py target/bench

.PHONY: bench-start-up
bench-start-up: $(READY) ## measure where the time of a build of the demo goes (about five minutes)
	$(BIN)/python benchmarks/start_up.py

.PHONY: clean
clean: ## remove what the commands made: environment, warehouse, build output
	rm -rf .venv .spark target logs dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
