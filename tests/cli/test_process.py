"""The real command in a process of its own: start-up, help, pipes, odd names. Each start costs, so few."""

import ast
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import rag
from corpora.records import Passage
from indexers.registry import open_query_encoder
from indexers.settings import EncoderSettings
from rag.store.records import EncoderRef, Meta
from rag.store.writing import Writer
from tests.fakes.command import run_rag
from tests.fakes.store_material import file_row, unit

Done = subprocess.CompletedProcess[bytes]
RAG = [sys.executable, "-m", "rag._cli.main"]
ROOT = Path(rag.__file__).parent.parent


UNNEEDED = {
    *("torch", "transformers", "sentence_transformers", "scipy", "sklearn", "pandas", "lancedb", "PIL", "av"),
    *("cv2", "openvino", "openai", "httpx", "obstore", "ray"),
}
"""Of a search for words and of a question; each takes 30 ms of CPU to some seconds."""


def _start(command: Sequence[str | bytes], cwd: Path = ROOT, **environment: str) -> Done:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=cwd, capture_output=True, env=variables, timeout=60, check=False)


def _run(*words: str | bytes, cwd: Path) -> Done:
    return _start([*RAG, *words], cwd)


def _python(code: str, *words: str, cwd: Path = ROOT, **environment: str) -> Done:
    done = _start([sys.executable, "-c", code, *words], cwd, **environment)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    ("command", "more"), [("search", {"llama_index", "rich", "jinja2", "networkx"}), ("ask", set())]
)
def test_a_question_imports_no_more_than_it_needs(tmp_path, command: str, more: set[str]) -> None:
    encoder = open_query_encoder("all-MiniLM-L6-v2", EncoderSettings())
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(Meta(None, EncoderRef("all-MiniLM-L6-v2", encoder.fingerprint, 384)))
        writer.put_passages("c" * 32, [Passage("c:0", "c", "Bolts", "A bolt is tightened.")], unit(1, 1, 384))
        writer.put_file(file_row("/notes.txt", "c" * 32, kind="passages"))
    code = (
        "import sys; from rag._cli.main import main; code = main(sys.argv[1:])\n"
        "print(code, sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = _python(code, command, "Is a bolt tightened?", "--library", "lib", "--json", cwd=tmp_path)
    assert b"A bolt is tightened." in done.stdout
    status, _, names = done.stderr.decode().splitlines()[-1].partition(" ")
    assert status == "0"
    assert {"lance", "pyarrow", "numpy", "tokenizers"} <= set(ast.literal_eval(names))
    assert not (UNNEEDED | more) & set(ast.literal_eval(names))


def test_help_loads_nothing_heavy_and_is_quick(tmp_path) -> None:
    code = (
        "import sys, time; from rag._cli.main import main; code = main(['--help'])\n"
        "heavy = {'pydantic', 'rich', 'numpy', 'torch', 'lancedb', 'PIL', 'av', 'rag.settings'}\n"
        "print(code, sorted(heavy & set(sys.modules)), time.process_time(), file=sys.stderr)"
    )
    plain = "import sys, time, typer; print(0, [], time.process_time(), file=sys.stderr)"
    best = {code: 99.0, plain: 99.0}
    for program in (code, plain) * 2:
        done = _python(program, cwd=tmp_path)
        assert program is plain or b"Exit codes: 0 success" in done.stdout
        code_and_loaded, seconds = done.stderr.decode().rsplit(maxsplit=1)
        assert code_and_loaded == "0 []"
        best[program] = min(best[program], float(seconds))
    # Against the start of the interpreter with typer in the same minute, whatever else the machine does.
    assert best[code] < 6 * best[plain], best


def test_an_output_that_is_full_is_one_line(tmp_path) -> None:
    done = _start(["sh", "-c", '"$0" "$@" >/dev/full', *RAG, "models", "list"], tmp_path)
    assert done.stderr == b"rag: the output cannot be written: no space left on device\n"
    assert done.returncode == 1


def test_closed_streams_harm_nothing(tmp_path) -> None:
    """A file that takes the free number would be written into."""
    (tmp_path / "a.txt").write_text("Cats purr when they are content.\n")
    line = '"$0" -m rag._cli.main index a.txt --dry-run <&- >&- 2>&-'
    done = _start(["sh", "-c", line, sys.executable], tmp_path, RAG_ENCODER__IMAGE="none")
    assert done.returncode == 0


def test_a_working_folder_that_is_gone_is_said(tmp_path) -> None:
    (tmp_path / "gone").mkdir()
    command = ["sh", "-c", 'rmdir ../gone; exec "$0" -m rag._cli.main stats', sys.executable]
    done = _start(command, tmp_path / "gone")
    assert done.stderr == b"rag: the working folder no longer exists; change to one that does\n"
    assert done.returncode == 2


def test_version_and_bare_call(tmp_path) -> None:
    done = run_rag(tmp_path, "--version")
    assert (done.returncode, done.stdout) == (0, f"rag {rag.__version__}\n")
    bare = run_rag(tmp_path)
    assert (bare.returncode, bare.stdout) == (2, "")
    assert "Commands:" in bare.stderr


def test_a_missing_folder_with_an_odd_name_is_one_safe_line(tmp_path) -> None:
    done = _run("index", b"caf\xe9\n\x1b[31m", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"caf\\xe9\\n\\x1b[31m" in done.stderr
    assert done.stderr.count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["typing", "numpy"])
def test_an_interrupt_during_the_imports_is_one_line(module: str) -> None:
    code = (
        "import sys; module = sys.argv.pop(1)\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == module: raise KeyboardInterrupt\n"
        "sys.modules.pop('typing', None); sys.meta_path.insert(0, Interrupt())\n"
        "from rag._cli.main import run; sys.argv = ['rag', 'stats']; run()"
    )
    done = _start([sys.executable, "-c", code, module])
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"rag: interrupted\n")


def test_a_job_ends_with_a_server_that_is_killed(tmp_path) -> None:
    job = (
        "import time; from pathlib import Path; from rag._cli.output import run_as_job; run_as_job()\n"
        "Path('begun').touch()\n"
        "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    Path('interrupted').touch()\n"
    )
    server = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {job!r}], cwd={str(tmp_path)!r})"
    with subprocess.Popen([sys.executable, "-c", server], env={**os.environ, "PYTHONPATH": str(ROOT)}) as one:
        assert _appears(tmp_path / "begun")
        one.kill()
    assert _appears(tmp_path / "interrupted")


def _appears(path: Path) -> bool:
    """Whether a file is made within half a minute."""
    end = time.monotonic() + 30
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)
    return path.exists()


def test_a_poor_locale_breaks_no_output() -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code = (
        "from rag._cli.output import print_lines, echo_stderr\n"
        r"words = '\u201c\xfc\u201d \u65e5\u672c'; print_lines([words]); echo_stderr(words)"
    )
    done = _python(code, **plain)
    assert done.stdout.decode() == done.stderr.decode() == r"\u201c\xfc\u201d \u65e5\u672c" + "\n"


def test_a_reader_that_leaves_is_no_error(tmp_path) -> None:
    code = (
        "import sys; from rag._cli.output import print_json, print_lines\n"
        "sys.stdin.readline()\n"
        "print_lines('x' * 1000 for _ in range(1000)); print_json({'a': 1}); sys.exit(3)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        process.stdin.write(b"go\n")
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 3
