"""What may import what; nothing happens at import."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.fakes.sources import PACKAGES, ROOT, module_names

# What these are is a class of such a library, so they cannot load it later; nothing imports them at start-up.
STANDS_ON_A_LIBRARY = {"rag.llamaindex", "rag.reasoners.llm.local_client"}
HEAVY = {
    *("torch", "transformers", "sentence_transformers", "tokenizers", "huggingface_hub", "open_clip"),
    *("imagebind", "lancedb", "lance", "pyarrow", "faiss", "av", "decord", "cv2", "rapidocr", "onnxruntime"),
    *("faster_whisper", "scenedetect", "pyloudnorm", "llama_index", "openai", "httpx"),
}


def test_nothing_happens_at_import() -> None:
    """Every module in one process: no heavy library, no logging, no thread, no changed environment."""
    modules = sorted(set(module_names()) - STANDS_ON_A_LIBRARY)
    assert len(modules) > 150
    code = (
        "import importlib, logging, os, sys, threading\n"
        "before = dict(os.environ), os.getcwd()\n"
        f"for name in {modules}: importlib.import_module(name)\n"
        "assert before == (dict(os.environ), os.getcwd())\n"
        "assert not logging.root.handlers and threading.active_count() == 1\n"
        f"print(sorted({HEAVY} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import corpora.scan", "numpy pydantic PIL av"),
        ("import rag.indexing.pipeline", "lance lancedb faiss torch onnxruntime"),
        ("import rag.reasoners.llm.reasoner", "llama_index openai httpx torch transformers PIL tenacity"),
        (
            "from corpora.passages import Document, chunk; chunk(Document('d', 't', 'A short text. ' * 40))",
            "llama_index nltk numpy pyarrow pypdfium2",
        ),
        (
            "from indexers.models.verify import list_models; from indexers.settings import EncoderSettings; "
            "list_models(EncoderSettings())",
            "torch huggingface_hub transformers",
        ),
    ],
    ids=["scan", "indexing", "reasoner", "short documents", "models"],
)
def test_what_is_light_loads_nothing_heavy(code: str, heavy: str) -> None:
    code = f"import sys; {code}; print([name for name in sys.argv[1:] if name in sys.modules])"
    command = [sys.executable, "-c", code, *heavy.split()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# One import for each layer, put where the contract of pyproject.toml must refuse it.
FORBIDDEN = {
    "corpora/scan.py": "import localization.windows",
    "indexers/digests.py": "import localization.windows",
    "localization/spans.py": "import indexers.protocol",
    "rag/store/filters.py": "import rag.retrieval.ranking",
    "corpora/identity.py": "import indexers.digests",
    "rag/retrieval/ranking.py": "import rag.answering",
    "rag/answering.py": "import rag.indexing.run",
    "rag/library.py": "import rag._cli.main",
    "rag/reasoners/roles/reading.py": "import eval.trec",
    "rag/records.py": "import rag.settings",
}


def _contract(folder: Path) -> subprocess.CompletedProcess[str]:
    # The linter puts its working directory first on the path: the copy is looked at, not this tree.
    code = "from importlinter.cli import lint_imports_command as run; run()"
    command = [sys.executable, "-c", code, "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_contract_refuses_every_import_that_points_up_or_across(tmp_path: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name, line in FORBIDDEN.items():
        path = tmp_path / name
        path.write_text(f"{path.read_text(encoding='utf-8')}\n\ndef late():\n    {line}\n", encoding="utf-8")
    broken = _contract(tmp_path)
    assert broken.returncode == 1
    wanted = {f"{name[:-3].replace('/', '.')} -> {line.split()[1]}" for name, line in FORBIDDEN.items()}
    # What was written, and nothing besides: without it the copy keeps the contract.
    assert set(re.findall(r"^- *(\S+ -> \S+)", broken.stdout, re.MULTILINE)) == wanted


def test_every_module_is_in_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = settings["contracts"]
    named = {name for layer in contract["layers"] for name in re.findall(r"[\w.]+", layer)}
    top = {name for name in module_names() if name.startswith("rag.") and name.count(".") == 1}
    assert named == top | set(PACKAGES) - {"rag"}
    assert settings["root_packages"] == list(PACKAGES)
