"""What may import what, what `rag` exports; nothing happens at import."""

import re
import subprocess
import sys
import tomllib

import pytest

import rag
from tests.fakes.sources import PACKAGES, ROOT, module_names

# What these are is a class of such a library, so they cannot load it later; nothing imports them at start-up.
STANDS_ON_A_LIBRARY = {"rag.llamaindex", "rag.reasoners.llm.local_client"}
HEAVY = {
    *("torch", "transformers", "sentence_transformers", "tokenizers", "huggingface_hub", "open_clip"),
    *("imagebind", "lancedb", "lance", "pyarrow", "faiss", "av", "decord", "cv2", "rapidocr", "onnxruntime"),
    *("faster_whisper", "scenedetect", "pyloudnorm", "llama_index", "openai", "httpx"),
}


IMPORT_ALL = """
import importlib, logging, os, select, signal, sys, threading

def import_all():
    for name in {modules}:
        importlib.import_module(name)

before = dict(os.environ), os.getcwd()
import_all()
assert before == (dict(os.environ), os.getcwd())
assert not logging.root.handlers and threading.active_count() == 1
print(sorted({heavy} & set(sys.modules)))

# What other packages need of POSIX, they have now; ours are imported again on a system that has none of it.
for name in [name for name in sys.modules if name.partition(".")[0] in {packages}]:
    del sys.modules[name]
sys.modules.update(dict.fromkeys(("fcntl", "grp", "pwd", "resource", "termios")))
lacking = {{
    os: "O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK fork getuid geteuid killpg posix_fadvise pread preadv "
    "pwrite readv register_at_fork RWF_NOWAIT sched_getaffinity setsid statvfs writev",
    select: "poll",
    signal: "SIGALRM SIGHUP SIGKILL SIGPIPE SIGUSR1",
}}
for module, names in lacking.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
import_all()
"""


@pytest.mark.slow
def test_nothing_happens_at_import_and_windows_lacks_nothing() -> None:
    """Every module in one process: no heavy library, no logging, no thread, no changed environment."""
    modules = sorted(set(module_names()) - STANDS_ON_A_LIBRARY)
    assert len(modules) > 150
    code = IMPORT_ALL.format(modules=modules, heavy=HEAVY, packages=PACKAGES)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import corpora.scan", "numpy pydantic PIL av"),
        ("import rag.indexing.pipeline", "lance lancedb faiss torch onnxruntime"),
        ("import rag.reasoners.llm.reasoner", "llama_index openai httpx torch transformers PIL"),
        (
            "from corpora.passages import Document, chunk; chunk(Document('d', 't', 'A short text. ' * 40))",
            "llama_index nltk numpy pyarrow pypdfium2",
        ),
        (
            "from indexers.models.lookup import list_models; from indexers.settings import EncoderSettings; "
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


def test_every_module_is_in_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = settings["contracts"]
    named = {name for layer in contract["layers"] for name in re.findall(r"[\w.]+", layer)}
    top = {name for name in module_names() if name.startswith("rag.") and name.count(".") == 1}
    assert named == top | set(PACKAGES) - {"rag"}
    assert settings["root_packages"] == list(PACKAGES)


def test_the_public_surface() -> None:
    assert rag.__all__ == sorted(rag.__all__)
    assert set(rag.__all__) <= set(dir(rag))
    for name in rag.__all__:
        assert getattr(rag, name) is not None
    assert rag.Library.__module__ == "rag.library"
    assert {"Answer", "Library", "Question", "SearchFilter", "Settings", "load_settings"} <= set(rag.__all__)
    returned = {"Check", "Clip", "Evidence", "Forecast", "Passage", "Problem", "Shot", "SoundTrack", "Video"}
    assert returned <= set(rag.__all__), "what the fields of results are made of"
    with pytest.raises(AttributeError, match="no attribute 'Libary'"):
        _ = rag.Libary


def test_the_version_is_said_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert rag.__version__ == project["version"]
