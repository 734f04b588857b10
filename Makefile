# Two commands: `make train` and `make test`. Each makes what it needs first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
QUICKSTART := checkpoints/quickstart

.PHONY: train test fuzz browser-test lint format lock clean

# How many inputs `make fuzz` tries.
INPUTS ?= 100000

# Goes on with what an earlier call began, and shows it again once it is finished.
train: $(INSTALLED)
	if [ -e $(QUICKSTART)/config.yaml ]; then $(BIN)/jaxgames resume $(QUICKSTART); \
	else $(BIN)/jaxgames train quickstart --out $(QUICKSTART); fi

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadgroup

# What `make test` tries with a few inputs, with very many, others each time.
fuzz: $(INSTALLED)
	JAXGAMES_FUZZ=$(INPUTS) $(BIN)/python -m pytest -n 2 --dist loadgroup tests/fuzz

# With Debian's chromium, which is installed if it is missing; then 200 people at once.
browser-test: $(INSTALLED)
	command -v chromium > /dev/null || { apt-get update -qq && apt-get install -y -qq chromium; }
	$(BIN)/python -m pytest tests/browser
	$(BIN)/python -m tests.support.load --clients 200 --seconds 60

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The stamp is newer than the lock once everything that the lock names is installed, what
# builds this package among it.
$(INSTALLED): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(INSTALLED)

# Writes down the newest versions that pyproject.toml allows. Versions only.
lock:
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check ".[dev]"
	$(BIN)/pip freeze --exclude jaxgames > requirements.lock
	rm -f $(INSTALLED)

clean:
	rm -rf $(VENV) .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .jax_cache .hypothesis build dist *.egg-info
