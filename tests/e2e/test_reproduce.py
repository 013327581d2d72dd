"""Every `rag` command of docs/reproduce.md, run on small data in the published layouts.

The language model is the simulated one, through HTTP. In place of `rag models pull` an encoder with random
weights is installed under the same name. `--system` keeps its last name; the others are looked up.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import rag
from eval.runs.folder import default_place, folder_name
from eval.simulated_model.frames import open_index
from eval.simulated_model.server import SimulatedModel, running
from eval.tasks import find_solver, open_task
from eval.tasks.egofact.construction import model_build
from indexers.models.catalogue import known_model
from rag._cli.main import main
from rag.web.fetching import listed_addresses
from tests.fakes.egofact_world import BuildModel
from tests.fakes.pages import BLOCK, SHELL, Command, commands
from tests.fakes.published_layouts import WRITERS, render_videos
from tests.fakes.tiny_models import save_clip, save_siglip

pytestmark = pytest.mark.usefixtures("tiny_text")

PAGE = Path(rag.__file__).parents[1] / "docs" / "reproduce.md"
QUICK = {"RAG_OCR__MODE": "off"}
SMALL = {"RAG_REASONER__IMAGE_SHORT_SIDE": "112", "RAG_REASONER__ZOOM_SHORT_SIDE": "112"}
SIMULATED = "simulated"
TEXT_ENCODER = "RAG_ENCODER__TEXT"


@dataclass(frozen=True)
class Section:
    """A heading of the page with its settings and commands."""

    settings: str
    commands: tuple[Command, ...]


def _sections() -> dict[str, Section]:
    found = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        blocks = BLOCK.findall(part)
        settings = "\n".join(text for kind, text in blocks if kind == "toml")
        printed = tuple(each for kind, text in blocks if kind in SHELL for each in commands(text))
        found[part.partition("\n")[0]] = Section(settings, printed)
    return found


SECTIONS = _sections()
SHARED = SECTIONS.pop(next(iter(SECTIONS)))


@pytest.fixture(scope="module")
def videos(tmp_path_factory) -> list[Path]:
    return render_videos(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def simulated(videos: list[Path]) -> Iterator[str]:
    index = open_index([videos[0].parents[1]])
    with running(SimulatedModel(index, 0.95), SIMULATED) as server:
        yield server.base_url


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """Encoders with random weights, by the names of those that the page takes."""
    home = tmp_path_factory.mktemp("models")
    for name in ("siglip2-base-patch16-224", "siglip-so400m-384"):
        save_siglip(home / name)
    save_clip(home / "metaclip-h14-fullcc2.5b", act="gelu")
    return home


def _run(words: list[str], environment: Mapping[str, str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        assert main(words) == 0, words


def _shortened(words: list[str]) -> list[str]:
    task, at = open_task(words[2], Path(_option(words, "--data"))), words.index("--system") + 1
    names = words[at].split(",")
    for name in names:
        find_solver(task, name)
    kept = list(words)
    kept[at] = names[-1]
    if "--limit" in kept:
        del kept[kept.index("--limit") : kept.index("--limit") + 2]
    return [*kept, "--limit", "1"]


def _option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1] if name in words else ""


def _place(words: list[str]) -> Path:
    """Where `rag eval run` puts its runs."""
    return Path(_option(words, "--out") or default_place(words[2]))


def test_the_page_has_a_section_for_each_paper() -> None:
    assert list(SECTIONS) == list(WRITERS)
    assert not SHARED.commands


@pytest.mark.parametrize("paper", WRITERS)
def test_the_commands_run_with_the_simulated_model(
    paper: str, videos: list[Path], simulated: str, models: Path, tmp_path, monkeypatch
) -> None:
    section = SECTIONS[paper]
    if paper == "EgoFact":  # random vectors do not separate facts, by which its questions are built
        monkeypatch.setenv(TEXT_ENCODER, "all-MiniLM-L6-v2")
    WRITERS[paper](tmp_path, videos)
    settings = re.sub(r'base_url = ".*"', f'base_url = "{simulated}"', SHARED.settings + section.settings)
    # ImageBind needs packages of its own (`make test-extras`).
    settings = settings.replace("imagebind-huge", "siglip2-base-patch16-224")
    settings = re.sub(
        r'^model = "(?!faster-whisper).*"', f'model = "{SIMULATED}"', settings, flags=re.MULTILINE
    )
    (tmp_path / "rag.toml").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    environment = {**QUICK, **SMALL, "RAG_ENCODER__MODELS_DIR": str(models)}
    for folder in _try_all(section, environment):
        (sample,) = _samples(folder)
        assert not sample["parse_failure"], folder
        # At most a plan: one without a new query is refused, and this web has nothing more to be found.
        assert _unread(sample) <= 1, folder


def _try_all(section: Section, environment: dict[str, str]) -> list[Path]:
    """Run the section's commands here, each with one of its systems; the run folders.

    Of several runs into one place the first: of the others the systems are looked up.
    """
    made: list[Path] = []
    for command in section.commands:
        words, what = command.words, command.words[:2]
        given = environment | command.environment
        given |= dict.fromkeys((name for name in command.environment if name.endswith("__MODEL")), SIMULATED)
        if what == ["models", "pull"]:
            known_model(words[2])
        elif what == ["web", "fetch"]:  # which visits the web
            assert listed_addresses(words[2 : words.index("--out")])
        elif what == ["eval", "build"]:
            _build(words, given)
        elif what == ["eval", "run"]:
            words = _shortened(words)
            if _place(words) not in {folder.parent for folder in made}:
                _run(words, given)
                systems = _option(words, "--system").split(",")
                made += [_place(words) / folder_name(name, 0) for name in systems]
        else:
            _run(words, given)
            if what == ["eval", "report"]:
                _check_report(words)
    return made


def _build(words: list[str], environment: Mapping[str, str]) -> None:
    """The construction of EgoFact, its roles played by a script."""
    own = {"KIND": "openai", "BASE_URL": "http://127.0.0.1:1/v1", "MODEL": "scripted"}
    own = {f"RAG_REASONER__{name}": value for name, value in own.items()}
    model = BuildModel()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_build, "open_reasoner", lambda *_: model)
        _run([*words, "--clips", "2"], {**environment, **own})


def _samples(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()]


def _unread(sample: dict[str, Any]) -> int:
    """Replies to one query that could not be read."""
    return sum(row.get("unread", 0) for row in sample.get("usage", {}).values())


def _check_report(words: list[str]) -> None:
    """It has as many systems as there are runs."""
    text = (Path(_option(words, "--out")) / "report.md").read_text(encoding="utf-8")
    folders = words[2 : words.index("--out")]
    count = sum(len(list(Path(folder).iterdir())) for folder in folders)
    assert re.search(rf"\b{count} systems? (was|were) asked", text), words
