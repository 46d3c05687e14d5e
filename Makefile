# Everything that a person does with this project. The work is in .ci/*.sh; each step says what it
# is doing, skips what is done, and stops with one sentence where something cannot be had.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup build serve test bench measure size screenshot clean
MAKEFLAGS += --no-print-directory

help: ## Say what there is
	@echo 'make ...'
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s  %s\n", $$1, $$2 }' Makefile

setup: ## Install what building and testing need, and skip what is there
	@bash .ci/setup.sh test

build: ## Build the page into dist/
	@bash .ci/setup.sh page
	@bash .ci/build.sh

serve: build ## Build the page and serve it at an address that is printed (PORT=8080 to choose)
	@node tests/e2e/serve.mjs dist

test: setup ## Run every test, the ones in a real browser too
	@bash .ci/test.sh

bench: ## Measure the simulation natively
	cargo bench --locked

measure: setup ## Measure the built page in Chromium: loading, a frame, going to any moment
	@bash .ci/build.sh
	@node tests/e2e/measure.mjs

size: build ## Weigh the page against its budgets
	@node .ci/size.mjs

screenshot: setup ## Build the page and take the README's picture of it
	@bash .ci/build.sh
	@node tests/e2e/screenshot.mjs

clean: ## Remove what was built; tools shared by clones stay
	rm -rf dist target node_modules tests/e2e/out
