# One virtual environment, made once and again when the requirements change.
PYTHON ?= python3.11
BIN := .venv/bin
READY := .venv/.ready
JUPYTER := .venv/.jupyter

.PHONY: demo test lint fix models notebooks docs
.DEFAULT_GOAL := help

help:
	@echo "make demo   install, fetch the models, index the demo corpus, answer a question with Typed-RAG"
	@echo "make test   the same set-up, then the whole test suite"
	@echo "make notebooks   the same set-up and Jupyter, which opens on the notebooks"
	@echo "make docs   build/docs/index.html, the documentation"
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

$(JUPYTER): $(READY)
	$(BIN)/python -m pip install --quiet -e ".[notebooks]" -c constraints.txt
	@touch $(JUPYTER)

# Cells that begin with ! find the aspectrag of this environment.
notebooks: models $(JUPYTER)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/jupyter lab notebooks

docs: $(READY)
	$(BIN)/python -m mkdocs build --strict

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
