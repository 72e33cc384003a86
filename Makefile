# The two that a newcomer needs are `make train` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /|/' | \
		while IFS='|' read -r name text; do printf '%-12s %s\n' "$$name" "$$text"; done

train: $(VENV)/.train ## train an agent; ARGS="--seed 2" passes flags
	$(BIN)/python -m jax_ttt.train $(or $(ARGS),--seed 1)

test: $(VENV)/.dev ## run the tests; ARGS="-k tree" passes flags to pytest
	$(BIN)/python -m pytest -m "not slow" $(ARGS)

check: $(VENV)/.dev ## lint, format and type checks, as CI does
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

check-games: $(VENV)/.dev ## the slow tests: trainings, and games that compile for long
	$(BIN)/python -m pytest -m slow $(ARGS)

format: $(VENV)/.dev ## format the code and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.train ## measure speed and pass rate; ARGS="--quick" for a short one
	$(BIN)/python -m jax_ttt.bench $(ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "jax_ttt needs Python 3.11 or later; choose one with: make PYTHON=python3.13 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The stamps: written last, so an install that was cut off is done again.
$(VENV)/.train: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e ".[dev]"
	@touch $@ $(VENV)/.train

.PHONY: help train test check check-games format bench
