"""The rules of the house that no linter knows, each proven here to refuse what it is there to refuse."""

from __future__ import annotations

import ast
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import rag
from rag import errors, records

ROOT = Path(rag.__file__).parent.parent
THIS = "tests/unit/rag/test_house_rules.py"
PACKAGES = ("rag", "indexers", "corpora", "localization", "eval")
PARTS = (*PACKAGES, "tests", "benchmarks", "examples", "training")

# What these are is a class of such a library, so they cannot load it later; nothing imports them at start-up.
STANDS_ON_A_LIBRARY = {
    "rag.llamaindex",
    "rag.reasoners.llm.endpoint",
    "rag.reasoners.llm.local_client",
    "rag.reasoners.llm.openai_client",
}
HEAVY = {
    *(
        "torch",
        "transformers",
        "sentence_transformers",
        "tokenizers",
        "huggingface_hub",
        "open_clip",
        "imagebind",
    ),
    *(
        "lancedb",
        "lance",
        "pyarrow",
        "faiss",
        "av",
        "decord",
        "cv2",
        "rapidocr",
        "onnxruntime",
        "faster_whisper",
        "scenedetect",
        "pyloudnorm",
    ),
    *("llama_index", "openai", "httpx"),
}


def _sources(*parts: str) -> Iterator[tuple[str, str]]:
    for part in parts:
        for path in sorted((ROOT / part).rglob("*.py")):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def _shadows_eval(source: str) -> bool:
    """Whether an import binds the name `eval`, which is a builtin and a package of ours."""
    return any(
        (alias.asname or alias.name.partition(".")[0]) == "eval"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    )


@pytest.mark.parametrize(
    "line", ["import eval", "import eval.trec", "from a import b as eval", "from rag import eval"]
)
def test_a_shadowed_builtin_is_seen(line: str) -> None:
    assert _shadows_eval(f"def late():\n    {line}\n")


@pytest.mark.parametrize("line", ["from eval.trec import write_run", "import evaluate", "import ast as tree"])
def test_an_honest_import_is_let_through(line: str) -> None:
    assert not _shadows_eval(line)


def test_nothing_shadows_the_builtin_eval() -> None:
    sources = dict(_sources(*PARTS))
    assert len(sources) > 200
    assert [name for name, source in sources.items() if _shadows_eval(source)] == []


def _too_large(source: str) -> list[str]:
    tree, found = ast.parse(source), []
    if len(source.splitlines()) > 600:
        found.append("the file has over 600 lines")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > 80:
                found.append(f"{node.name} has {lines} lines")
    return found


def test_files_and_functions_are_small_and_say_why_they_exist() -> None:
    long_function = "def f():\n" + "    pass\n" * 80
    assert _too_large(long_function) == ["f has 81 lines"]
    assert _too_large("\n" * 601) == ["the file has over 600 lines"]
    odd = {name: _too_large(source) for name, source in _sources(*PACKAGES, "benchmarks", "examples")}
    assert {name: found for name, found in odd.items() if found} == {}
    assert [name for name, source in _sources(*PARTS) if not ast.get_docstring(ast.parse(source))] == []


def _modules() -> list[str]:
    roots = [str(ROOT / package) for package in PACKAGES]
    return [
        found.name
        for package, root in zip(PACKAGES, roots, strict=True)
        for found in pkgutil.walk_packages([root], prefix=f"{package}.", onerror=lambda _: None)
    ]


def test_nothing_happens_at_import() -> None:
    """Every module in one process: no heavy library, no logging, no thread, no changed environment."""
    modules = sorted(set(_modules()) - STANDS_ON_A_LIBRARY)
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


def test_the_public_surface() -> None:
    assert rag.__all__ == sorted(rag.__all__)
    assert set(rag.__all__) <= set(dir(rag))
    for name in rag.__all__:
        assert getattr(rag, name) is not None
    assert rag.Library.__module__ == "rag.library"
    assert {"Answer", "Library", "Question", "SearchFilter", "Settings", "load_settings"} <= set(rag.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Libary'"):
        _ = rag.Libary
    for module in (errors, records):
        public = {
            name
            for name, thing in vars(module).items()
            if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
        }
        assert public <= set(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)
        assert module.__all__ == sorted(module.__all__)


def test_the_version_is_said_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert rag.__version__ == project["version"]


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    drawn: list[tuple[str, str]] = []
    above = ["RagError"]
    for line in (errors.__doc__ or "").splitlines():
        if branch := re.match(r"([│ ]*)[├└]── (\w+)", line):
            depth = len(branch[1]) // 4 + 1
            del above[depth:]
            drawn.append((branch[2], above[-1]))
            above.append(branch[2])
    real = [
        (name, getattr(errors, name).__bases__[0].__name__) for name in errors.__all__ if name != "RagError"
    ]
    assert len(drawn) > 20
    assert sorted(drawn) == sorted(real)


# One line a room, put where the contract of pyproject.toml must refuse it.
FORBIDDEN = {
    "corpora/globs.py": "import localization.windows",
    "indexers/digests.py": "import localization.windows",
    "localization/spans.py": "import indexers.protocol",
    "rag/store/filters.py": "import rag.retrieval.fusion",
    "corpora/identity.py": "import indexers.digests",
    "rag/retrieval/fusion.py": "import rag.answering",
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


def test_the_contract_of_the_rooms_refuses_every_way_up_and_across(tmp_path: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    clean = _contract(tmp_path)
    assert clean.returncode == 0, clean.stdout
    for name, line in FORBIDDEN.items():
        path = tmp_path / name
        path.write_text(f"{path.read_text(encoding='utf-8')}\n\ndef late():\n    {line}\n", encoding="utf-8")
    broken = _contract(tmp_path)
    assert broken.returncode == 1
    for name, line in FORBIDDEN.items():
        importer = name.removesuffix(".py").replace("/", ".")
        assert f"{importer} -> {line.split()[1]}" in broken.stdout


def test_every_module_stands_in_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = settings["contracts"]
    named = {room for layer in contract["layers"] for room in re.findall(r"[\w.]+", layer)}
    top = {name for name in _modules() if name.startswith("rag.") and name.count(".") == 1}
    assert named == top | set(PACKAGES) - {"rag"}
    assert settings["root_packages"] == list(PACKAGES)


PATH_NAMED = re.compile(
    r"(?<![\w/.-])(?:rag|corpora|indexers|localization|eval|benchmarks|tests|docs|examples)/[\w/.-]*\w"
)


def _rotten(text: str) -> list[str]:
    """Paths of the tree that a page names and that are not there, unless their line says *planned*."""
    named = {path for line in text.splitlines() if "lanned" not in line for path in PATH_NAMED.findall(line)}
    return sorted(path for path in named if not (ROOT / path).exists())


def test_pages_and_sources_name_only_what_is_there() -> None:
    assert _rotten("see `rag/answering.py`, rag/no_such.py and `corpora/gone/`") == [
        "corpora/gone",
        "rag/no_such.py",
    ]
    assert _rotten("`rag/web/` (*planned*)") == []
    for name in ("README.md", "docs/design/architecture.md"):
        page = (ROOT / name).read_text(encoding="utf-8")
        assert len(PATH_NAMED.findall(page)) > 5
        assert _rotten(page) == []
    rotten = {name: _rotten(source) for name, source in _sources(*PACKAGES, "benchmarks") if name != THIS}
    assert {name: paths for name, paths in rotten.items() if paths} == {}


def test_the_tree_in_the_readme_names_every_room() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    tree = readme.split("## The house")[1].split("```")[1]
    named = set(re.findall(r"^ *(\w+)/ ", tree, flags=re.MULTILINE))
    rooms = {path.parent.name for part in ("rag", "eval") for path in (ROOT / part).glob("*/__init__.py")}
    rooms |= {"workbench", "bundled"}
    assert named == rooms | {*PARTS, "docs"}


# An exception from a gate carries its code, and behind it why it is right.
SILENCED = re.compile(r"# (?:noqa|type: ignore)(?P<code>(?:: ?|\[)[A-Za-z][\w, -]*\]?)?(?P<why>.*)")


def _unexplained(source: str) -> list[str]:
    return [
        match[0]
        for match in SILENCED.finditer(source)
        if not match["code"] or not re.search(r"\w{2}", match["why"])
    ]


def test_no_gate_is_silenced_without_a_code_and_a_reason() -> None:
    silent = ("noqa", "noqa: B009", "type: ignore", "type: ignore[misc]", "type: ignore[misc]  #")
    for comment in silent:
        assert _unexplained(f"x = 1  # {comment}\n") == [f"# {comment}"]
    for comment in ("noqa: B009 (only some have it)", "type: ignore[misc]  # torch is untyped"):
        assert _unexplained(f"x = 1  # {comment}\n") == []
    found = {name: _unexplained(source) for name, source in _sources(*PARTS) if name != THIS}
    assert {name: comments for name, comments in found.items() if comments} == {}
