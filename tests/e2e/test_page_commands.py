"""The `rag` commands of the pages, run in order as printed, over a small corpus with the names they use."""

import io
import os
import re
import shutil
import sys
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.fakes.command import run_rag
from tests.fakes.pages import PAGES, Command, blocks, printed
from tests.fakes.sources import ROOT
from tests.fakes.synthetic import write_video

VIDEOS = {
    "FOLDER/IMG_0412.mp4": "A red cup of coffee is on the bench, beside a drill.",
    "FOLDER/IMG_0413.mp4": "The rocket stays on the ground.",
    "VIDEO.mp4": "The towel is wet, because it was rinsed.",
    "videos/kitchen.mp4": "A hand cuts a carrot at the sink.",
    "videos/lab.mov": "The mirror is made of beryllium.",
    "videos/talk.mp4": "Someone pours coffee into a red cup.",
    "videos/workshop/wheel.mp4": "The wheel bolts are tightened to 110 Nm.",
    "team-a/talks/spring.mp4": "Tomatoes are watered in the morning.",
}
"""Each shows colours for 18 s, and has one subtitle."""
TEXTS = {
    "FOLDER/webb.txt": "The Webb space telescope is in a cleanroom of NASA's Goddard Space Flight Center.\n",
    "team-b/beans.txt": "Beans are watered in the evening.\n",
    "video_browsecomp_pool.jsonl": '{"link": "https://videos.example/watch?v=1", "title": "A distractor"}\n',
    "videos/garden.txt": "Tomatoes are watered in the morning.\n",
    "team-c/peas.txt": "Peas are watered at noon.\n",
}
LIBRARIES = {
    ".rag": ["FOLDER", "VIDEO.mp4", "videos"],
    "team-a/.rag": ["team-a"],
    "team-b/.rag": ["team-b"],
    "team-c/.rag": ["team-c"],
}
"""What each library is made of."""
COPIES = {"videos/.rag": ".rag", "data/shards/1": "team-a/.rag", "data/shards/2": "team-b/.rag"}
FILES = {"measure-your-footage.md": "FOLDER/queries.json", "task.md": "colours.py"}
"""What the first block of a page with another language is saved as."""
NAMES = {"/data/": "data/"}
"""Places of the pages that are outside of any folder of ours."""
NOT_RUN = {
    "*/home/me/*": "is an output: a file of the page's author",
    "serve*": "ends when it is stopped: tests/e2e/test_serve.py",
    "web serve *": "ends when it is stopped: tests/e2e/test_web_serving.py",
    "eval simulate-model *": "ends when it is stopped, on a port of its own",
    "eval run * --out runs/captioned": "asks that model",
    "eval run * --out runs/simulated": "asks that model",
    "models pull *": "downloads: tests/e2e/test_pull_loopback.py",
    "web fetch *": "visits the live web",
    "ask 'How tight should the stem bolts be?'": "needs a model that was pulled",
    "* --engine ray*": "starts a cluster: tests/faults/test_ray_workers.py",
    "* s3://*": "needs an object store: tests/cli/test_object_store.py",
    "ask * --library copy": "asks what was pulled from it",
    "ask 'Which ladder does the man climb?'*": "asks what was indexed from it",
    "eval * *-workbench*": "renders for minutes: tests/e2e/test_workbench_minis.py",
    "eval report runs/captioned *": "reports what was not run",
    "eval build egofact *": "needs Ego4D: tests/e2e/test_reproduce.py",
    "eval run egofact *": "needs Ego4D: tests/e2e/test_reproduce.py",
    "eval run longvideo:*": "needs Video-MME: tests/e2e/test_reproduce.py",
}
"""Why a command is only parsed, by tests/unit/style/test_pages.py; the patterns are those of a shell."""
FIND = ["agent recall * --corpus FOLDER *"]
"""What must find something: these files hold it."""
QUICK = {"RAG_OCR__MODE": "off"}
ERROR = re.compile("^rag: ", re.MULTILINE)
RUN = [page for page in PAGES if page.name != "reproduce.md" and printed(page)]


def expanded(words: list[str]) -> list[str]:
    """The words as a shell hands them on: `~`, and a pattern that files match."""
    words = [os.path.expanduser(word) for word in words]
    for written, here in NAMES.items():
        words = [word.replace(written, here) if word.startswith(written) else word for word in words]
    return [each for word in words for each in sorted(glob(word)) or [word]]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The folder that the commands of each page find, at the place where its libraries were made."""
    home = tmp_path_factory.mktemp("pages") / "home"
    for number, (name, said) in enumerate(VIDEOS.items()):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        colours = [(40 * (number % 6), 250 - 30 * number, 60), (200, 30 * number, 90)]
        write_video(home / name, 18, fps=2, scene=colours, card_seconds=6, subtitles=[(0.5, 17, said)])
    for name, text in TEXTS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")
    with patch.dict(os.environ, QUICK):
        for library, folders in LIBRARIES.items():
            done = run_rag(home, "index", *folders, "--library", library)
            assert done.returncode == 0, done.stderr
        for copy, library in COPIES.items():
            shutil.copytree(home / library, home / copy)
        done = run_rag(home, "web", "build", "DIR", "videos")
        assert done.returncode == 0, done.stderr
    return home.rename(home.with_name("made"))


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_run_in_order(page: Path, made: Path, monkeypatch) -> None:
    home = made.with_name("home")
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(made, home, copy_function=os.link)  # no file of a library is changed in place
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(home))
    if name := FILES.get(page.name):
        Path(name).write_text(blocks(page, "json", "python")[0], encoding="utf-8")
        sys.modules.pop(Path(name).stem, None)  # another test's module of the name
    monkeypatch.syspath_prepend(home)  # which forgets what folders held
    out, failed = "", {}
    for command in printed(page):
        if reason(command) is None:
            given = io.TextIOWrapper(io.BytesIO(out.encode() if command.piped else b""))
            with patch.dict(os.environ, QUICK | command.environment), patch("sys.stdin", given):
                done = run_rag(home, *expanded(command.words))
            out, found_nothing = done.stdout, done.returncode == 1 and not ERROR.search(done.stderr)
            found_nothing &= not any(fnmatchcase(str(command), each) for each in FIND)
            if done.returncode and not found_nothing:
                failed[str(command)] = f"{done.returncode}: {done.stderr}"
            if command.into:
                Path(command.into).write_text(out, encoding="utf-8")
    assert failed == {}


def reason(command: Command) -> str | None:
    """Why it is not run."""
    return next((why for pattern, why in NOT_RUN.items() if fnmatchcase(str(command), pattern)), None)


def test_what_is_not_run_is_printed_and_most_is_run() -> None:
    """No pattern is left over from a command that is gone."""
    found = [command for page in RUN for command in printed(page)]
    unused = [each for each in NOT_RUN if not any(fnmatchcase(str(command), each) for command in found)]
    assert unused == []
    assert sum(reason(command) is None for command in found) >= 40
