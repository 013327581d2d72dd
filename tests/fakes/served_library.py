"""A small library with real video files behind a server: made-up vectors, so no model is loaded."""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from corpora.identity import content_hash
from corpora.records import Passage, Problem, Video
from rag.server.app import build_app
from rag.server.security import AccessPolicy
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.settings import Settings
from rag.store.records import EncoderRef, FileRow, Meta
from rag.store.writing import Writer
from tests.fakes.answer_world import BagOfWords, ImageWords, put_video
from tests.fakes.synthetic import write_video

SECONDS = 6.0
LAMP = [(0.0, 3.0, "lamp", "Switch the <b>lamp</b> on."), (3.0, 6.0, "drill", "Drill four holes.")]
KETTLE = [(0.0, 6.0, "kettle", "")]
ODD_NAME = b"caf\xe9 kettle.mkv"


@dataclass
class World:
    """What is served, and by what names."""

    folder: Path
    service: Service
    lamp: str
    """Id of an MP4 file with subtitles."""
    kettle: str
    """Id of a Matroska file whose name is not UTF-8."""
    gone: str
    """Id of a video whose file does not exist."""
    lamp_file: Path
    passage: str = "p0"

    def app(self, policy: AccessPolicy | None = None) -> Any:
        """The application."""
        return build_app(self.service, policy)


def build_world(folder: Path, **options: Any) -> World:
    """Three videos and a file of passages in `folder / "library"`; media in `folder / "media"`.

    `options`: further fields of the service.
    """
    media = folder / "media"
    media.mkdir()
    lamp_file, kettle_file = media / "lamp.mp4", media / os.fsdecode(ODD_NAME)
    write_video(lamp_file, SECONDS, audio=True)
    plain = media / "kettle.mkv"
    write_video(plain, SECONDS, size=(90, 160))
    plain.rename(kettle_file)
    lamp, kettle, gone = content_hash(lamp_file), content_hash(kettle_file), "0" * 32
    write_library(folder / "library", [(lamp, lamp_file, LAMP), (kettle, kettle_file, KETTLE)])
    write_library(folder / "library", [(gone, media / "gone.mp4", KETTLE)])
    service = serve(folder / "library", folder / "cache", **options)
    return World(folder, service, lamp, kettle, gone, lamp_file)


def serve(library: Path, cache: Path, **options: Any) -> Service:
    """A service over a library of `write_library`, whose encoders are made-up."""
    settings = Settings(library=library)
    service = Service(settings, LibrarySession(settings), cache, **options)
    with service.library() as opened:
        vars(opened.engine).update(text_encoder=BagOfWords(), tower=ImageWords())
    return service


def write_library(folder: Path, videos: list[tuple[str, Path, Any]]) -> None:
    """Add videos (id, file, rows of `answer_world.Script`) and, the first time, one file of passages."""
    words, tower = BagOfWords(), ImageWords()
    with Writer.open(folder) as writer:
        if writer.meta is None:
            image = EncoderRef(tower.name, tower.fingerprint, tower.dim)
            writer.set_meta(Meta(image, EncoderRef(words.name, words.fingerprint, words.dim)))
            text = "Descale a kettle with vinegar & water."
            passage = Passage("p0", "d0", "Kettles", text, (12, 13))
            writer.put_passages("texts", [passage], words.encode_text([text]))
            writer.put_file(FileRow("/texts/all.pdf", "texts", "passages", 1, 1, 1, "1"))
            writer.put_problem(Problem("/texts/odd.mp4", "not a video"), "1")
        for video_id, path, rows in videos:
            size = (160, 120) if path.suffix == ".mp4" else (90, 160)
            video = Video(video_id, str(path), path.stem, "", (), SECONDS, 10.0, *size, True, "")
            put_video(writer, video, rows, tower, words, tones=("warm", "cold"))
        writer.maintain()


@contextlib.contextmanager
def serving(app: Any, listener: socket.socket | None = None) -> Iterator[str]:
    """The address of an application on a free port, in a thread, to the end of the block."""
    listener = listener or socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextlib.contextmanager
def served(service: Service, policy: AccessPolicy | None = None) -> Iterator[str]:
    """The address of the real application over a service."""
    with serving(build_app(service, policy)) as address:
        try:
            yield address
        finally:
            service.stop()
