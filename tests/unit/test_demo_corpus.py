"""The corpus of the demo: it is what it promises to be, and the same on every machine."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import av
import numpy as np
import pytest

from corpora.demo import demo_questions, write_demo_corpus
from corpora.demo.filming import FPS, THINGS, film_pictures
from corpora.demo.story import FILMS
from corpora.passages import Document, chunk, read_documents
from corpora.scan import scan
from corpora.video.sidecars import read_sidecars


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "corpus"
    start = time.process_time()
    write_demo_corpus(folder)
    assert time.process_time() - start < 30
    return folder


def hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(f.relative_to(folder)): hashlib.blake2b(f.read_bytes()).hexdigest() for f in files}


def test_everything_in_it_is_found_and_nothing_is_odd(corpus: Path) -> None:
    found = scan(corpus)
    assert found.problems == ()
    assert found.ignored == 0
    assert sum(file.kind == "video" for file in found.files) == len(FILMS) == 6
    assert sum(file.kind == "passages" for file in found.files) == 13
    for file in found.files:
        assert read_sidecars(file.sidecars).notes == ()


def test_films_have_the_promised_shape(corpus: Path) -> None:
    for film in FILMS:
        with av.open(str(corpus / "videos" / film.name)) as container:
            stream = container.streams.video[0]
            assert (stream.width, stream.height, stream.average_rate) == (640, 360, FPS)
            assert stream.codec_context.name == "h264"
            seconds = sum(scene.seconds for scene in film.scenes)
            assert container.duration / 1e6 == pytest.approx(seconds, abs=0.1)
            assert 20 <= seconds <= 60
            assert bool(container.streams.subtitles) is (film.words == "embedded")
            assert container.metadata["title"] == film.title


def test_the_narration_is_read_back_as_it_was_written(corpus: Path) -> None:
    sidecars = {Path(file.path).name: file.sidecars for file in scan(corpus).files}
    for film in FILMS:
        texts = read_sidecars(sidecars[film.name]).texts
        read = [(text.start, text.end, text.text) for text in texts if text.kind == "subtitle"]
        beside = film.said if film.words in ("srt", "vtt", "ass") else ()
        assert read == [(said.start, said.end, said.text) for said in beside]


def test_the_narration_lies_within_its_film_and_does_not_overlap() -> None:
    for film in FILMS:
        ends = [0.0]
        for said in film.said:
            assert ends[-1] <= said.start < said.end
            ends.append(said.end)
        assert ends[-1] <= sum(scene.seconds for scene in film.scenes)
        assert all(scene.thing in THINGS for scene in film.scenes)


def test_pictures_move_and_then_rest() -> None:
    film = FILMS[3]
    pictures = [np.asarray(image) for image in film_pictures(film, 0)]
    first = round(film.scenes[0].seconds * FPS)
    assert any((pictures[i] != pictures[0]).any() for i in range(first // 2))
    assert (pictures[first - 1] == pictures[first - 8]).all()
    assert np.abs(pictures[first].astype(int) - pictures[first - 1]).mean() > 0.5


def test_the_same_seed_gives_the_same_bytes_and_nothing_is_written_twice(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpora.demo.writing.FILMS", (FILMS[4],))
    write_demo_corpus(tmp_path)
    again = hashes(tmp_path)
    assert again.items() <= hashes(corpus).items()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    write_demo_corpus(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_every_expected_answer_is_where_it_is_said_to_be(corpus: Path) -> None:
    kinds = {question.question_id: question for question in demo_questions()}
    assert len(kinds) == 3
    steep, space, store = kinds["narration"], kinds["screen"], kinds["passage"]
    films = {f"videos/{film.name}": film for film in FILMS}
    assert steep.span is not None
    heard = [said for said in films[steep.source].said if steep.expected in said.text]
    assert len(heard) == 1
    assert steep.span[0] <= heard[0].start < heard[0].end <= steep.span[1]
    shown, at = films[space.source], 0.0
    assert shown.words == "none"
    for scene in shown.scenes:
        if any(space.expected in line for line in scene.lines):
            assert space.span == (at, at + scene.seconds)
        at += scene.seconds
    texts = [found for found in read_documents(corpus / store.source) if isinstance(found, Document)]
    assert "lowest setting" in texts[0].text
    assert "lowest setting" in store.options["ABC".index(store.expected)]


def test_documents_are_short_and_have_titles(corpus: Path) -> None:
    for file in scan(corpus).files:
        if file.kind == "passages":
            for document in read_documents(file.path):
                assert isinstance(document, Document)
                assert document.title
                assert len(chunk(document)) == 1
