# Every command a developer needs; the same ones run in CI. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3.11
BIN := .venv/bin
READY := .venv/.ready
export DBT_PROFILES_DIR := $(CURDIR)
export DO_NOT_TRACK := 1

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(READY): requirements.lock pyproject.toml scripts/setup.py
	@command -v $(PYTHON) >/dev/null || { echo "setup: $(PYTHON) not found: install Python 3.11, or name it with PYTHON=" >&2; exit 1; }
	@$(PYTHON) scripts/setup.py

.PHONY: env
env: $(READY) ## make .venv from the lock file and resolve the Delta jars (quick when done)

.PHONY: lock
lock: $(READY) ## refresh requirements.lock from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --upgrade --group dev --output-file requirements.lock pyproject.toml
