"""Indexing a folder again and again while its files come, go, move and change."""

import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from corpora.video.reader import FrameStream, MediaReader
from corpora.video.records import FrameBatch
from rag._cli.library import file_lines
from rag.errors import EncoderMismatch, SettingsError, StalledFile
from rag.indexing import IndexReport, index
from rag.indexing.report import Progress
from rag.library import Library
from rag.records import SearchFilter, VideoCitation, pages_with
from rag.rendering.terminal import evidence_name
from rag.settings import Settings, load_settings
from rag.store.lookup import file_statuses, other_paths
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.synthetic import truncate, write_video

pytestmark = pytest.mark.usefixtures("tiny_text")


@pytest.fixture
def settings(tmp_path) -> Settings:
    return load_settings(flags={"library": tmp_path / "library", "ocr.mode": "off", "encoder.image": "none"})


@pytest.fixture(scope="module")
def video(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("video") / "a.mp4"
    write_video(path, 8)
    return path


@pytest.fixture
def corpus(tmp_path, video: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    shutil.copy(video, folder)
    (folder / "a.srt").write_text(
        "1\n00:00:02,000 --> 00:00:05,000\nTighten the bolt to nine newton metres.\n"
    )
    (folder / "notes.md").write_text("# Bolts\n\nA bolt that is too tight will strip its thread.\n")
    return folder


def run(corpus: Path, settings: Settings, **choices: object) -> IndexReport:
    return index([corpus], settings=settings, **choices)


def tree(folder: Path) -> dict[str, int]:
    """All but locks."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {str(path): path.stat().st_mtime_ns for path in files}


def rows(settings: Settings) -> list[str]:
    return list(dump(settings.library))


def spoken(settings: Settings) -> set[str]:
    with Reader.open(settings.library) as reader:
        return {
            e.text
            for v in reader.videos()
            for e in reader.evidence(v.video_id, 0, 1e9)
            if e.kind == "subtitle"
        }


def test_what_was_taken_out_comes_back_with_the_next_run(corpus: Path, settings: Settings) -> None:
    run(corpus, settings)
    before = rows(settings)
    with Library.open(settings=settings) as library:
        assert library.remove([corpus]).paths
    report = run(corpus, settings)
    assert (report.indexed, report.unchanged) == (2, 0)
    assert rows(settings) == before
    with Writer.open(settings.library) as writer:
        writer.erase({row.content_id for row in writer.files().values()})
    with Library.open(settings=settings) as library:
        assert (library.stats().taken_out, library.stats().files) == (2, 2)
    assert run(corpus, settings).indexed == 2
    assert rows(settings) == before


class Interrupted(Progress):
    """Interrupts a run when work on a file of this name begins."""

    def __init__(self, name: str) -> None:
        self._name = name

    def file(self, path: str) -> None:
        if Path(path).name == self._name:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("at", "kept"), [("a.mp4", []), ("b.txt", ["a.mp4"]), ("notes.md", ["a.mp4", "b.txt"])]
)
def test_an_interrupted_run_commits_what_is_finished(corpus: Path, settings: Settings, at: str, kept) -> None:
    (corpus / "b.txt").write_text("The lamp hangs above the door of the shed.\n")
    with pytest.raises(KeyboardInterrupt, match=f"{len(kept)} of 3 new files are kept"):
        run(corpus, settings, progress=Interrupted(at))
    with Reader.open(settings.library) as reader:
        assert [Path(row.path).name for row in reader.file_rows()] == kept
    assert run(corpus, settings).indexed == 3 - len(kept)


def test_an_interrupt_amid_writing_waits_for_its_end(corpus: Path, settings: Settings, monkeypatch) -> None:
    def interrupted(self: Writer, *given: Any, **named: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        put_video(self, *given, **named)

    put_video = Writer.put_video
    monkeypatch.setattr(Writer, "put_video", interrupted)
    with pytest.raises(KeyboardInterrupt, match="1 of 2 new files are kept"):
        run(corpus, settings)
    assert spoken(settings) == {"Tighten the bolt to nine newton metres."}


def test_an_unchanged_folder_is_left_alone(corpus: Path, settings: Settings) -> None:
    """At once, where no lock is taken and nothing written, and with a file whose times alone changed."""
    first = run(corpus, settings)
    assert (first.indexed, first.exit_code) == (2, 0)
    before = rows(settings)
    files = tree(settings.library)
    with Writer.open(settings.library):
        second = run(corpus, settings)
    assert (rows(settings), tree(settings.library)) == (before, files)
    os.chmod(corpus / "a.mp4", 0o600)
    os.utime(corpus / "a.mp4")
    third = run(corpus, settings)
    for again in (second, third, run(corpus, settings)):
        assert (again.indexed, again.unchanged, again.moved, again.exit_code) == (0, 2, 0, 0)


def test_a_document_that_is_renamed_to_another_format_is_read_as_that(tmp_path, settings: Settings) -> None:
    corpus, kept = tmp_path / "corpus", tmp_path / "kept.txt"
    corpus.mkdir()
    (corpus / "a.txt").write_text('{"_id": "7", "text": "A bolt that is too tight will strip its thread."}\n')
    run(corpus, settings)
    shutil.copy(corpus / "a.txt", kept)
    index([kept], settings=settings)
    as_text = rows(settings)
    (corpus / "a.txt").rename(corpus / "a.jsonl")
    run(corpus, settings)
    assert [line for line in rows(settings) if '"table": "passages"' in line] == [
        line for line in as_text if '"table": "passages"' in line
    ], "a file that is read as text is still there"
    kept.unlink()
    (corpus / "a.jsonl").rename(corpus / "a.ndjson")
    assert run(corpus, settings).indexed == 1
    index([corpus], settings=settings, prune="all")
    index([tmp_path], settings=settings, prune="all")
    assert run(corpus, settings).indexed == 0
    fresh = settings.model_copy(update={"library": tmp_path / "fresh"})
    run(corpus, fresh)
    assert rows(settings) == rows(fresh)


def test_a_renamed_video_has_the_title_of_its_new_name(corpus: Path, settings: Settings, tmp_path) -> None:
    """As one that was indexed under it, with and without words in the name, and of a copy that is left."""
    (corpus / "a.srt").unlink()
    (corpus / "a.mp4").rename(corpus / "zebra.mp4")
    run(corpus, settings)
    before = "zebra.mp4"
    for name in ("a tall tower.mp4", "0123456789ab.mp4"):
        (corpus / before).rename(corpus / name)
        again, before = run(corpus, settings), name
        assert (again.indexed, again.moved) == (0, 1)
        fresh = settings.model_copy(update={"library": tmp_path / f"fresh {name}"})
        run(corpus, fresh)
        assert rows(settings) == rows(fresh)


def test_an_emptied_file_leaves_nothing_of_what_it_held(corpus: Path, settings: Settings) -> None:
    run(corpus, settings)
    for path in (corpus / "notes.md", corpus / "a.mp4"):
        path.write_bytes(b"")
    for _ in range(2):
        emptied = run(corpus, settings)
        assert {(p.path, p.reason) for p in emptied.problems} == {
            (str(corpus / name), "empty, 0 bytes") for name in ("notes.md", "a.mp4")
        }
        with Reader.open(settings.library) as reader:
            # Subtitles of a video that cannot be read are a document.
            alone = str(corpus / "a.srt")
            assert (reader.indexed_paths(), reader.passage_files()) == ([alone], [alone])


def test_subtitles_are_a_document_until_their_video_comes(corpus: Path, settings: Settings, tmp_path) -> None:
    (corpus / "a.mp4").rename(tmp_path / "a.mp4")
    (corpus / "a.srt").write_text(
        "1\n00:00:02,000 --> 00:00:05,000\nTighten the bolt\n\n"
        "2\n00:00:05,000 --> 00:00:07,000\nto nine newton metres.\n\n"
        "3\n01:02:04,000 --> 01:02:06,000\nWipe it dry.\n"
    )
    report = run(corpus, settings)
    assert (report.indexed, report.exit_code) == (2, 0)
    assert report.unread[0].startswith(f"{corpus / 'a.srt'}: subtitles without a video, read as a document")
    with Library.open(settings=settings) as library:
        found = library.search("wipe it dry", kind="passage")[0]
        assert found.passage.text == "Tighten the bolt to nine newton metres.\n\nWipe it dry."
        assert str(found).startswith(f"{corpus / 'a.srt'} (00:02-1:02:04, passage ")
        assert pages_with(found.passage, ["Wipe it dry."]) == (3724,)
        assert pages_with(found.passage, ["to nine newton metres."]) == (5,)
    (corpus / "a.mp4").write_bytes(b"no video")
    before = rows(settings)
    assert run(corpus, settings).unchanged == 1
    assert [row for row in rows(settings) if '"problems"' not in row] == before
    (tmp_path / "a.mp4").rename(corpus / "a.mp4")
    assert run(corpus, settings).unread == ()
    fresh = settings.model_copy(update={"library": tmp_path / "fresh"})
    run(corpus, fresh)
    assert rows(settings) == rows(fresh)


def test_a_changed_file_leaves_nothing_of_the_old_one(corpus: Path, settings: Settings, tmp_path) -> None:
    run(corpus, settings)
    write_video(corpus / "a.mp4", 12, fps=5)
    (corpus / "notes.md").write_text("# Nuts\n\nA nut sits on the bolt.\n")
    changed = run(corpus, settings)
    assert changed.indexed == 2
    fresh = settings.model_copy(update={"library": tmp_path / "fresh"})
    run(corpus, fresh)
    assert rows(settings) == rows(fresh)


def test_a_subtitle_file_that_is_edited_while_its_video_is_indexed_is_read_again(
    corpus: Path, settings: Settings
) -> None:
    class Editing(Progress):
        def advance(self, seconds: float) -> None:  # noqa: ARG002 (of the protocol)
            (corpus / "a.srt").write_text("1\n00:00:01,000 --> 00:00:03,000\nLoosen it again.\n")

    run(corpus, settings, progress=Editing())
    assert spoken(settings) == {"Tighten the bolt to nine newton metres."}
    assert run(corpus, settings).indexed == 1
    assert spoken(settings) == {"Loosen it again."}


def test_subtitles_are_stored_and_shown_with_language_and_marks(corpus: Path, settings: Settings) -> None:
    (corpus / "a.srt").rename(corpus / "a.English.srt")
    (corpus / "a_de.sdh.srt").write_text("00:00:02,000 --> 00:00:05,000\n[Knall] Neun Newtonmeter.\n")
    run(corpus, settings)
    english, german = "Tighten the bolt to nine newton metres.", "[Knall] Neun Newtonmeter."

    def shown() -> tuple[list[str], dict[str, str]]:
        with Library.open(settings=settings) as library:
            rows = file_statuses(library.engine.reader, settings.storage, settings.scan, "a.mp4")
            cited = library.resolve(f"{corpus / 'a.mp4'}@2-5")
            assert isinstance(cited, VideoCitation)
            said = {item.text: evidence_name(item) for item in cited.evidence if item.kind == "subtitle"}
        return [line.strip() for row in rows for line in file_lines(row)][1:], said

    assert shown() == (
        ["subtitles .English.srt: English", "subtitles _de.sdh.srt: German, for the hearing impaired"],
        {english: "subtitle, English 00:02", german: "subtitle, German, for the hearing impaired 00:02"},
    )
    (corpus / "a.English.srt").rename(corpus / "a.fr-CA.forced.srt")
    assert run(corpus, settings).indexed == 1
    assert shown()[1][english] == "subtitle, French, forced 00:02"


def test_of_copies_the_one_that_was_named_is_shown_and_the_others_are_listed(
    corpus: Path, settings: Settings, tmp_path
) -> None:
    first, copy = str(corpus / "a.mp4"), str(tmp_path / "kept" / "a copy.mp4")
    os.mkdir(os.path.dirname(copy))
    shutil.copy(first, copy)
    for folder in (corpus, tmp_path / "kept"):
        run(folder, settings)
    question = "How tight is the bolt?"
    with Library.open(settings=settings) as library:
        (video,) = library.engine.reader.videos()
        for named, other, glob in ((first, copy, "a.mp4"), (copy, first, "kept")):
            where = SearchFilter(paths=(glob,))
            assert {hit.path for hit in library.search(question, where=where)} == {named}
            assert {cited.path for cited in library.ask(question, where=where).citations} == {named}
            for name in (named, os.path.basename(named)):
                assert library.resolve(f"{name}@0-5").path == named
                assert library.measurements(name)["path"] == named
                assert library.path_of(video.video_id, name) == named
                assert library.indexed_file(video.video_id, name) == named
            assert other_paths(library.engine.reader, [named]) == {named: [other]}
        os.unlink(copy)
        assert library.resolve(f"{copy}@0-5").path == first, "a copy that is gone shows nothing"


def test_a_cited_video_is_stale_where_its_sidecars_are_others(corpus: Path, settings: Settings) -> None:
    cited, said = str(corpus / "a.mp4"), corpus / "a.srt"
    run(corpus, settings)
    indexed = said.read_text()

    def stale() -> dict[str, str]:
        with Library.open(settings=settings) as library:
            (files,) = [check for check in library.doctor() if check.name == "indexed files"]
            found = library.stale_files([cited, str(corpus / "notes.md")])
            assert (not files.ok) == bool(found)
            assert files.ok or f"than when they were indexed, such as {cited}" in files.message
            return {**found}

    assert stale() == {}
    for text in (indexed.replace("nine", "six"), None):
        said.unlink() if text is None else said.write_text(text)
        assert stale() == {cited: "changed"}
    said.write_text(indexed)
    assert stale() == {}, "another time of change, and the same text"
    (corpus / "a.info.json").write_text('{"title": "Bolts"}')
    assert stale() == {cited: "changed"}, "added"
    assert run(corpus, settings).indexed == 1
    assert stale() == {}


def test_sidecars_that_an_option_excluded_are_not_new(corpus: Path, settings: Settings) -> None:
    cited, german = str(corpus / "a.mp4"), corpus / "a.de.srt"
    german.write_text((corpus / "a.srt").read_text())
    excluding = settings.scan.model_copy(update={"exclude": ("*.de.srt",)})
    run(corpus, settings.model_copy(update={"scan": excluding}))
    with Library.open(settings=settings) as library:
        assert library.stale_files([cited]) == {}
        german.write_text("1\n00:00:00,000 --> 00:00:01,000\nFest.\n")
        assert library.stale_files([cited]) == {}, "it is left out by the option as before"
        (corpus / "a.vtt").write_text("WEBVTT\n\n00:00.000 --> 00:01.000\nSix.\n")
        assert library.stale_files([cited]) == {cited: "changed"}
    assert run(corpus, settings).indexed == 1
    with Library.open(settings=settings) as library:
        assert library.stale_files([cited]) == {}
        german.unlink()
        assert library.stale_files([cited]) == {cited: "changed"}


def test_a_folder_with_a_copy_leaves_the_subtitles_of_another(
    corpus: Path, settings: Settings, tmp_path
) -> None:
    """They are left out only by a run that sees that they are gone, or after their video is."""
    said = {"Tighten the bolt to nine newton metres."}
    run(corpus, settings)
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(corpus / "a.mp4", other / "copy.mp4")
    assert run(other, settings).indexed == 0
    assert spoken(settings) == said
    (other / "copy.srt").write_text("1\n00:00:06,000 --> 00:00:07,000\nAnd wipe it.\n")
    assert run(other, settings).indexed == 1
    assert spoken(settings) == {*said, "And wipe it."}
    assert [run(folder, settings).indexed for folder in (corpus, other)] == [0, 0]
    (corpus / "a.mp4").unlink()
    (other / "copy.srt").write_text("1\n00:00:06,000 --> 00:00:07,000\nAnd dry it.\n")
    run(other, settings)
    assert spoken(settings) == {"And dry it."}


def test_a_missing_file_is_kept_until_it_is_pruned(corpus: Path, settings: Settings) -> None:
    assert run(corpus, settings, limit=1).indexed == 1
    assert run(corpus, settings).indexed == 1, "a limited run goes on next time"
    (corpus / "a.mp4").unlink()
    kept = run(corpus, settings)
    assert (kept.missing, kept.removed) == (1, 0)
    pruned = run(corpus, settings, prune=True)
    assert (pruned.missing, pruned.removed) == (0, 1)
    assert not [line for line in rows(settings) if '"table": "evidence"' in line]


def test_a_dry_run_agrees_with_the_run_about_all_kinds_of_files(corpus: Path, settings: Settings) -> None:
    run(corpus, settings)
    (corpus / "notes.md").rename(corpus / "renamed.md")
    shutil.copy(corpus / "a.mp4", corpus / "copy.mp4")
    (corpus / "not a video.mp4").write_bytes(b"plainly not a video" * 100)
    for name in ("new.txt", "again.txt"):
        (corpus / name).write_text("A nut sits on the bolt.\n")
    os.utime(corpus / "a.mp4", (1, 1))
    ahead = run(corpus, settings, dry_run=True)
    done = run(corpus, settings)
    assert (ahead.forecast.new_files, ahead.forecast.media_seconds) == (done.indexed, 0) == (1, 0)
    for name in ("files_found", "unchanged", "moved", "copies", "missing", "exit_code"):
        assert getattr(ahead, name) == getattr(done, name), name
    assert done.copies == 1
    with Library.open(settings=settings) as library:
        shown = file_statuses(library.engine.reader, settings.storage, settings.scan, ".txt")
    assert [row.copy_of for row in shown] == ["", str(corpus / "again.txt")]


def test_odd_files_get_one_line_each_and_the_rest_goes_on(corpus: Path, settings: Settings) -> None:
    (corpus / "not a video.mp4").write_bytes(b"plainly not a video" * 100)
    (corpus / "torn.pdf").write_bytes(b"%PDF-1.7\n" + bytes(99))
    os.mkfifo(corpus / "pipe.mp4")
    report = run(corpus, settings)
    assert report.exit_code == 3
    assert [os.path.basename(p.path) for p in report.problems] == ["not a video.mp4", "pipe.mp4", "torn.pdf"]
    again = run(corpus, settings)
    assert again.problems == report.problems
    with Library.open(settings=settings) as library:
        assert [p.path for p in library.problems()] == [p.path for p in report.problems]
    (corpus / "not a video.mp4").unlink()
    assert len(run(corpus, settings).problems) == 2
    with Library.open(settings=settings) as library:
        assert len(library.problems()) == 2


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_a_cut_off_video_whose_frames_are_not_decoded_is_reported(
    settings: Settings, tmp_path, name: str
) -> None:
    """One container has its index in front, the other has none after the cut."""
    (tmp_path / "corpus").mkdir()
    path = tmp_path / "corpus" / name
    write_video(path, 20, container_options={"movflags": "+faststart"} if name == "a.mp4" else None)
    truncate(path, 0.6)
    report = run(path.parent, settings)
    (problem,) = report.problems
    assert re.fullmatch(r"cut off at 1\d\.\d s of 20\.0 s", problem.reason)
    assert 10 < report.video_seconds < 19


def test_other_clips_or_encoders_are_refused(corpus: Path, settings: Settings) -> None:
    run(corpus, settings)
    write_video(corpus / "new.mp4", 3)
    other = settings.video.model_copy(update={"clip_seconds": 10.0})
    with pytest.raises(SettingsError, match="clip_seconds"):
        run(corpus, settings.model_copy(update={"video": other}))
    other_encoder = settings.encoder.model_copy(update={"image": "bundled"})
    with pytest.raises(EncoderMismatch, match="--reembed"):
        run(corpus, settings.model_copy(update={"encoder": other_encoder}))


def test_a_reader_that_dies_on_the_way_leaves_what_came_before(
    settings: Settings, tmp_path, monkeypatch
) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    write_video(folder / "long.mp4", 60, fps=4)
    changes = {"image": "bundled"}
    clips = settings.video.model_copy(update={"clip_seconds": 5.0, "min_last_clip_seconds": 1.0})
    seeing = settings.model_copy(
        update={"encoder": settings.encoder.model_copy(update=changes), "video": clips}
    )
    whole, read = iter(range(99)), FrameStream.__next__

    def die(stream: FrameStream) -> FrameBatch:
        if next(whole) == 2:
            raise StalledFile(f"{folder / 'long.mp4'}: its reader died (SIGKILL)")
        return read(stream)

    monkeypatch.setattr(FrameStream, "__next__", die)
    (problem,) = run(folder, seeing).problems
    assert problem.reason == "its reader died (SIGKILL); what came before 30 s is kept"
    assert problem.action == "indexed 30 s of it"


def test_a_file_whose_reader_stalled_is_tried_again_by_the_next_run(
    corpus: Path, settings: Settings, monkeypatch
) -> None:
    def stall(*_: object, **__: object) -> None:
        raise StalledFile(f"{corpus / 'a.mp4'}: its reader made no progress for 60 s and was ended")

    with monkeypatch.context() as busy:
        busy.setattr(MediaReader, "probe", stall)
        (problem,) = run(corpus, settings).problems
    assert problem.action == "skipped"
    again = run(corpus, settings)
    assert (again.indexed, again.problems) == (1, [])


@pytest.mark.parametrize(
    ("name", "place", "before"), [("a.mp4", MediaReader, "sidecars"), ("notes.md", MediaReader, "passages")]
)
def test_a_file_that_changes_while_it_is_read_waits_for_the_next_run(
    corpus: Path, settings: Settings, monkeypatch, name: str, place: object, before: str
) -> None:
    shutil.copy(corpus / name, corpus / f"same-{name}")
    whole = getattr(place, before)

    def meanwhile(*given: object) -> object:
        with (corpus / name).open("ab") as file:
            file.write(b"\0\0\0\x08free")
        return whole(*given)

    with monkeypatch.context() as patch:
        patch.setattr(place, before, meanwhile)
        report = run(corpus, settings)
    assert {Path(p.path).name for p in report.problems} == {name, f"same-{name}"}
    assert {p.reason.partition(";")[0] for p in report.problems} == {"it changed while it was read"}
    assert report.exit_code == 3
    again = run(corpus, settings)
    assert (again.indexed, again.problems) == (2, [])
    fresh = settings.model_copy(update={"library": settings.library.with_name("fresh")})
    run(corpus, fresh)
    assert rows(settings) == rows(fresh)
