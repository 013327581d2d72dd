# One command for everything: the same here and in CI.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
# uv resolves and installs in a tenth of pip's time. torch comes by pip: a user's pip.conf may name a build of it.
INSTALL = $(PIP) uv torch && $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt

# The commands that the tests start compile our modules once, whatever the caller's environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo wheel-demo check fast test all-tests gates lint types layers pages resolve lowest docs golden test-extras clean

demo: .venv/.with-all
	$(BIN)/rag demo --text

# `rag demo` from the built wheel, in an empty folder and without a network.
wheel-demo: .venv/.with-dev
	$(BIN)/python -m pytest tests/e2e/test_demo_offline.py

PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# While working: the gates, and beside them the tests without a `slow` mark.
check: .venv/.with-dev
	$(MAKE) --jobs 2 gates fast

fast: .venv/.with-dev
	$(PYTEST) -m "not slow"

# Everything, which is what CI runs. The resolver waits for the package index most of its time.
test: .venv/.with-dev
	$(MAKE) --jobs 3 gates resolve all-tests

all-tests: .venv/.compiled
	$(PYTEST)

# Bytecode, and what hypothesis keeps of our modules and of Unicode, written once: each of pytest's workers would make
# them for itself. A test that fails, status 1, is seen again in `all-tests`; status 5 is that none has the name.
.venv/.compiled: .venv/.with-dev
	ORT_DISABLE_TELEMETRY=1 $(BIN)/python -c "import faster_whisper, lancedb, onnx.numpy_helper, rapidocr, sentence_transformers, transformers.models.bert.modeling_bert"
	$(BIN)/python -m pytest --quiet -k test_subtitle_parsers > /dev/null || test $$? = 1
	@touch $@

# Writes the generated pages; `pages` compares them.
docs: .venv/.with-dev
	$(BIN)/python docs/write_reference.py
	$(BIN)/python docs/write_api.py
	$(BIN)/python docs/draw_layers.py

# Writes the outputs that tests/golden keeps; read the difference before committing it.
golden: .venv/.with-dev
	$(BIN)/python -m pytest -q tests/golden --write-golden

gates: lint types layers pages

lint: .venv/.with-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.with-dev
	$(BIN)/mypy

layers: .venv/.with-dev
	$(BIN)/lint-imports

pages: .venv/.with-dev
	$(BIN)/python docs/write_reference.py --check
	$(BIN)/python docs/write_api.py --check
	$(BIN)/python docs/draw_layers.py --check

# A resolver's dry run: everything installs from wheels on each platform with the first and the last Python. Intel
# Macs are left out: PyTorch and FAISS no longer publish wheels for them.
PLATFORMS := x86_64-manylinux_2_28 aarch64-manylinux_2_28 aarch64-apple-darwin x86_64-pc-windows-msvc
PYTHONS := 3.11 3.14
resolve: .venv/.with-dev
	@set -e; for platform in $(PLATFORMS); do for python in $(PYTHONS); do \
	  MACOSX_DEPLOYMENT_TARGET=14.0 $(BIN)/uv pip compile --quiet --extra all --python-platform $$platform \
	    --python-version $$python --only-binary :all: pyproject.toml >/dev/null; \
	  echo "installs on $$platform, Python $$python"; done; done

# The tests of the packages with the lowest versions that pyproject.toml allows. Old releases warn of each other.
lowest: .venv/.with-dev
	$(PYTHON) -m venv .venv-lowest
	$(BIN)/uv pip compile --quiet --upgrade --resolution lowest-direct --python .venv-lowest/bin/python --extra all \
	  --extra dev --only-binary :all: --no-binary pytrec-eval-terrier pyproject.toml \
	  --output-file .venv-lowest/lowest.txt >/dev/null
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -c .venv-lowest/lowest.txt torch
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python -c .venv-lowest/lowest.txt -e '.[all,dev]'
	$(subst $(BIN),.venv-lowest/bin,$(PYTEST)) -W default tests/contract tests/golden tests/property tests/unit

# The extras that need torchvision, in an environment of their own. ImageBind's requirements would bring
# torchaudio and pytorchvideo: IMAGEBIND is a checkout or an address of the package, installed without them.
test-extras:
	$(PYTHON) -m venv .venv-extras
	.venv-extras/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[openclip,dev]'
	$(if $(IMAGEBIND),.venv-extras/bin/python -m pip install --quiet --no-deps "$(IMAGEBIND)")
	$(if $(IMAGEBIND),.venv-extras/bin/python -m pip install --quiet einops ftfy iopath regex timm)
	.venv-extras/bin/python -m pytest tests/guarded

clean:
	rm -rf .venv .venv-extras .venv-lowest demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.with-all: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) -e '.[all]'
	@touch $@

.venv/.with-dev: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) -e '.[all,dev]'
	@touch $@ .venv/.with-all
