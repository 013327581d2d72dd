"""Exports of real files: what is selected, facts of the videos, what may be replaced, what is skipped."""

import csv
import io
import os
import zipfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from corpora.errors import UsageError
from corpora.outputs import OverwritePolicy
from corpora.records import Clip, Evidence, Passage
from rag.export import writing
from rag.export.found import read_documents, select_of
from rag.export.planning import plan_timeline, read_sources
from rag.export.records import FormatName, Select
from rag.export.tables import render_chapter_list, render_chapters, render_csv
from rag.export.writing import FORMATS, render_export, write_export
from rag.records import Answer, PassageCitation, PassageHit, Question, VideoCitation, VideoHit
from rag.rendering.shapes import answer_shape, citation_shape, search_shape, to_json
from tests.fakes.exports import source, timeline
from tests.fakes.synthetic import write_video

ODD_NAME = os.fsdecode(b"caf\xe9 & 1.mov")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A drop-frame recording, one of variable rate, one of 12.5 frames a second."""
    made = tmp_path_factory.mktemp("videos")
    size = (64, 48)
    recording = {"timecode": "01:00:00;00"}
    write_video(made / ODD_NAME, 4, fps=30000 / 1001, size=size, metadata=recording, audio=True)
    write_video(made / "variable.mp4", 4, fps=30, size=size, variable_rate=True)
    write_video(made / "slow.mp4", 4, fps=12.5, size=size, metadata={"timecode": "half past nine"})
    return made


def _select(path: Path, start: float = 1.0, end: float = 2.0) -> Select:
    return Select(str(path), "5f0c2a", start, end, query="lamp")


def test_sources_are_counted_as_editing_programs_do(folder: Path) -> None:
    paths = [str(folder / name) for name in (ODD_NAME, "variable.mp4", "slow.mp4", "gone.mp4")]
    sources, (problem,) = read_sources(paths)
    recording, variable, slow = (sources[path] for path in paths[:3])
    assert (recording.rate, recording.frames, recording.first, recording.drop) == (
        Fraction(30000, 1001),
        120,
        107892,
        True,
    )
    assert (recording.timecoded, recording.channels, recording.width, recording.notes) == (True, 1, 64, ())
    assert len(variable.notes) == 1
    assert "variable frame rate" in variable.notes[0]
    assert (slow.rate, slow.frames, slow.first, slow.timecoded) == (25, 100, 0, False)
    assert "12.5" in slow.notes[0]
    assert problem.path == paths[3]


def test_times_count_from_the_first_image(tmp_path) -> None:
    path = tmp_path / "late.mp4"
    write_video(path, 2, fps=25, size=(64, 48), audio=True, start_offset=0.4)
    sources, _ = read_sources([str(path)])
    assert sources[str(path)].offset == pytest.approx(0.4, abs=0.03)
    (cut,) = plan_timeline([_select(path)], sources).cuts
    assert cut.mark == pytest.approx((1.0 - sources[str(path)].offset) * 25, abs=1)


@pytest.fixture
def known(monkeypatch) -> Select:
    """A window of a video that is not opened."""
    recording = source(notes=("a note",))
    monkeypatch.setattr(writing, "read_sources", lambda *_: ({recording.path: recording}, ()))
    return _select(Path(recording.path))


def _refused_then_forced(selects: list[Select], form: FormatName, out: Path) -> None:
    out.write_bytes(b"made elsewhere")
    with pytest.raises(UsageError, match="--force"):
        write_export(selects, form, out)
    assert out.read_bytes() == b"made elsewhere"
    write_export(selects, form, out, policy=OverwritePolicy(force=True))
    assert out.read_bytes() != b"made elsewhere"


@pytest.mark.parametrize(
    ("start", "end", "handles"), [(2, 2, 0), (-1, 1, 0), (0, float("inf"), 0), (1, 2, 1e9), (3600.1, 3601, 0)]
)
def test_what_is_no_window_is_refused(known: Select, start: float, end: float, handles: float) -> None:
    with pytest.raises(UsageError):
        render_export([replace(known, start=start, end=end)], "edl", io.BytesIO(), handles=handles)


@pytest.mark.slow
def test_clips_in_a_folder_and_in_an_archive(folder: Path, tmp_path) -> None:
    selects = [_select(folder / ODD_NAME), _select(folder / ODD_NAME), _select(folder / "slow.mp4", 3, 9)]
    names = [
        "01_caf_1_00-01.000-00-02.000.mp4",
        "02_caf_1_00-01.000-00-02.000.mp4",
        "03_slow_00-03.000-00-09.000.mp4",
    ]
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "mine.txt").write_text("kept")
    done = write_export(selects, "clips", tmp_path / "clips", handles=0.5)
    assert (done.selects, done.skipped) == (3, ())
    assert sorted(path.name for path in (tmp_path / "clips").glob("*.mp4")) == names
    with av.open(str(tmp_path / "clips" / names[0])) as clip:
        assert float(clip.duration or 0) / 1e6 == pytest.approx(2.0, abs=0.1)
    _refused_then_forced(selects[2:], "clips", tmp_path / "clips.zip")
    with zipfile.ZipFile(tmp_path / "clips.zip") as archive:
        assert archive.namelist() == ["slow_00-03.000-00-09.000.mp4"]
        assert archive.testzip() is None


def test_clips_are_of_whole_frames(folder: Path, tmp_path) -> None:
    """1.0 s is in the middle of a frame, which would be shown for a part of its time."""
    write_export([_select(folder / ODD_NAME)], "clips", tmp_path / "clips")
    (path,) = (tmp_path / "clips").glob("*.mp4")
    with av.open(str(path)) as clip:
        times = [float(frame.time or 0) for frame in clip.decode(video=0)]
    assert times == pytest.approx([frame * 1001 / 30000 for frame in range(30)], abs=1e-4)


def test_chapters_are_in_order_and_do_not_overlap() -> None:
    windows = ((10.0, 20.0), (0.0, 12.0), (11.0, 12.0))
    selects = [Select("/v/talk.mp4", "", *window, name=f"{window[0]:g} <b> --> &") for window in windows]
    planned = plan_timeline(selects, {"/v/talk.mp4": source()}, handles=5)
    lines = render_chapters(planned).split("\n\n")[2:]
    assert lines == [
        "00:00:00.000 --> 00:00:10.000\n0 &lt;b&gt; --&gt; &amp;",
        "00:00:10.000 --> 00:00:11.000\n10 &lt;b&gt; --&gt; &amp;",
        "00:00:11.000 --> 00:00:12.000\n11 &lt;b&gt; --&gt; &amp;\n",
    ]


def test_chapters_for_hosting_sites_begin_at_zero_and_are_long_enough() -> None:
    talk = source("/v/my talk.mp4")
    windows = ((3605.9, 3610.0), (61.2, 65.0), (1200.0, 1300.0), (61.9, 70.0))
    selects = [Select(talk.path, "", *window, name=f"from {window[0]:g}") for window in windows]

    def rendered(selects: list[Select], frames: int = 4000 * 25) -> tuple[list[str], tuple[str, ...]]:
        planned = plan_timeline(selects, {talk.path: replace(talk, frames=frames)})
        lines = render_chapter_list(planned).splitlines()
        return lines, FORMATS["chapters"].notes(planned)

    lines = ["00:00 my talk", "01:01 from 61.2", "20:00 from 1200", "1:00:05 from 3605.9"]
    assert rendered(selects) == (lines, ())
    assert rendered([replace(selects[1], start=0.2), *selects[2:]])[0][0] == "00:00 from 61.2"
    _, (few,) = rendered(selects[:1])
    assert "3 chapters at least; here are 2" in few
    _, (short,) = rendered(selects, 3611 * 25)
    assert "1 of 4 are shorter" in short


def test_cells_are_no_formulas() -> None:
    planned = timeline(source(), name="=cmd|' /C calc'!A0", note="@SUM(A1)", query="+1")
    row = next(iter(csv.DictReader(io.StringIO(render_csv(planned)))))
    assert (row["name"], row["note"], row["query"]) == ("'=cmd|' /C calc'!A0", "'@SUM(A1)", "'+1")
    planned = timeline(source(), name="\u200b=1", note="\uff1d1", query="\uff201")
    row = next(iter(csv.DictReader(io.StringIO(render_csv(planned)))))
    assert [row[column][0] for column in ("name", "note", "query")] == ["'"] * 3


ODD = "/v/caf\udce9.mp4"
SPOKEN = (Evidence("e", 12.0, 14.0, "asr", "switch the lamp on"),)
CITED = VideoCitation(ODD, "5f0c", 12.5, 17.5, 0.5, SPOKEN)
SAID = ("recognized speech: switch the lamp on",)
SELECT = Select(ODD, "5f0c", 12.5, 17.5, query="lamp?", score=0.5, evidence=SAID)


def _read(document: Any) -> list[Select]:
    return read_documents(to_json(document), lambda path, video_id: path or f"/found/{video_id}")


def test_search_and_answer_have_the_same_windows() -> None:
    passage = Passage("p1", "d1", "Lamps", "Light.")
    hit = VideoHit(ODD, "5f0c", 12.5, 17.5, Clip("c", "5f0c", 0, 30), 0.5, SPOKEN)
    searched = search_shape("lamp?", [hit, PassageHit("b.csv", passage, 0.4)])
    cited = (CITED, PassageCitation("b.csv", "p1", "Lamps", "Light.", 0.4))
    answer = Answer(Question("q", "lamp?"), None, "yes", 0.9, "", True, cited)
    assert _read(searched) == _read(answer_shape(answer)) == [SELECT]
    lines = f"{to_json(searched)}\n{to_json(answer_shape(answer))}\n"
    assert read_documents(lines, lambda path, _: path) == [SELECT, SELECT]


def test_hits_that_are_only_the_nearest_are_left_out() -> None:
    clip = Clip("c", "5f0c", 0, 30)
    hits = [
        VideoHit(ODD, "5f0c", 12.5, 17.5, clip, 0.5, SPOKEN, relevance=relevance) for relevance in (0.3, 0.29)
    ]
    found = search_shape("lamp?", hits, threshold=0.3)
    assert _read(found) == [SELECT]
    without = [{key: value for key, value in hit.items() if key != "relevance"} for hit in found["results"]]
    assert _read({**found, "results": without}) == [SELECT, SELECT]


def test_a_citation_and_a_list_of_selects() -> None:
    (shown,) = _read({"schema": "rag.show/1", "citation": citation_shape(CITED)})
    assert shown == replace(SELECT, query="")
    assert select_of(CITED) == replace(SELECT, query="", score=None)
    plain = [{"path": "a.mp4", "start": 1, "end": 2, "name": "n", "note": "why", "evidence": ["ocr: x"]}]
    photograph = {"path": "a.png", "start": 0, "end": 0.04}
    assert _read([*plain, photograph]) == [Select("a.mp4", "", 1.0, 2.0, "n", "why", evidence=("ocr: x",))]


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        '{"schema": "rag.stats/1"}',
        '{"results": [3]}',
        '{"results": [{"path": "a", "start": 1}]}',
        '{"results": [{"path": "a", "start": NaN, "end": 2}]}',
        "[" * 100_000,
    ],
)
def test_what_has_no_windows_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_documents(text, lambda path, _: path)
