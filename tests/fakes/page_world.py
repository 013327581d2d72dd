"""The library that the tests of the page are served: a video with everything on its axis, and odd files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from corpora.identity import content_hash
from corpora.records import Clip, Evidence, Shot, Video
from rag.server.service import Service
from rag.store.records import FileRow
from rag.store.writing import Writer
from tests.fakes.answer_world import BagOfWords, ImageWords, frames_of
from tests.fakes.served_library import KETTLE, build_world, write_library
from tests.fakes.synthetic import write_video

TOOLS_SECONDS = 24.0
TOOLS = [
    (0.0, 6.0, "lamp", "Switch the lamp on before you begin."),
    (6.0, 12.0, "hammer", "The hammer is made of beryllium."),
    (12.0, 18.0, "spoon", ""),
    (18.0, 24.0, "hammer", "Put the hammer back."),
]
BRUSH = [(0.0, 6.0, "brush", "Wash the brush.")]
CHAPTERS = [(0.0, 12.0, "Tools"), (12.0, 24.0, "Kitchen")]
SHOTS = 4
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
    _put_unmeasured(folder / "library")
    _put_tools(folder / "library", tools)
    root = folder / "root"
    for kind in ("fine", "stuck"):
        (root / kind).mkdir(parents=True)
    world = build_world(folder, index_roots=(root,))
    odd_ids = (row[0] for row in odd)
    return PageWorld(world.service, content_hash(tools), *odd_ids, world.gone, world.passage, root)


def _put_tools(library: Path, path: Path) -> None:
    words, tower, name = BagOfWords(), ImageWords(), content_hash(path)
    facts = path.stat()
    spoken = [Evidence(name, start, end, "subtitle", said) for start, end, _, said in TOOLS if said]
    shown = [Evidence(name, start, end, "ocr", text) for start, end, text in ON_SCREEN]
    chapters = [Evidence(name, start, end, "chapter", text) for start, end, text in CHAPTERS]
    evidence = [*spoken, *shown, *chapters]
    video = Video(name, str(path), "Tools of the kitchen", "", (), TOOLS_SECONDS, 10.0, 160, 120, True, "en")
    with Writer.open(library) as writer:
        row = FileRow(str(path), name, "video", facts.st_size, facts.st_mtime_ns, facts.st_mtime_ns, "1")
        writer.put_file(row)
        writer.begin_video(video)
        writer.add_clips([frames_of(Clip(f"{name}:00000", name, 0.0, TOOLS_SECONDS), TOOLS, tower)])
        writer.put_evidence(name, evidence, words.encode_text([line.text for line in evidence]))
        writer.put_measures(name, [_shot(name, index) for index in range(SHOTS)])
        writer.finish_video(video, {"shots": {}})


def _put_unmeasured(library: Path) -> None:
    """A video of which neither shots nor sound were measured, and no file."""
    name = "1" * 32
    video = Video(name, "/videos/unmeasured.mp4", "", "", (), 6.0, 10.0, 160, 120, True, "")
    with Writer.open(library) as writer:
        writer.put_file(FileRow(video.path, name, "video", 1, 1, 1, "1"))
        writer.begin_video(video)
        writer.add_clips([frames_of(Clip(f"{name}:00000", name, 0.0, 6.0), KETTLE, ImageWords())])
        writer.finish_video(video, {})


def _shot(name: str, index: int) -> Shot:
    start, tone = index * TOOLS_SECONDS / SHOTS, "warm" if index < 2 else "cold"
    key = f"{name}:s{index:05d}"
    return Shot(key, name, start, start + TOOLS_SECONDS / SHOTS, start + 1, tone, 9.0, "live")
