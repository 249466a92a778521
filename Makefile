# `make demo` and `make test` do all set-up: a virtual environment in .venv with everything that is needed.
PYTHON ?= python3
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)

.PHONY: demo test test-browser test-spark test-slow test-exhaustive check bench docs clean

# Every package in the version, and with the hashes, of requirements/*.lock (scripts/lock.py writes them).
INSTALL = $(if $(UV),$(UV) pip install -q --python $(BIN)/python,$(BIN)/python -m pip install -q --disable-pip-version-check)

# The tests start hundreds of processes: without bytecode each of them would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.venv/.ready: pyproject.toml requirements/dev.lock
	@$(if $(UV),$(UV) venv -q --allow-existing --python $(PYTHON) .venv,$(PYTHON) -m venv .venv)
	@$(INSTALL) --require-hashes -r requirements/dev.lock
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

demo: .venv/.ready
	@$(BIN)/python examples/demo.py

check: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# mypy leaves a core idle: there the tests are collected, which writes their bytecode for both workers.
test: .venv/.ready
	@$(BIN)/python -m pytest --collect-only -q >/dev/null 2>&1 & $(MAKE) --no-print-directory check && wait
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Needs Chromium on the PATH (Debian: apt-get install chromium).
test-browser: .venv/.browser
	$(BIN)/python -m pytest -m browser

.venv/.browser .venv/.spark .venv/.docs: .venv/.%: requirements/%.lock .venv/.ready
	@$(INSTALL) --require-hashes -r $<
	@touch $@

test-spark: .venv/.spark
	$(BIN)/python -m pytest -m spark

test-slow: .venv/.ready
	$(BIN)/python -m pytest -m "slow and not exhaustive" -n 2 --dist worksteal

test-exhaustive: .venv/.ready
	$(BIN)/python -m pytest -m exhaustive -n 2 --dist worksteal

# NO_MKDOCS_2_WARNING: the theme announces its successor on every run.
docs: .venv/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: .venv/.ready
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf .venv out demo-out .pytest_cache .mypy_cache .ruff_cache .hypothesis
