"""Words that were not read: which videos they are in, and that a search without hits says so once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag._cli.ask import unsearchable_lines
from rag._cli.main import main
from rag.errors import ExtraMissing
from rag.indexing import index
from rag.library import Library
from rag.records import Answer, Question
from rag.retrieval.unread import unsearched
from rag.settings import Settings, load_settings
from tests.fakes.synthetic import write_video

# Writes and indexes videos.
pytestmark = pytest.mark.slow

SRT = "1\n00:00:01,000 --> 00:00:03,000\nTighten the bolt.\n"


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> Settings:
    """Videos with speech, with subtitles and without sound, and a sound, indexed without readers."""
    home = tmp_path_factory.mktemp("unread")
    corpus = home / "corpus"
    corpus.mkdir()
    write_video(corpus / "talk.mp4", 2, audio=True)
    write_video(corpus / "subtitled.mp4", 3, audio=True)
    (corpus / "subtitled.srt").write_text(SRT)
    write_video(corpus / "mute.mp4", 4)
    off = {"ocr.mode": "off", "asr.mode": "off", "encoder.image": "none"}
    found = load_settings(flags={"library": home / "library", **off})
    index([corpus], settings=found)
    return found


@pytest.fixture
def library(settings: Settings) -> Iterator[Library]:
    with Library.open(settings=settings) as opened:
        yield opened


def names(library: Library, ids: tuple[str, ...]) -> list[str]:
    return [Path(library.path_of(video_id)).stem for video_id in ids]


def test_sound_without_subtitles_and_frames_are_unread(library: Library) -> None:
    _, speech, screen = unsearched(library.engine.reader, library.settings)
    assert names(library, speech.video_ids) == ["talk"]
    assert names(library, screen.video_ids) == ["mute", "subtitled", "talk"]
    chosen = {library.video_id("subtitled.mp4")}
    found = [each.what for each in unsearched(library.engine.reader, library.settings, chosen)]
    assert found == ["images", "on-screen text"]


def test_lines_say_what_is_missing_and_the_command_that_changes_it(library: Library, monkeypatch) -> None:
    talk = library.video_id("talk.mp4")
    seen, speech, screen = unsearchable_lines(library, {talk})
    start = "rag: not searched: "
    assert seen == f'{start}images of 1 video (set encoder.image = "auto", rag index FOLDER --reembed)'
    assert speech == f'{start}speech of 1 video (set asr.mode = "auto", rag remove, rag index)'
    assert screen == f'{start}on-screen text of 1 video (set ocr.mode = "auto", rag remove, rag index)'
    assert "on-screen text of 3 videos" in [*unsearchable_lines(library)][-1]
    monkeypatch.setattr("rag.retrieval.unread.ocr_line", lambda _: "on-screen text: on, rapidocr 3")
    assert [*unsearchable_lines(library, {talk})][-1].endswith(" (rag remove, rag index)")
    state = "on-screen text: off, no X here; install it with: pull X (250 MB, MIT)"
    monkeypatch.setattr("rag.retrieval.unread.ocr_line", lambda _: state)
    assert [*unsearchable_lines(library, {talk})][-1].endswith(" (pull X, rag remove, rag index)")

    def missing(_: object) -> str:
        raise ExtraMissing("rapidocr is not installed")

    monkeypatch.setattr("rag.retrieval.unread.ocr_line", missing)
    assert "(rapidocr is not installed, rag remove" in [*unsearchable_lines(library, {talk})][-1]


@pytest.mark.parametrize("matched", [True, False])
def test_an_answer_that_found_nothing_says_it_once(
    library: Library, monkeypatch, capsys, *, matched: bool
) -> None:
    answer = Answer(Question("q", "Which bolt?"), None, "Nothing.", 0.0, "", matched)
    monkeypatch.setattr(Library, "open", lambda *_, **__: library)
    monkeypatch.setattr(Library, "ask", lambda *_, **__: answer)
    assert main(["ask", "Which bolt?"]) == 0
    err = capsys.readouterr().err
    assert [err.count(what) for what in ("images of ", "speech of ", "on-screen text of ")] == [
        int(not matched)
    ] * 3
