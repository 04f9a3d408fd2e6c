# Every target works from a fresh clone with nothing but Python 3.11+ and make.
PYTHON ?= python3
PORT   ?= 8700
ENV    ?= dev
BIN    := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help run test lint types architecture check mutants simulate clocks chaos faults bench conform isolation tables generated lock schema openapi zones templates build synth deploy up-local e2e clients clean cost pooler

help:  ## Show these targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' Makefile

run: .venv/installed-local  ## Start Signet on its own Postgres at http://127.0.0.1:$(PORT)
	@exec $(BIN)/signet run --port $(PORT) --end-with-parent

# A process that keeps no bytecode rewrites and compiles each module of the tests again.
test check pooler simulate clocks faults: export PYTHONDONTWRITEBYTECODE =

test: .venv/installed-dev  ## All tests, in parallel, on a throw-away Postgres
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

architecture: .venv/installed-dev
	$(BIN)/lint-imports

# A traced test takes twice as long: these alone must enter every branch of core, and all others run untraced.
TRACED = tests/unit tests/scenarios/repair tests/scenarios/use_cases tests/functions/routes/definitions/test_preview.py
# Mypy computes on one core while the deployed stacks mostly wait.
check: .venv/installed-dev  ## Lint, types, import rule, the deployed stacks, generated clients, tests with coverage of core
	@$(MAKE) --no-print-directory --jobs=2 lint architecture types e2e clients
	@rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n auto --dist worksteal $(TRACED)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under=100
	$(BIN)/python -m pytest -n auto --dist worksteal $(TRACED:%=--ignore=%)

simulate: .venv/installed-dev  ## Let 2,000 documents wander among failures and repairs: each has a way on at every moment
	SIGNET_TEST_CAMPAIGN=1 $(BIN)/python -m pytest -q -n auto tests/simulation/test_random_repairs.py

clocks: .venv/installed-dev  ## Try all clock changes of 2025 to 2028 in all zones: no firing is lost or doubled
	SIGNET_TEST_CAMPAIGN=1 $(BIN)/python -m pytest -q -n auto tests/zones

chaos: .venv/installed-dev  ## Kill processes and Postgres while documents flow, then look for what is wrong (ARGS=outages, MINUTES=10)
	MINUTES=$(MINUTES) $(BIN)/python -m tests.chaos $(ARGS)

faults: .venv/installed-dev  ## Refuse each statement of each use case with each SQLSTATE, cut and silence each message (long)
	SIGNET_TEST_CAMPAIGN=1 $(BIN)/python -m pytest -q -n $(or $(AT_ONCE),auto) --dist worksteal $(or $(ARGS),tests/faults)

mutants: .venv/installed-dev  ## Break each invariant on purpose in a copy: its tests must notice
	$(BIN)/python -m tests.mutants $(ARGS)

POOLED = tests/integration tests/scenarios tests/properties tests/concurrency tests/simulation
pooler: .venv/installed-dev  ## What asks the database, tried through pgbouncer in transaction mode
	SIGNET_TEST_POOLER=1 $(BIN)/python -m pytest -q -n auto --dist worksteal $(or $(ARGS),$(POOLED))

bench: .venv/installed-dev  ## Print the measured figures beside their references
	$(BIN)/python -m bench $(ARGS)

cost: .venv/installed-dev  ## Count what documents ask of AWS, for docs/cost.md
	$(BIN)/python -m pytest -q -s -n 0 tests/simulation/test_requests.py
	@$(BIN)/python -m tests.cost

schema: .venv/installed-dev  ## Rewrite migrations/schema.sql from a fresh migrate
	$(BIN)/python -m tests.migrations.write_schema

conform: .venv/installed-dev  ## Call the whole API with good and bad data, many cases of each operation
	SIGNET_CONFORM_EXAMPLES=$(or $(EXAMPLES),50) $(BIN)/python -m pytest -q -s tests/conformance

isolation: .venv/installed-dev  ## Rewrite docs/isolation.md from the routes
	$(BIN)/python -m tests.isolation

tables: .venv/installed-dev  ## Rewrite the tables of docs/ that are made from the sources
	$(BIN)/python -m tests.docs

openapi: .venv/installed-dev  ## Rewrite the index of the routes and the OpenAPI document
	$(BIN)/python -m signet.api.openapi.build

generated: schema openapi zones templates isolation tables  ## Renew all files that are made from the sources

LOCK = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
       --no-emit-index-url --no-header
lock: .venv/installed-dev  ## Renew the locked dependencies
	$(LOCK) requirements/installer.in -o requirements/installer.txt
	$(LOCK) requirements/emulator.in -o requirements/emulator.txt
	$(LOCK) requirements/clients.in -o requirements/clients.txt
	$(LOCK) requirements/function_runtime.in -o requirements/function_runtime.txt
	$(LOCK) pyproject.toml -o requirements/runtime.txt
	$(LOCK) --extra telemetry pyproject.toml -o requirements/telemetry.txt
	$(LOCK) --extra local pyproject.toml -o requirements/local.txt
	$(LOCK) --extra local --extra telemetry --extra dev pyproject.toml -o requirements/dev.txt
	npm update --prefix tests/clients --package-lock-only --no-audit --no-fund

zones: .venv/installed-dev  ## Rewrite the names of time zones from the pinned package
	$(BIN)/python -m tests.zones.write_zone_names

templates: .venv/installed-dev  ## Rewrite the templates that the package carries from the examples
	$(BIN)/python -m tests.templates.write_templates

build: .venv/installed-local  ## Make what Lambda unpacks into build/ (FOR=local: for this machine)
	$(BIN)/python -m infra.bundle --target $(or $(FOR),lambda)

# npm's `latest` of it is an older one, which cannot read what this aws-cdk-lib writes.
CDK = npx --yes aws-cdk@2.1147.0
synth: .venv/installed-dev build  ## Write the templates of ENV (dev, staging, prod) into cdk.out/
	$(CDK) synth --quiet -c environment=$(ENV) $(ARGS)

deploy: .venv/installed-dev build  ## Deploy ENV to the account that the AWS credentials are of
	$(CDK) deploy --all --strict -c environment=$(ENV) $(ARGS)

up-local: .venv/installed-dev .venv-emulator/installed  ## The same stacks on this machine: no Docker, no account, all of it ends with Ctrl-C
	@exec $(BIN)/python -m infra.emulator.up

e2e: .venv/installed-dev .venv-emulator/installed  ## Deploy the stacks on this machine and drive them over HTTP
	SIGNET_E2E=1 $(BIN)/python -m pytest -q -s $(or $(ARGS),tests/e2e)

clients: .venv/installed-dev .venv-clients/installed  ## Generate clients from the OpenAPI document, and do a flow with each
	SIGNET_CLIENTS=1 $(BIN)/python -m pytest -q $(or $(ARGS),tests/clients)

clean:  ## Remove what the targets made (also the local database)
	rm -rf .venv .venv-emulator .venv-clients .signet .bench build cdk.out shared/signet/api/openapi/reference.html .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

.venv/installer: requirements/installer.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else f"Signet needs Python 3.11 or newer; this is {v[0]}.{v[1]}. Name another with PYTHON=.")'
	@test -w . || { echo "$(CURDIR) must be writable for $$(id -un): .venv and .signet are made in it." >&2; exit 1; }
	@echo "Installing into .venv (once)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/installer.txt
	@touch $@

# uv is fast; where it cannot reach an index that pip is configured for, pip does the same work.
fetch = $(BIN)/uv pip install --quiet --system-certs $(1) --compile-bytecode --require-hashes -r $(2) 2>/dev/null \
	  || $(BIN)/python -m pip $(if $(findstring --python,$(1)),$(1)) --quiet --disable-pip-version-check install \
	       $(if $(findstring --target,$(1)),$(1)) --require-hashes -r $(2)
define install
	@$(call fetch,--python $(BIN)/python,$(1))
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --offline -e .
endef

.venv/installed-local: .venv/installer requirements/local.txt pyproject.toml
	$(call install,requirements/local.txt)
	@touch $@

.venv/installed-dev: .venv/installer requirements/dev.txt pyproject.toml
	$(call install,requirements/dev.txt)
	@touch $@ .venv/installed-local

# What runs a function must not see what runs the emulator: two places.
.venv-emulator/installed: .venv/installer requirements/emulator.txt requirements/function_runtime.txt
	@echo "Installing into .venv-emulator (once)"
	@$(PYTHON) -m venv --clear --without-pip .venv-emulator
	@$(call fetch,--python .venv-emulator/bin/python,requirements/emulator.txt)
	@$(call fetch,--target .venv-emulator/runtime,requirements/function_runtime.txt)
	@touch $@

# A client must not see Signet: its generators and what it runs on have a place of their own, also those of npm.
.venv-clients/installed: .venv/installer requirements/clients.txt tests/clients/package-lock.json
	@echo "Installing into .venv-clients (once)"
	@$(PYTHON) -m venv --clear --without-pip .venv-clients
	@$(call fetch,--python .venv-clients/bin/python,requirements/clients.txt)
	@cp .npmrc tests/clients/package.json tests/clients/package-lock.json .venv-clients
	@npm ci --prefix .venv-clients --silent --ignore-scripts --no-audit --no-fund
	@touch $@
