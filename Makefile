.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
export PYTHON

python := .venv/bin/python

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: serve
serve: .venv/base.stamp ## Run the hub: PORT, BIND_HOST, PUBLIC_URL, DATABASE_URL and A2A_VAR configure it
	@$(python) manage.py serve

FILE ?= README.md

.PHONY: demo
demo: .venv/base.stamp ## Run a hub, an orchestrator and three workers on a text: FILE=README.md
	@$(python) docs/demo/run.py "$(FILE)"

.PHONY: test
test: lint test-sqlite test-postgres ## Check everything, then run the tests on both databases

.PHONY: lint
lint: .venv/dev.stamp ## Check format, style, types, layers, settings and migrations
	$(python) -m ruff format --check .
	$(python) -m ruff check .
	$(python) -m mypy .
	.venv/bin/lint-imports
	$(python) manage.py check --fail-level WARNING
	$(python) manage.py makemigrations --check --dry-run

# One test process more than there are cores, for tests wait for what they start: a hundred Python processes, which are
# not to compile the hub each time.
pytest := $(python) -m pytest --numprocesses $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --maxprocesses 8
tests := env -u PYTHONDONTWRITEBYTECODE A2A_VAR=var/test

.PHONY: check
check: lint ## Check everything, then run the tests that a change touches, but for slow ones: BASE=main
	$(tests) DATABASE_URL= $(pytest) -q -m "not slow" $$($(python) -m tests.support.touched $(BASE))

.PHONY: test-sqlite
test-sqlite: .venv/dev.stamp ## Run the tests on SQLite
	$(tests) DATABASE_URL= $(pytest)

.PHONY: test-postgres
test-postgres: .venv/dev.stamp ## Run the tests on PostgreSQL: TEST_DATABASE_URL, or a server of their own
	$(tests) $(python) -m tests.support.postgres -- $(pytest)

SOAKED := tests/mailbox/verbs/test_lifecycle.py $(addprefix tests/mailbox/verbs/life/,test_duplicate_races.py test_repetition_races.py)

.PHONY: soak
soak: .venv/dev.stamp ## Try the mailbox's rules and races for far longer than a test run does, on both databases
	DATABASE_URL= A2A_VAR=var/test HYPOTHESIS_PROFILE=soak $(python) -m pytest $(SOAKED)
	A2A_VAR=var/test HYPOTHESIS_PROFILE=soak $(python) -m tests.support.postgres -- $(python) -m pytest $(SOAKED)

.PHONY: bench
bench: .venv/dev.stamp ## Measure full cycles, the same statements without the hub, and a queue of a million: BENCH="--seconds 3 ..."
	A2A_VAR=var/bench $(python) -m tests.bench $(BENCH)

.PHONY: screenshots
screenshots: .venv/dev.stamp ## Take pictures of the dashboard, in both themes and two widths, into screenshots/
	DATABASE_URL= A2A_VAR=var/screenshots $(python) -m pytest -q -p no:randomly tests/screenshots/shots.py

.PHONY: bench-dashboard
bench-dashboard: .venv/dev.stamp ## Measure the operator pages over a million tasks on PostgreSQL, at rest and under load: BENCH="--tasks 100000 ..."
	A2A_VAR=var/bench $(python) -m tests.bench.dashboard $(BENCH)

.PHONY: docs
docs: .venv/dev.stamp ## Write the generated parts of the documentation
	$(python) -m docs.generate

.PHONY: format
format: .venv/dev.stamp ## Format the code and fix what can be fixed
	$(python) -m ruff format .
	$(python) -m ruff check --fix .

compile := uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock"

.PHONY: lock
lock: ## Pin the newest allowed version of every requirement (needs uv)
	$(compile) pyproject.toml --output-file requirements/base.txt
	$(compile) pyproject.toml --group dev --constraints requirements/base.txt --output-file requirements/dev.txt

.PHONY: clean
clean: ## Delete the environment and the caches, but no data
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache var/test
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# Everything of the first is in the second, so whoever has the second needs no other install.
.venv/base.stamp: requirements/base.txt
	@requirements/install.sh $<
	@touch $@

.venv/dev.stamp: requirements/dev.txt
	@requirements/install.sh $<
	@touch .venv/base.stamp $@
