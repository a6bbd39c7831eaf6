.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
export PYTHON

python := .venv/bin/python

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A hub starts without the documentation if its packages cannot be installed. `.venv-docs/tried` tries that once for each
# version of their list. `make site` tries again.
quiet_make := $(MAKE) --no-print-directory --silent
site_of_hub = { $(quiet_make) --question .venv-docs/stamp && $(quiet_make) site; } || \
	echo "The documentation at /docs/ is not built. To build it: make site" >&2
static_of_hub = $(quiet_make) $(static) >/dev/null 2>&1 || true
static := site/static/staticfiles.json

.PHONY: serve
serve: .venv/base.stamp .venv-docs/tried ## Run the hub (settings: PORT, PUBLIC_URL, DATABASE_URL, A2A_VAR, ...)
	@+$(site_of_hub)
	@+$(static_of_hub)
	@$(python) manage.py serve

FILE ?= README.md

.PHONY: extras
extras: requirements/extras.txt clients/python/pyproject.toml ## Install what traces and the sign-in by OpenID Connect need
	@requirements/install.sh $< clients/python

.PHONY: demo
demo: .venv/base.stamp ## Run a hub, an orchestrator and three workers on a text (FILE=README.md)
	@$(python) docs/demo/run.py "$(FILE)"

.PHONY: tour
tour: .venv/base.stamp .venv-docs/tried ## Run a hub with a day of work and live workers, to look at (settings: PORT, DATABASE_URL)
	@+$(site_of_hub)
	@+$(static_of_hub)
	@PYTHONPATH=docs/demo $(python) docs/tour/tour.py

.PHONY: test
test: lint clients ## Run all checks, and the tests of each change on both databases: ten minutes on two cores
	$(suite) gate

.PHONY: lint
lint: .venv/dev.stamp ## Check format, style, house rules, pages, types, imports, settings and migrations
	$(python) -m ruff format --check .
	$(python) -m ruff check .
	$(python) -m tools.lint
	$(python) -m mypy .
	$(python) -m mypy --python-version 3.10 clients/python/src
	.venv/bin/lint-imports
	$(python) -m tools.django_checks

suite := $(python) -m tools.suite

.PHONY: check
check: lint ## Run all checks, and the tests that a change touches, within a minute (BASE=main)
	$(suite) check $(BASE)

.PHONY: test-sqlite
test-sqlite: .venv/dev.stamp ## Run the tests of each change on SQLite
	$(suite) gate sqlite

.PHONY: test-postgres
test-postgres: .venv/dev.stamp ## Run the tests of each change on PostgreSQL (TEST_DATABASE_URL, or a server of its own)
	$(suite) gate postgresql

.PHONY: test-all
test-all: lint .venv-docs/stamp clients ## Run every test on both databases, within an hour; write the report and the record
	$(suite) all

.PHONY: test-touched
test-touched: .venv/dev.stamp .venv-docs/stamp clients ## Run the deep tests that the change since the last record touches
	$(suite) deep $(BASE)

SOAKED := $(addprefix tests/mailbox/life/,test_lifecycle.py fast_path/test_differential.py) \
	$(addprefix tests/mailbox/life/,test_duplicate_races.py test_repetition_races.py)

.PHONY: soak
soak: .venv/dev.stamp ## Run the stateful and race tests far longer, on both databases
	DATABASE_URL= A2A_VAR=var/test HYPOTHESIS_PROFILE=soak $(python) -m pytest $(SOAKED)
	A2A_VAR=var/test HYPOTHESIS_PROFILE=soak $(python) -m tests.support.postgres -- $(python) -m pytest $(SOAKED)

.PHONY: fuzz
fuzz: .venv/dev.stamp ## Give the parsers a million inputs, and a served hub 25,000 requests (FUZZ="--seed 7")
	DATABASE_URL= $(python) -m tools.fuzz parsers $(FUZZ)
	DATABASE_URL= $(python) -m tools.fuzz requests $(FUZZ)
	$(python) -m tests.support.postgres -- $(python) -m tools.fuzz requests --inputs 10000 $(FUZZ)

.PHONY: mutations
mutations: .venv/dev.stamp ## Make each hand-made bug in a copy of the tree; its test must fail (BUGS="no-fence-at-a-result")
	$(python) -m tools.proof.mutations $(BUGS)

SEED ?= 1

.PHONY: prove
prove: .venv/dev.stamp clients ## Prove for about two hours that faults lose nothing, into docs/operate/reliability.md (PROVE=--short)
	env -u PYTHONDONTWRITEBYTECODE A2A_VAR=var/test DATABASE_URL= $(python) -m tools.proof --seed $(SEED) $(PROVE)

.PHONY: prove-ha
prove-ha: .venv/dev.stamp ## Prove that takeovers of PostgreSQL lose nothing, into docs/operate/takeovers.md (as root)
	env -u PYTHONDONTWRITEBYTECODE A2A_VAR=var/test DATABASE_URL= $(python) -m tools.proof.availability --seed $(SEED)

.PHONY: bench
bench: .venv/dev.stamp clients ## Measure the API, into docs/operate/benchmarks.md (BENCH="--section cycles waiting")
	A2A_VAR=var/bench $(python) -m tools.bench $(BENCH)

.PHONY: screenshots
screenshots: .venv/dev.stamp ## Take pictures of the dashboard into screenshots/, in both themes and two widths
	DATABASE_URL= A2A_VAR=var/screenshots $(python) -m pytest -q -p no:randomly tools/screenshots/shots.py

.PHONY: bench-dashboard
bench-dashboard: .venv/dev.stamp ## Measure the dashboard over a million tasks on PostgreSQL (BENCH="--tasks 100000")
	A2A_VAR=var/bench $(python) -m tools.bench.dashboard $(BENCH)

.PHONY: docs
docs: .venv/dev.stamp ## Write the generated parts of the documentation
	$(python) -m docs.generate

# The tool has an environment of its own, because the hub needs none of it. A running hub serves the site, so
# the new one replaces it when it is whole.
.PHONY: site
site: site/html/index.html $(static) ## Build the documentation that the hub serves at /docs/, and collect its static files

# Old files stay: a hub that still runs serves them. The hub ignores the list if one of its files is newer.
$(static): .venv/base.stamp $(wildcard dashboard/static/ops/*)
	@mkdir -p site/static
	@env -u DATABASE_URL A2A_VAR=site/var $(python) manage.py collectstatic --noinput --verbosity 0 --ignore redoc
	@rm -rf site/var && touch $@

site/html/index.html: .venv-docs/stamp docs/lay_out.py docs/zensical.toml $(shell find docs clients -name '*.md' -not -path '*/node_modules/*') $(wildcard *.md docs/assets/* docs/theme/*)
	@.venv-docs/bin/python docs/lay_out.py site/new
	@.venv-docs/bin/zensical build --config-file site/new/zensical.toml
	@rm -rf site/old && mkdir -p site/html && mv site/html site/old && mv site/new/html site/html && rm -rf site/old

# The official clients exclude each other and are no packages of the hub, so each has an environment of its own. The
# hub's own JavaScript client is built there, too.
of_python := $(patsubst %,.venv-clients/%.stamp,python_1 python_0_3 server_1)
of_node := $(patsubst %,.venv-clients/%.stamp,javascript hub-client)
npm_ci := npm ci --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved --fetch-retries=1
has_node := command -v npm >/dev/null && node -e 'process.exitCode = +(parseInt(process.version.slice(1)) < 20)' 2>/dev/null

.PHONY: clients
clients: $(of_python) ## Install the official A2A clients, which some tests run (those in JavaScript need node)
	@if $(has_node); then $(MAKE) --no-print-directory --silent $(of_node); else \
		echo "The JavaScript clients are left out: they need node 20 and npm." >&2; fi

.PHONY: client-types
client-types: .venv/dev.stamp ## Write the types of the JavaScript client from the hub's OpenAPI document (needs node)
	npm ci --prefix clients/javascript --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved
	$(python) manage.py spectacular --format openapi-json | npm run --prefix clients/javascript --silent generate

.PHONY: format
format: .venv/dev.stamp ## Format the code and fix what can be fixed
	$(python) -m ruff format .
	$(python) -m ruff check --fix .

compile := uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock"

# The hub runs with its own client: its command line and its worker.
hub := pyproject.toml clients/python/pyproject.toml --extra cli --extra signing --group build
extras := --extra oidc --extra otel

# The tools of these two targets have an environment of their own, because the tests do not need them.
.PHONY: audit
audit: .venv-audit/stamp ## Look the pinned packages up in the list of known vulnerabilities (needs a network)
	@.venv-audit/bin/python requirements/audit.py requirements/base.txt requirements/extras.txt requirements/dev.txt requirements/docs.txt requirements/audit.txt

SBOM ?= var/sbom.json

.PHONY: sbom
sbom: .venv-audit/stamp ## List the packages that the hub runs with, as CycloneDX JSON (SBOM=var/sbom.json)
	@umask 077; mkdir -p "$$(dirname "$(SBOM)")"
	.venv-audit/bin/cyclonedx-py requirements requirements/base.txt --pyproject pyproject.toml --output-reproducible \
		--output-format JSON --output-file "$(SBOM)"

.PHONY: lock
lock: ## Pin the newest allowed version of every requirement (needs uv)
	$(compile) $(hub) --output-file requirements/base.txt
	$(compile) $(hub) $(extras) --constraints requirements/base.txt --output-file requirements/extras.txt
	$(compile) $(hub) $(extras) --group dev --constraints requirements/extras.txt --output-file requirements/dev.txt
	$(compile) --group audit --output-file requirements/audit.txt
	$(compile) --group docs --output-file requirements/docs.txt
	$(compile) --group a2a-client-1 --output-file requirements/a2a-client-1.txt
	$(compile) --group a2a-client-0-3 --output-file requirements/a2a-client-0.3.txt
	$(compile) --group a2a-server --output-file requirements/a2a-server.txt
	npm install --prefix requirements/a2a-client-js --package-lock-only --omit-lockfile-registry-resolved
	npm install --prefix clients/javascript --package-lock-only --omit-lockfile-registry-resolved

.PHONY: clean
clean: ## Delete the environment and the caches, but no data
	rm -rf .venv .venv-audit .venv-clients .venv-docs site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache var/test
	rm -rf clients/javascript/node_modules clients/javascript/dist
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

client := clients/python/pyproject.toml clients/python/src/a2a_hub_client/__init__.py # which holds its version

# The client for threads, which git does not keep. An install writes it, too.
sync := clients/python/src/a2a_hub_client/_sync/__init__.py
$(sync): clients/python/write_sync.py $(wildcard clients/python/src/a2a_hub_client/_async/*.py)
	@$(PYTHON) $< && touch $@

# The second holds all packages of the first, so one install serves both.
.venv/base.stamp: requirements/base.txt $(client) | $(sync)
	@requirements/install.sh $< clients/python
	@touch $@

.venv/dev.stamp: requirements/dev.txt $(client) | $(sync)
	@requirements/install.sh $< clients/python
	@touch .venv/base.stamp $@

.venv-audit/stamp: requirements/audit.txt
	@VENV=.venv-audit requirements/install.sh $<
	@touch $@

.venv-clients/python_1.stamp: requirements/a2a-client-1.txt
.venv-clients/python_0_3.stamp: requirements/a2a-client-0.3.txt
.venv-clients/server_1.stamp: requirements/a2a-server.txt
$(of_python): .venv-clients/%.stamp:
	@VENV=.venv-clients/$* requirements/install.sh $^
	@touch $@

.venv-clients/javascript.stamp: $(wildcard requirements/a2a-client-js/* tests/support/clients/drivers/*.mjs)
.venv-clients/hub-client-packages.stamp: clients/javascript/package.json clients/javascript/package-lock.json
.venv-clients/javascript.stamp .venv-clients/hub-client-packages.stamp: .venv-clients/%.stamp:
	@echo "Installing the packages of .venv-clients/$*"
	@mkdir -p .venv-clients/$* && cp $^ .venv-clients/$*
	@cd .venv-clients/$* && $(npm_ci)
	@touch $@

.venv-clients/hub-client.stamp: .venv-clients/hub-client-packages.stamp $(shell find clients -path '*/javascript/*' -type f -not -path '*/node_modules/*' -not -path '*/dist/*')
	@echo "Building .venv-clients/hub-client"
	@rm -rf .venv-clients/hub-client && cp -R .venv-clients/hub-client-packages .venv-clients/hub-client
	@cd clients/javascript && tar -c --exclude node_modules --exclude dist . | tar -x -C ../../.venv-clients/hub-client
	@cd .venv-clients/hub-client && npm run --silent build
	@touch $@

.venv-docs/tried: requirements/docs.txt
	@PIP_RETRIES=1 PIP_TIMEOUT=5 UV_HTTP_RETRIES=1 UV_HTTP_TIMEOUT=5 $(quiet_make) .venv-docs/stamp 2>/dev/null || true
	@mkdir -p .venv-docs && touch $@

.venv-docs/stamp: requirements/docs.txt
	@VENV=.venv-docs requirements/install.sh $<
	@touch $@
