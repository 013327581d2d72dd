"""The library that the tests of the page are served, and a tab of a browser on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora.identity import content_hash
from corpora.records import Evidence, Tone, Video
from rag.server.service import Service
from rag.store.writing import Writer
from tests.fakes.answer_world import BagOfWords, ImageWords, put_video
from tests.fakes.served_library import KETTLE, build_world, write_library
from tests.fakes.synthetic import write_video

DESKTOP = {"width": 1280, "height": 900}
TOOLS_SECONDS = 24.0
TOOLS = [
    (0.0, 6.0, "lamp", "Switch the lamp on before you begin."),
    (6.0, 12.0, "hammer", "The hammer is made of beryllium."),
    (12.0, 18.0, "spoon", ""),
    (18.0, 24.0, "hammer", "Put the hammer back."),
]
BRUSH = [(0.0, 6.0, "brush", "Wash the brush.")]
CHAPTERS = [(0.0, 12.0, "Tools"), (12.0, 24.0, "Kitchen")]
ON_SCREEN = [(7.0, 9.0, "BERYLLIUM 99 %")]


@dataclass
class PageWorld:
    """What is served, and by what ids."""

    service: Service
    tools: str
    """H.264 in MP4, with subtitles, text on screen and chapters."""
    hevc: str
    """A file whose images a browser does not decode, while its sound plays."""
    mpeg4: str
    """A file of a container that browsers refuse."""
    gone: str
    """A video whose file does not exist."""
    passage: str
    root: Path
    """A folder below which folders may be indexed; its own say what `tests/fakes/job_child.py` does."""


def build_page_world(folder: Path) -> PageWorld:
    """Media in `folder / "videos"` and the library of `build_world`, with these added before."""
    videos = folder / "videos"
    videos.mkdir()
    tools, hevc, mpeg4 = videos / "tools.mp4", videos / "phone.mp4", videos / "old.avi"
    write_video(tools, TOOLS_SECONDS, audio=True)
    write_video(hevc, 6.0, audio=True, codec="libx265")
    write_video(mpeg4, 6.0, codec="mpeg4")
    odd = [(content_hash(path), path, rows) for path, rows in ((hevc, BRUSH), (mpeg4, KETTLE))]
    write_library(folder / "library", odd)
    unmeasured = Video("1" * 32, "/videos/unmeasured.mp4", "", "", (), 6.0, 10.0, 160, 120, True, "")
    with Writer.open(folder / "library") as writer:
        put_video(writer, unmeasured, KETTLE, ImageWords(), BagOfWords())
        _put_tools(writer, tools)
    root = folder / "root"
    for kind in ("fine", "stuck"):
        (root / kind).mkdir(parents=True)
    world = build_world(folder, index_roots=(root,))
    odd_ids = (row[0] for row in odd)
    return PageWorld(world.service, content_hash(tools), *odd_ids, world.gone, world.passage, root)


def _put_tools(writer: Writer, path: Path) -> None:
    name = content_hash(path)
    shown = [Evidence(name, start, end, "ocr", text) for start, end, text in ON_SCREEN]
    chapters = [Evidence(name, start, end, "chapter", text) for start, end, text in CHAPTERS]
    video = Video(name, str(path), "Tools of the kitchen", "", (), TOOLS_SECONDS, 10.0, 160, 120, True, "en")
    tones: tuple[Tone, ...] = ("warm", "warm", "cold", "cold")
    put_video(writer, video, TOOLS, ImageWords(), BagOfWords(), [*shown, *chapters], tones)


@dataclass
class Site(PageWorld):
    """The world, where it is served."""

    address: str = ""


@dataclass
class Tab:
    """A tab of the browser, and what it did."""

    page: Any
    address: str
    requests: list[str]
    messages: list[str]
    expected: list[str]
    """Parts of console messages that a test causes itself."""

    def open(self, place: str = "") -> None:
        """Open an address of the page, `#/search?q=lamp`, and wait until nothing loads."""
        self.page.goto(f"{self.address}/{place}")
        self.settle()

    def settle(self) -> None:
        """Wait until the view is rendered and nothing in it loads."""
        self.page.wait_for_function(
            "() => document.querySelector('main')?.childElementCount"
            " && !document.querySelector('main [data-placeholder=loading]')"
        )

    def wait(self, condition: str, given: Any = None) -> None:
        """Wait for a function of JavaScript, `() => ...`: the policy refuses strings."""
        self.page.wait_for_function(condition, arg=given)

    @property
    def place(self) -> str:
        """The part of the address that is the state of the view."""
        return self.page.evaluate("() => location.hash")
