# Everything happens in a private environment, .venv; nothing else on the machine is touched.
# Needed: Python 3.11 or newer. If python3 is older: make demo PYTHON=python3.12

PYTHON ?= python3
JOBS ?= auto
ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
EXE := .exe
else
BIN := .venv/bin
EXE :=
endif

# What runs here is small or shares the cores already; on a busy machine, threads that wait for one another made the demo
# three times slower.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
# Without bytecode each worker, and each program that a test starts, would compile everything anew: 4 of 10 seconds of a start.
export PYTHONDONTWRITEBYTECODE :=
# Workers that run out of tests take over some of the others' (worksteal); neighbours in a file share their fixtures.
TEST := $(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
# Pages generated for names that are gone would be built, and fail. Readers' browsers need no server but the pages' own.
SPHINX := rm -rf docs/api/generated && $(ONE_THREAD) $(BIN)/python -m sphinx -b html -j $(JOBS) -W --keep-going -n -q docs docs/_build/html \
  && $(BIN)/python .ci/foreign.py docs/_build/html

define install
	@echo "Installing oddkernel[$(1)] into .venv (once; a minute or two) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(1)]" || { \
	  echo "The installation failed; pip's reason stands above."; \
	  echo "If it is the network, try again later. If pip is too old: $(BIN)/python -m pip install --upgrade pip"; \
	  echo "If the environment is broken: make clean-env, then again."; \
	  exit 1; }
	@touch $@
endef

.PHONY: help
help:  ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: .venv/.demo-stamp  ## Learn from 300 answers about handwritten digits; leave a picture and a report
	@$(ONE_THREAD) $(BIN)/oddkernel demo

.PHONY: quick
quick: .venv/.dev-stamp  ## Run the tests that start no server, browser or other program
	@$(TEST) -m "not slow"

.PHONY: test
test: .venv/.dev-stamp  ## Run every test, docstring example and documented snippet
	@.ci/programs
	@echo "Running the tests ..."
	@$(TEST)

.PHONY: explore
explore: .venv/.dev-stamp  ## Test properties on new examples, ten times as many as make test draws
	@$(TEST) -m hypothesis --hypothesis-profile=new

# uv chooses the lowest versions; pip can't. The estimator checks of scikit-learn 1.6 need SciPy's switch and an older pytest;
# it reads frames of polars through the interchange protocol, which polars deprecates since 1.40.
.PHONY: lowest
lowest: .venv/.dev-stamp  ## Run every test with the lowest versions that pyproject.toml allows of what is always needed
	@.ci/programs
	@$(BIN)/python -m uv venv --quiet --clear --python $(BIN)/python$(EXE) .venv/lowest
	@$(BIN)/python -m uv pip compile --quiet --resolution lowest-direct pyproject.toml --output-file .venv/lowest.txt
	@$(BIN)/python -m uv pip install --quiet --python .venv/lowest --constraint .venv/lowest.txt --editable ".[test]" "pytest<9" "polars<1.40"
	@SCIPY_ARRAY_API=1 $(ONE_THREAD) $(subst .venv,.venv/lowest,$(BIN))/python -m pytest -n $(JOBS) --dist worksteal

.PHONY: lint
lint: .venv/.dev-stamp  ## Check format, lint and types
	@echo "Checking the format ..."
	@$(BIN)/ruff format --check --quiet . || { echo "make format would mend it."; exit 1; }
	@echo "Linting ..."
	@$(BIN)/ruff check --quiet .
	@echo "Checking the types ..."
	@$(BIN)/mypy --no-error-summary

.PHONY: check
check: lint  ## Check format, lint, types and that the docs build
	@echo "Building the docs ..."
	@$(SPHINX)
	@echo "All checks passed."

.PHONY: docs
docs: .venv/.dev-stamp  ## Build the documentation
	@echo "Building the docs ..."
	@$(SPHINX)
	@echo "Open docs/_build/html/index.html"

.PHONY: dist
dist: .venv/.dist-stamp  ## Build sdist and wheel, check them, install the wheel elsewhere and run the demo there
	@rm -rf dist
	@$(BIN)/validate-pyproject pyproject.toml
	@$(BIN)/python -m build --no-isolation
	@$(BIN)/python -m twine check --strict dist/*
	@$(BIN)/check-wheel-contents dist/*.whl
	@$(ONE_THREAD) $(BIN)/python .ci/try_wheel.py dist/*.whl

.PHONY: placeholders
placeholders:  ## List names and addresses that are still placeholders; fail if there are any
	@.ci/placeholders

.PHONY: format
format: .venv/.dev-stamp  ## Format the code and mend what the linter can mend
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

.PHONY: clean
clean:  ## Remove what was built, but keep the environment
	@rm -rf dist build docs/_build docs/gallery docs/api/generated oddkernel-demo oddkernel-paper \
	  .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: clean-env
clean-env:  ## Remove the private environment
	@rm -rf .venv

# The stamps say what the environment holds; a changed pyproject.toml makes them stale. What is for developers includes the rest.
.venv/.demo-stamp: pyproject.toml | $(BIN)/python$(EXE)
	$(call install,plot)

.venv/.dev-stamp: pyproject.toml | $(BIN)/python$(EXE)
	$(call install,dev)
	@touch .venv/.demo-stamp .venv/.dist-stamp

.venv/.dist-stamp: pyproject.toml | $(BIN)/python$(EXE)
	$(call install,dist)

$(BIN)/python$(EXE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "oddkernel needs Python 3.11 or newer; '$(PYTHON)' is" `$(PYTHON) --version 2>&1`; \
	  echo "Name a newer one: make $(MAKECMDGOALS) PYTHON=python3.12"; \
	  exit 1; }
	@echo "Creating a private environment in .venv ..."
	@$(PYTHON) -m venv .venv || { \
	  rm -rf .venv; \
	  echo "'$(PYTHON) -m venv' failed. On Debian and Ubuntu the package python3-venv provides it."; \
	  exit 1; }
