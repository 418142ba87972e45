# One virtual environment, made once and again when the requirements change.
PYTHON ?= python3.11
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint fix models
.DEFAULT_GOAL := help

help:
	@echo "make demo   install, fetch the models, index the demo corpus, answer a question with Typed-RAG"
	@echo "make test   the same set-up, then the whole test suite"
	@echo "make lint   ruff and pyright          make fix   what ruff can mend"

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e ".[embedded,train,dev]" -c constraints.txt
	@touch $(READY)

models: $(READY)
	$(BIN)/aspectrag lm pull

demo: models
	$(BIN)/aspectrag ask "Should countries keep building nuclear power stations?" --method typed

test: models
	$(BIN)/python -m pytest -n 2 -m "not embedded"
	$(BIN)/python -m pytest -m embedded

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
