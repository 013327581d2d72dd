"""Indexing the objects of a store again and again while they come, go, move, change and fail."""

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from corpora.objects import StoreError
from corpora.video.reader import MediaReader
from rag._cli.main import main
from rag.export.found import select_of
from rag.export.writing import write_export
from rag.indexing import IndexReport, index
from rag.indexing.missing import find_gone
from rag.library import Library
from rag.server.app import build_app
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.settings import Settings, load_settings
from tests.fakes.library_dump import dump
from tests.fakes.object_store import FakeStore
from tests.fakes.synthetic import write_video

pytestmark = pytest.mark.usefixtures("tiny_text")


@pytest.fixture(scope="module")
def material(tmp_path_factory) -> Path:
    """Three videos, one there twice with other subtitles, one damaged, and a document."""
    folder = tmp_path_factory.mktemp("material")
    write_video(folder / "a.mp4", 4, fps=4)
    write_video(folder / "b.mkv", 3, fps=4, audio=True)
    (folder / "again").mkdir()
    shutil.copy(folder / "a.mp4", folder / "again" / "copy.mp4")
    (folder / "a.en.srt").write_text("1\n00:00:02,000 --> 00:00:03,500\nTighten the bolt.\n")
    (folder / "again" / "copy.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nA clockwise turn.\n")
    (folder / "b.info.json").write_text('{"title": "Chains", "tags": ["oil"]}')
    (folder / "bad.mp4").write_bytes(b"no video" * 100)
    (folder / "notes.md").write_text("# Bolts\n\nA bolt that is too tight will strip its thread.\n")
    return folder


@pytest.fixture
def corpus(material: Path, bucket: FakeStore) -> FakeStore:
    bucket.upload(material, "videos")
    bucket.requests.clear()
    return bucket


@pytest.fixture
def settings(tmp_path, bucket: FakeStore) -> Settings:
    return load_settings(
        flags={
            "library": tmp_path / "library",
            "ocr.mode": "off",
            "encoder.image": "none",
            "storage.scratch": tmp_path / "scratch",
            **{
                f"storage.{name}": value
                for name, value in bucket.storage.model_dump(exclude={"scratch"}).items()
            },
        }
    )


def run(corpus: FakeStore, settings: Settings, **choices: Any) -> IndexReport:
    return index([f"{corpus.url}/videos"], settings=settings, **choices)


def rows(settings: Settings, root: str) -> list[str]:
    return [line.replace(json.dumps(root)[1:-1], "ROOT") for line in dump(settings.library)]


@pytest.fixture(scope="module")
def expected(material: Path, tmp_path_factory) -> list[str]:
    """The library of the same files on disk."""
    library = tmp_path_factory.mktemp("local") / "library"
    settings = load_settings(flags={"library": library, "ocr.mode": "off", "encoder.image": "none"})
    report = index([material], settings=settings)
    assert (report.indexed, report.copies, report.exit_code) == (3, 1, 3)
    return rows(settings, str(material))


def test_an_unchanged_corpus_is_listed_and_nothing_is_fetched(corpus: FakeStore, settings: Settings) -> None:
    """Nor by a dry run of a new one; and of a changed one its own object and sidecar."""
    ahead = run(corpus, settings, dry_run=True)
    assert corpus.gets() == []
    assert (ahead.forecast.new_files, ahead.copies) == (4, 1)
    assert any("): estimated from their sizes" in line for line in ahead.stages)
    assert not settings.library.exists()
    first = run(corpus, settings)
    corpus.requests.clear()
    again = run(corpus, settings)
    assert (again.indexed, again.unchanged, again.exit_code) == (0, first.indexed + first.copies, 3)
    assert [request.path for request in corpus.requests] == [f"/{corpus.bucket}"]
    corpus.open("videos").put("b.mkv", _content(corpus, "b.mkv") + b"0")
    corpus.requests.clear()
    changed = run(corpus, settings)
    assert (changed.indexed, {request.path[-5:] for request in corpus.gets()}) == (1, {"b.mkv", ".json"})


def _content(corpus: FakeStore, name: str) -> bytes:
    found = corpus.open("videos").read(name)
    return found[0]


def test_moved_and_removed_objects_are_known(corpus: FakeStore, settings: Settings) -> None:
    """And nothing is gone while the store cannot be reached."""
    run(corpus, settings)
    with Library.open(settings=settings) as library:
        before = library.indexed_paths()
    corpus.intercept = lambda _: 503
    hasty = settings.model_copy(update={"storage": settings.storage.model_copy(update={"retries": 0})})
    with pytest.raises(StoreError, match=r"503.*run the same command again"):
        run(corpus, hasty, prune="all")
    assert find_gone(before, hasty.storage) == []
    corpus.intercept = lambda _: None
    with Library.open(settings=settings) as library:
        assert library.indexed_paths() == before
    store = corpus.open("videos")
    store.put("deep/c.mkv", _content(corpus, "b.mkv"))
    store.put("deep/c.info.json", _content(corpus, "b.info.json"))
    store.delete(["b.mkv", "b.info.json", "notes.md"])
    report = run(corpus, settings)
    assert (report.indexed, report.moved, report.missing) == (0, 1, 1)
    pruned = run(corpus, settings, prune=True)
    assert (pruned.removed, pruned.missing) == (1, 0)
    with Library.open(settings=settings) as library:
        paths = library.indexed_paths()
        assert [path.removeprefix(f"{corpus.url}/videos/") for path in paths] == [
            "a.mp4",
            "again/copy.mp4",
            "deep/c.mkv",
        ]
        removed = library.remove([f"{corpus.url}/videos/deep/"])
        assert removed.paths == (f"{corpus.url}/videos/deep/c.mkv",)


def test_a_library_of_objects_is_that_of_the_same_files_though_the_store_fails(
    corpus: FakeStore, expected: list[str], settings: Settings, tmp_path
) -> None:
    """One request in ten fails, one way or another; and of one object every one."""
    count = itertools.count()
    statuses = itertools.cycle([500, 503, 429])

    def failing(environ: dict[str, Any]) -> int | None:
        if environ["PATH_INFO"].endswith("notes.md"):
            return 403
        return next(statuses) if next(count) % 10 == 3 else None

    corpus.intercept = failing
    report = run(corpus, settings)
    assert sorted(problem.path[-8:] for problem in report.problems) == ["/bad.mp4", "notes.md"]
    corpus.intercept = lambda _: None
    run(corpus, settings)
    assert rows(settings, f"{corpus.url}/videos") == expected
    assert list((tmp_path / "scratch").iterdir()) == []


def test_windows_and_files_are_read_from_the_store(
    corpus: FakeStore, material: Path, settings: Settings, tmp_path
) -> None:
    run(corpus, settings)
    address = f"{corpus.url}/videos/b.mkv"
    with Library.open(settings=settings) as library:
        corpus.requests.clear()
        video_id = library.video_id("b.mkv")
        cited = library.resolve(f"{address}@1-2")
        assert (library.path_of(video_id), cited.path) == (address, address)
        assert corpus.requests == []
        frames = library.engine.read_frames(address, np.array([1.0]))
        assert {(r.method, r.path[-6:]) for r in corpus.requests} == {("HEAD", "/b.mkv"), ("GET", "/b.mkv")}
        with MediaReader() as reader:
            side = library.settings.reasoner.short_side(zoomed=False)
            expected = reader.frames_at(str(material / "b.mkv"), [1.0], short_side=side)
        np.testing.assert_array_equal(frames.images, expected.images)
        assert [check.ok for check in library.doctor() if check.name == "indexed files"] == [True]
        selects = [select_of(cited)]
        write_export(selects, "csv", tmp_path / "out.csv", storage=settings.storage)
        assert address in (tmp_path / "out.csv").read_text()
    service = Service(settings, LibrarySession(settings), tmp_path / "cache")
    try:
        with TestClient(build_app(service), base_url="http://127.0.0.1:8650") as client:
            content = (material / "b.mkv").read_bytes()
            route = f"/v1/videos/{video_id}"
            row = client.get(route).json()
            assert (row["path"], row["state"]) == (address, "ok")
            assert client.get(f"{route}/file").content == content
            part = client.get(f"{route}/file", headers={"Range": "bytes=10-19"})
            assert (part.status_code, part.content) == (206, content[10:20])
            assert part.headers["content-range"] == f"bytes 10-19/{len(content)}"
            beyond = client.get(f"{route}/file", headers={"Range": f"bytes={len(content)}-"})
            assert beyond.status_code == 416
            assert client.get(f"{route}/thumbnail").status_code == 200
            corpus.open("videos").put("b.mkv", content + b"0")
            changed = client.get(f"{route}/file")
            assert (changed.status_code, changed.json()["type"][-12:]) == (409, "file-changed")
    finally:
        service.close()


def test_commands_take_addresses(
    corpus: FakeStore, settings: Settings, tmp_path, monkeypatch, capsys
) -> None:
    for name, value in corpus.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RAG_OCR__MODE", "off")
    monkeypatch.setenv("RAG_ENCODER__IMAGE", "none")
    monkeypatch.chdir(tmp_path)
    address, library = f"{corpus.url}/videos/", ["--library", str(settings.library)]
    assert main(["index", address, *library, "--exclude", "bad.mp4"]) == 0
    assert main(["show", f"{address}b.mkv@1-2", "--out", "b.png", "--clip", "b.mp4", *library]) == 0
    assert main(["export", f"{address}b.mkv@1-2", "--out", "b.edl", *library]) == 0
    assert {path.name for path in tmp_path.glob("b.*")} == {"b.png", "b.mp4", "b.edl"}
    assert main(["remove", f"{address}again", *library]) == 0
    removed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert removed["paths"] == [f"{address}again/copy.mp4"]
    store = corpus.open("videos")
    store.delete([found.key for found in store.list()])
    assert main(["index", address, *library, "--prune"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    command = f"rag remove {address.rstrip('/')} {' '.join(library)}"
    assert line.endswith(
        f"no such object, and none below it; the library has files from there; to remove them: {command}"
    )
    assert main([*command.split()[1:], "--yes"]) == 0
    assert main(["index", address, *library, "--prune"]) == 1
    assert "rag remove" not in capsys.readouterr().err
