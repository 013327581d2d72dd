# One command for everything: the same here and in CI.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test gates clean

demo: .venv/.with-ocr
	$(BIN)/rag demo

test: .venv/.with-dev
	$(MAKE) --no-print-directory gates
	$(BIN)/python -m pytest

gates: .venv/.with-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf .venv demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.with-ocr: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) -e '.[ocr]'
	@touch $@

.venv/.with-dev: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) -e '.[all,dev]'
	@touch $@ .venv/.with-ocr
