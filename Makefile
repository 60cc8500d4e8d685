# Everything one types in this checkout. `make` alone lists it.
.DEFAULT_GOAL := help
.PHONY: help setup demo check test test-long for-tests cluster-test newest lint up docs bench soak audit pin clean

ARGS :=
STORES := $(addprefix tests/storage/test_,object_store.py file_layer.py delta.py crash_points.py at_once.py)

# exec: an interrupt reaches Python itself, which cleans up after itself.
python = exec env JAVA_HOME="$$(cat .venv/java-home)" .venv/bin/python

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## a virtual environment in .venv with the pinned packages, and Java for Spark
	@bash setup/environment.sh

demo: setup ## a week of real flights through Airflow and Spark to published windows, then the year in bulk
	@$(python) -m examples.demo $(ARGS)

check: setup lint ## style, types, arrows, and the quick tests, which start neither Spark nor Airflow nor Great Expectations: while you work
	@$(python) -m pytest -n 2 --quick -m "not spark and not airflow and not gx and not install" $(ARGS)

test: for-tests ## lint, then the tests that a change has to pass, in a quarter of an hour; ARGS="-k sliding" narrows them
	@export MUNTIN_CORE=$${MUNTIN_CORE:-10}; $(python) -m pytest -n 3 --max-worker-restart 0 $(ARGS)

test-long: for-tests ## what `make test` leaves out: ARGS=tests/storage, or "--touched HEAD"; MUNTIN_CORE=300 for every test with every case
	@export MUNTIN_CORE=$${MUNTIN_CORE:-40}; $(python) -m pytest -n 3 --max-worker-restart 0 --long $(ARGS)

for-tests: setup
# Side by side: to fetch is to wait. Kernels are compiled once: processes that begin without them would each compile them.
	@bash setup/for_tests.sh & bash setup/kernels.sh & $(MAKE) --no-print-directory lint; linted=$$?; wait; exit $$linted
# Where Python is told to write no bytecode, hundreds of programs that tests start would each compile all of it.
	@.venv/bin/python -m compileall -q pipelines examples

cluster-test: setup ## brokers, databases, object stores and a Spark cluster of several workers, for real and at length
	@bash setup/object_store.sh
	@bash setup/azure_store.sh
	@bash setup/kafka.sh
	@bash setup/compose.sh
	@for store in s3 azure; do MUNTIN_OBJECT_STORE=$$store JAVA_HOME="$$(cat .venv/java-home)" .venv/bin/python -m pytest $(STORES) $(ARGS) || exit; done
	@export MUNTIN_CLUSTER=all; $(python) -m pytest tests/cluster tests/compose $(ARGS)

newest: setup ## the newest versions that pyproject.toml allows, in build/newest, and the tests that a new version may break
	@bash setup/newest.sh $(ARGS)

lint: setup ## style, types, the direction of imports, whether each imported package is declared, what nothing uses, and workflows
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/deptry pipelines
	.venv/bin/vulture
	.venv/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	.venv/bin/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
	.venv/bin/zizmor --quiet --offline --strict-collection .github

up: setup ## Airflow with its web page on 127.0.0.1, to look around; the password is printed
	@$(python) -m examples.up $(ARGS)

docs: setup ## the docs as a site, served on 127.0.0.1:8000; ARGS=build writes it to build/site
	@NO_MKDOCS_2_WARNING=1 $(python) -m mkdocs $(or $(ARGS),serve)

bench: setup ## the benchmarks, written to benchmarks/results.md
	@$(python) -m benchmarks $(ARGS)

soak: setup ## an hour of random histories beside clean runs; ARGS="--part worlds --minutes 5"; --help lists the parts
	@$(python) -m tests.soak $(ARGS)

audit: setup ## known vulnerabilities of the pinned packages, from osv.dev; ARGS=--offline: from a package; setup/audit-exceptions.txt says why which are left out
	@bash setup/audit.sh $(ARGS)

pin: setup ## the digest of each image of the Compose files, from its registry; ARGS=--check: whether it is the one that is written
	@$(python) setup/pin_images.py $(ARGS)

clean: ## remove what setup, demo, tests and benchmarks made; your state/ stays
	rm -rf .venv .airflow .demo build data/flights benchmarks/data benchmarks/nexmark/data muntin.egg-info
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache spark-warehouse metastore_db derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
