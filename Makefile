# Every target sets itself up: Python 3.11 or later and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Where it is set, every process compiles every module anew, and tests start many.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-oldest lint docs docs-quick docs-open dist bench fuzz clean clean-cache

demo: $(VENV)/.demo
	$(BIN)/kernelcoding demo

# The report is tested in a real browser where one can be had; else its tests skip with a reason.
BROWSER := command -v chromium >/dev/null || (apt-get update -qq && apt-get install -y -qq chromium) >/dev/null 2>&1 || true

# Files run in their order: the last are examples of one module each, so that no core waits long.
test: $(VENV)/.dev lint
	@$(BROWSER)
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests benchmarks campaigns
	$(BIN)/ruff format --check src tests benchmarks campaigns
	$(BIN)/codespell src tests docs examples benchmarks campaigns README.md CONTRIBUTING.md CHANGELOG.md
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site: packages are installed first, then nothing is fetched. Examples run again only where they changed.
SITE := docs/_build/html
SPHINX := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html
docs: $(VENV)/.docs
	$(SPHINX) docs $(SITE)
	@echo "The site is in $(CURDIR)/$(SITE)/index.html"

docs-quick: $(VENV)/.docs  # examples are shown, not run
	$(SPHINX) -D plot_gallery=0 docs docs/_build/quick
	@echo "The site is in $(CURDIR)/docs/_build/quick/index.html"

docs-open: docs
	$(BIN)/python -m webbrowser -t "file://$(CURDIR)/$(SITE)/index.html"

# Wheel and source archive: built, checked, and tried in an empty environment.
dist: $(VENV)/.created
	$(BIN)/python -m pip install --quiet "build>=1.2" "twine>=6"
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	fresh=$$(mktemp -d) && $(PYTHON) -m venv $$fresh && $$fresh/bin/pip install --quiet dist/*.whl \
	  && cd $$fresh && bin/python $(CURDIR)/tests/release/smoke.py && rm -rf $$fresh

# The oldest versions of dependencies, in an environment of their own: rooms where these matter most. (Not: tests that need
# every extra, or models that a newer scikit-learn has written.)
OLD := .venv-oldest
OLD_TESTS ?= tests/laws tests/coders tests/kernels tests/dictionary tests/solvers tests/persistence tests/displays
test-oldest: $(OLD)/.installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(OLD)/bin/python -m pytest -n 2 --dist loadfile -p no:cacheprovider \
	  --ignore tests/persistence/test_registry.py --ignore tests/persistence/test_old_files.py $(OLD_TESTS)

$(OLD)/.installed: pyproject.toml tests/release/oldest.txt
	$(PYTHON) -m venv $(OLD)
	$(OLD)/bin/python -m pip install --quiet --constraint tests/release/oldest.txt --editable ".[cli,report]" pytest pytest-xdist hypothesis cvxpy
	touch $@

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# Random problems and faults; what fails is shrunk to a file in campaigns/failures/ that replays.
FUZZ_MINUTES ?= 5
fuzz: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m campaigns --minutes $(FUZZ_MINUTES)

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/.demo: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[cli,report]"
	touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

$(VENV)/.docs: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

$(VENV)/.bench: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	touch $@

clean-cache:
	find src -name "*.nb[ic]" -delete

clean:
	rm -rf $(VENV) $(OLD) dist .pytest_cache .mypy_cache .ruff_cache docs/_build docs/auto_examples docs/api/generated docs/api/backreferences
