"""A library that is filled in: shots, sound and vectors made once, made again, or made for an old library."""

import json
import os
import shutil
from pathlib import Path

import pytest

from eval.workbench import video
from eval.workbench.sound import story_sound
from eval.workbench.story import plan_clip
from indexers.models.lookup import specialised_encoder_warning
from rag._cli.main import main
from rag.indexing import index
from rag.indexing.report import Progress
from rag.library import Library
from rag.records import ShotFilter, VideoHit
from rag.settings import Settings, load_settings
from tests.fakes.library_dump import dump
from tests.fakes.mean_colors import MeanColors, index_with
from tests.fakes.synthetic import write_video

pytestmark = pytest.mark.usefixtures("tiny_text")


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two videos of five seconds under lights that differ, and their own light as their names."""
    folder = tmp_path_factory.mktemp("videos")
    for light in ("warm", "cold"):
        seed = next(k for k in range(100) if plan_clip(k, "dev", duration=5).light == light)
        story, render = plan_clip(seed, "dev", duration=5), video.Render(180, 5)
        video.write_video(
            folder / f"{light}.mp4", video.clip_frames(story, render), iter([story_sound(story)]), render
        )
    return folder


def settings(library: Path, **flags: object) -> Settings:
    always: dict[str, object] = {
        "ocr.mode": "off",
        "asr.mode": "off",
        "encoder.image": "bundled",
        "library": library,
    }
    return load_settings(flags={**always, **flags})


class Notes(Progress):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture(scope="module")
def library(videos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, said = tmp_path_factory.mktemp("measured") / "library", Notes()
    index([videos], settings=settings(folder), progress=said)
    assert said.lines.count(specialised_encoder_warning("bundled")) == 1, "it knows nothing else"
    return folder


def test_a_tone_finds_its_video_alone(library: Path) -> None:
    with Library.open(settings=settings(library)) as opened:
        for light in ("warm", "cold"):
            hits = opened.search("a person at work", where=ShotFilter(tone=light))  # type: ignore[arg-type]  # a literal
            assert [Path(hit.path).stem for hit in hits] == [light]
            (hit,) = hits
            assert isinstance(hit, VideoHit)
            shot = opened.shot_at(hit.video_id, hit.start)
            assert shot is not None
            assert (shot.tone, shot.start, shot.end) == (light, 0.0, 5.0)
            track = opened.sound_track(hit.video_id)
            assert track is not None
            assert len(track.classes) == len(track.loudness) == 5


def index_as_older(videos: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        for measures in ("FRAME_MEASURES", "SOUND_MEASURES"):
            patch.setattr(f"rag.indexing.measuring.{measures}", "older")
        index([videos], settings=settings(library))


def test_an_older_library_is_measured_by_the_next_run_and_nothing_else_changes(
    videos: Path, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "older"
    index_as_older(videos, older, monkeypatch)
    report = index([videos], settings=settings(older))
    assert (report.indexed, report.unchanged, report.exit_code) == (0, 2, 0)
    assert list(dump(older)) == list(dump(library))
    assert index([videos], settings=settings(older)).stages == []


def test_a_video_that_has_moved_is_measured_where_it_is_now(
    videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, folder = tmp_path / "older", shutil.copytree(videos, tmp_path / "videos")
    index_as_older(folder, older, monkeypatch)
    (folder / "warm.mp4").rename(folder / "sunny.mp4")
    report = index([folder], settings=settings(older))
    assert (report.moved, report.problems) == (1, [])
    assert index([folder], settings=settings(older)).stages == []


def test_the_command_filters_and_reports(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def rag(*words: str) -> str:
        assert main([*words, "--library", str(library)]) == 0
        return capsys.readouterr().out

    found = rag("search", "a person at work", "--tone", "warm", "--min-height", "100", "--json")
    (hit,) = json.loads(found)["results"]
    assert (Path(hit["path"]).stem, hit["shot"]["tone"]) == ("warm", "warm")
    listed = rag("shots", "cold.mp4", "--text")
    assert "cold" in listed


def rows(library: Path, table: str) -> list[str]:
    """Of the tables whose names begin so."""
    return [row for row in dump(library) if f'"table": "{table}' in row]


@pytest.fixture(autouse=True)
def _mean_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    index_with(MeanColors(), monkeypatch)


def settings_of(library: Path, image: str = "none", **given: str) -> Settings:
    return load_settings(flags={"library": library, "ocr.mode": "off", "encoder.image": image, **given})


def test_no_file_that_was_changed_since_is_read(tmp_path: Path) -> None:
    corpus, other = tmp_path / "corpus", tmp_path / "other"
    for folder in (corpus, other):
        folder.mkdir()
    for name in ("a.mp4", "b.mp4"):
        write_video(corpus / name, 8)
    (other / "notes.md").write_text("A bolt.\n")
    index([corpus], settings=settings_of(tmp_path / "library"))
    write_video(corpus / "a.mp4", 8, fps=5)
    found: list[list[str]] = []

    def reembedded(name: str) -> list[str]:
        shutil.copytree(tmp_path / "library", tmp_path / name)
        report = index([other], settings=settings_of(tmp_path / name, "auto"), reembed=True)
        found.append([problem.reason for problem in report.problems])
        return rows(tmp_path / name, "vectors_")

    copied = reembedded("copied")
    os.utime(corpus / "b.mp4")
    assert reembedded("touched") == copied != []
    shutil.copy(corpus / "b.mp4", corpus / "a.mp4")
    assert reembedded("whole") == copied
    for name in ("a.mp4", "b.mp4"):
        write_video(corpus / name, 8, fps=5)
    assert reembedded("changed") == []
    assert found == [[], [], [], 2 * ["changed since it was indexed"]]


def test_the_library_is_then_that_of_the_encoder_with_all_its_words(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    write_video(corpus / "a.mp4", 36, fps=2, audio=True)
    write_video(corpus / "b.mp4", 8, fps=5)
    (corpus / "b.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nTighten the bolt.\n")
    silent = {"asr.mode": "off"}
    index([corpus], settings=settings_of(tmp_path / "first", "auto", **silent))
    index([corpus], settings=settings_of(tmp_path / "library", **silent))
    index([corpus], settings=settings_of(tmp_path / "library", "auto", **silent), reembed=True)
    for table in ("vectors", "shots", "sound_tracks", "evidence"):
        assert rows(tmp_path / "library", table) == rows(tmp_path / "first", table) != []


def test_nothing_is_kept_of_a_file_that_is_changed_meanwhile(tmp_path: Path) -> None:
    corpus, other = tmp_path / "corpus", tmp_path / "other"
    for folder in (corpus, other):
        folder.mkdir()
    for n in range(3):
        write_video(corpus / f"{n}.mp4", 2 + n, fps=1)
    (other / "notes.md").write_text("A bolt.\n")
    index([corpus], settings=settings_of(tmp_path / "library"))

    class Replacing(Progress):
        def file(self, path: str) -> None:
            if path.endswith("2.mp4"):
                shutil.copy(corpus / "0.mp4", corpus / "2.mp4")

    seeing = settings_of(tmp_path / "library", "auto")
    report = index([other], settings=seeing, reembed=True, progress=Replacing())
    (problem,) = report.problems
    assert problem.path == str(corpus / "2.mp4")
    assert problem.reason in ("changed since it was indexed", "it changed while it was read")
    assert len(rows(tmp_path / "library", "vectors_")) == 2
    with Library.open(settings=seeing) as library:
        assert library.problems() == [problem]
