"""Corpora of the synthetic world on disk: videos, sound, words, copies, and going on after a stop."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from corpora.manifest import recommended_encoder
from corpora.scan import scan
from corpora.video.reader import MediaReader
from corpora.video.sidecars import read_sidecars
from eval.workbench import corpus as writer
from eval.workbench import jobs as making
from eval.workbench import render_pool as render_worker
from eval.workbench.catalogue import ACTIONS
from eval.workbench.corpus import MANIFEST, make_corpus, read_marker, write_marker
from eval.workbench.jobs import CorpusPlan, Job, render_job, video_jobs
from eval.workbench.long_videos import long_sound, plan_long_video, render_card
from eval.workbench.near_duplicates import plan_change
from eval.workbench.render_pool import as_job, render_jobs
from eval.workbench.sound import SOUNDS, event_sound, melody, spoken_seconds, story_sound, voiced
from eval.workbench.story import plan_clip
from eval.workbench.video import AUDIO_RATE, Line, Render, frames_hash
from rag.errors import RagError, UsageError

# Renders videos.
pytestmark = pytest.mark.slow

SMALL = Render(height=72, fps=5)
PLAN = CorpusPlan(seed=3, split="dev", clips=2, render=SMALL, long_minutes=(0.5,), near_duplicates=True)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "find_voice", lambda: None)
        patch.setattr("eval.workbench.near_duplicates.HEIGHTS", (54, 90))
        folder = tmp_path_factory.mktemp("workbench") / "corpus"
        report = make_corpus(folder, PLAN, workers=1)
    assert (report.videos, report.made, report.voiced) == (6, 6, False)
    return folder


def hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def manifest(folder: Path) -> dict[str, Any]:
    found = read_marker(folder)
    assert found is not None
    return found


def truths(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / ".workbench" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def of_kind(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["kind"] == kind]


def test_the_index_finds_videos_and_passages_and_never_the_truth(corpus: Path) -> None:
    found = scan(corpus)
    assert (found.problems, found.ignored) == ((), ())
    folders = {Path(file.path).relative_to(corpus).parts[0] for file in found.files}
    assert folders == {"videos", "passages"}
    assert sum(file.kind == "video" for file in found.files) == 6
    assert sum(file.kind == "passages" for file in found.files) == manifest(corpus)["passages"] >= 300
    sidecars = [path for file in found.files for path in file.sidecars]
    assert len(sidecars) == 2
    assert all(read_sidecars([path]).notes == () for path in sidecars)


def test_the_folder_says_what_it_is(corpus: Path, tmp_path: Path) -> None:
    assert recommended_encoder([corpus]) == "bundled"
    assert recommended_encoder([next((corpus / "videos").iterdir())]) == "bundled"
    assert recommended_encoder([tmp_path]) is None
    said = manifest(corpus)
    assert (said["seed"], said["split"], said["clips"], said["voice"]) == (3, "dev", 2, None)
    for line in said["videos"]:
        data = (corpus / "videos" / line["name"]).read_bytes()
        assert (line["bytes"], line["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
        assert (line["frames_sha256"], line["frames"]) == frames_hash(corpus / "videos" / line["name"])
        assert {"scene", "light", "style", "width", "height", "fps", "duration"} <= set(line)


def test_clips_are_bare(corpus: Path) -> None:
    for line in of_kind(manifest(corpus)["videos"], "clip"):
        path = corpus / "videos" / line["name"]
        assert len(path.stem) == 12
        assert int(path.stem, 16)
        assert not path.with_suffix(".info.json").exists()
        with av.open(str(path)) as container:
            assert {stream.type for stream in container.streams} == {"video", "audio"}
            assert container.streams.video[0].codec_context.name == "h264"
            assert not {"title", "description", "keywords", "comment", "encoder"} & set(container.metadata)
            assert container.duration == pytest.approx(30e6, abs=1e5)


def test_the_truth_of_a_clip_is_its_story(corpus: Path) -> None:
    clips = of_kind(truths(corpus), "clip")
    for job, line in zip(video_jobs(PLAN)[0], clips, strict=False):
        story = job.clip()
        assert (line["video"], line["description"]) == (job.name, story.description)
        assert [(e["start"], e["end"], e["seen_from"], e["seen_until"]) for e in line["events"]] == [
            (e.start, e.end, e.seen_from, e.seen_until) for e in story.events
        ]
        assert [(e["kind_id"], e["variant"]) for e in line["events"]] == [
            (e.thing.kind_id, e.thing.variant) for e in story.events
        ]
        assert {"rewritten", "agent", "action", "patient_canonical", "instrument"} <= set(line["events"][0])


def test_a_long_video_says_much_about_itself(corpus: Path) -> None:
    (line,) = of_kind(truths(corpus), "long")
    path = corpus / "videos" / line["video"]
    with MediaReader() as reader:
        probe, texts = reader.probe(str(path)), reader.texts(str(path))
    assert (probe.title, probe.description, list(probe.tags)) == (
        line["title"],
        line["description"],
        line["tags"],
    )
    assert [text.text for text in texts] == [said["text"] for said in line["lines"]]
    assert texts[0].start == pytest.approx(line["lines"][0]["start"], abs=0.01)
    assert [(c.start, c.end) for c in probe.chapters] == [(p["start"], p["end"]) for p in line["parts"]]
    beside = read_sidecars([str(path.with_suffix(".info.json"))])
    assert (beside.title, list(beside.tags)) == (line["title"], line["tags"])


def test_a_copy_shows_the_same_at_other_times(corpus: Path) -> None:
    lines, video_folder = truths(corpus), {line["name"]: line for line in manifest(corpus)["videos"]}
    by_name = {line["video"]: line for line in lines}
    for copy in of_kind(lines, "copy"):
        said = video_folder[copy["video"]]
        original = by_name[said["copy_of"]]
        assert 0.9 <= said["speed"] <= 1.1
        assert said["speed"] != 1
        assert said["height"] != SMALL.height
        assert said["duration"] == pytest.approx(original["duration"] / said["speed"], abs=0.3)
        for event, before in zip(copy["events"], original["events"], strict=True):
            assert event["rewritten"] == before["rewritten"]
            assert event["start"] * said["speed"] == pytest.approx(before["start"], abs=0.01)
        with MediaReader() as reader:
            samples = sum(len(block) for block in reader.audio(str(corpus / "videos" / copy["video"])))
        assert samples / AUDIO_RATE == pytest.approx(said["duration"], abs=0.3)


def test_a_copy_looks_like_its_original(corpus: Path) -> None:
    line = of_kind(manifest(corpus)["videos"], "copy")[0]
    left, top, right, bottom = line["crop"]
    with MediaReader() as reader:
        copy = reader.frames_at(str(corpus / "videos" / line["name"]), [8.0], short_side=72).images[0]
        video = reader.frames_at(
            str(corpus / "videos" / line["copy_of"]), [8.0 * line["speed"]], short_side=72
        )
    before = Image.fromarray(video.images[0])
    box = (left * before.width, top * before.height, right * before.width, bottom * before.height)
    cropped = np.asarray(before.resize((copy.shape[1], copy.shape[0]), box=box))
    assert np.corrcoef(copy.mean(axis=2).ravel(), cropped.mean(axis=2).ravel())[0, 1] > 0.85
    assert np.abs(copy.mean(axis=(0, 1)) - cropped.mean(axis=(0, 1))).max() > 2


def test_changes_depend_on_the_seed() -> None:
    assert plan_change(1, "a.mp4") == plan_change(1, "a.mp4")
    changes = {plan_change(1, f"{i}.mp4") for i in range(40)}
    assert len(changes) == 40
    assert {change.speed > 1 for change in changes} == {True, False}


def test_the_same_seed_gives_the_same_bytes_and_a_rerun_writes_nothing(corpus: Path, tmp_path: Path) -> None:
    plan = replace(PLAN, clips=1, long_minutes=(), near_duplicates=False)
    make_corpus(tmp_path / "again", plan, workers=1)
    again, first = hashes(tmp_path / "again"), hashes(corpus)
    assert {name: again[name] for name in again if name.startswith("videos/")}.items() <= first.items()
    before = {path: path.stat().st_mtime_ns for path in corpus.rglob("*")}
    assert make_corpus(corpus, PLAN).made == 0
    assert {path: path.stat().st_mtime_ns for path in corpus.rglob("*")} == before


def test_workers_make_what_this_process_makes(corpus: Path, tmp_path: Path) -> None:
    videos, _ = video_jobs(PLAN)
    seconds: list[float] = []
    made = {job.name: line for job, line in render_jobs(tmp_path, videos[:2], 2, seconds.append)}
    assert [made[job.name] for job in videos[:2]] == of_kind(manifest(corpus)["videos"], "clip")
    assert sum(seconds) == 60
    assert as_job(json.loads(json.dumps(_plain(videos[2])))) == videos[2]


def _plain(job: Job) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(job)


def test_a_stopped_run_is_taken_up_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = replace(PLAN, long_minutes=(), near_duplicates=False)
    folder = tmp_path / "corpus"
    videos, _ = video_jobs(plan)

    def make_one(video_folder: Path, job: Job, advance: making.Advance) -> dict[str, Any]:
        if job.number == 1:
            (video_folder / f".{job.name}").write_bytes(b"half a video")
            raise KeyboardInterrupt
        return render_job(video_folder, job, advance)

    monkeypatch.setattr("eval.workbench.render_pool.render_job", make_one)
    with pytest.raises(KeyboardInterrupt):
        make_corpus(folder, plan, workers=1)
    assert recommended_encoder([folder]) is None
    kept = (folder / "videos" / videos[0].name).stat().st_mtime_ns
    with (folder / ".workbench" / "films.jsonl").open("a", encoding="utf-8") as record:
        record.write('{"name": "torn')
    monkeypatch.undo()
    assert make_corpus(folder, plan, workers=1).made == 1
    assert (folder / "videos" / videos[0].name).stat().st_mtime_ns == kept
    assert {path.name for path in (folder / "videos").iterdir()} == {job.name for job in videos}
    assert manifest(folder)["videos"] == of_kind(manifest(corpus)["videos"], "clip")
    assert not (folder / ".workbench" / "films.jsonl").exists()


def test_another_corpus_in_the_same_folder_is_refused_in_one_line(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"made with other arguments \(seed 3\)") as refused:
        make_corpus(corpus, replace(PLAN, seed=4))
    assert "\n" not in str(refused.value)
    (tmp_path / "holiday.mp4").write_bytes(b"a real video")
    with pytest.raises(UsageError, match="not empty"):
        make_corpus(tmp_path, PLAN)
    with pytest.raises(UsageError, match="is a file; name a folder"):
        make_corpus(tmp_path / "holiday.mp4", PLAN)


def test_a_dead_worker_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    videos, _ = video_jobs(PLAN)
    monkeypatch.setattr("eval.workbench.render_pool.sys.executable", "/bin/false")
    with pytest.raises(RagError, match="a worker process ended unexpectedly"):
        list(render_jobs(tmp_path, videos[:2], 2, [].append))


def test_a_worker_that_cannot_write_says_so(tmp_path: Path) -> None:
    videos, _ = video_jobs(PLAN)
    with pytest.raises(RagError, match="no such file or directory"):
        list(render_jobs(tmp_path / "gone", videos[:2], 2, [].append))


def test_progress_counts_seconds_of_media(tmp_path: Path) -> None:
    class Watch:
        def __init__(self) -> None:
            self.said: list[object] = []
            self.seconds = 0.0

        def start(self, total_seconds: float, total_files: int) -> None:
            self.said.append((total_seconds, total_files))

        def file(self, path: str) -> None:
            self.said.append(Path(path).suffix)

        def advance(self, seconds: float) -> None:
            self.seconds += seconds

    watch = Watch()
    plan = CorpusPlan(clips=1, render=SMALL)
    make_corpus(tmp_path / "corpus", plan, workers=1, progress=watch)
    assert (watch.said, watch.seconds) == ([(30.0, 1), ".mp4"], 30.0)


def test_every_event_has_sound_and_silence_is_not_a_gap() -> None:
    assert set(SOUNDS) == {what.action_id for what in ACTIONS}
    for seed in range(4):
        story = plan_clip(seed, "train")
        samples = story_sound(story)
        assert samples.dtype == np.float32
        assert len(samples) == 30 * AUDIO_RATE
        assert 0 < np.abs(samples).max() <= 1
        assert (story_sound(story) == samples).all()
        seconds = samples.reshape(30, -1).std(axis=1)
        assert seconds.min() > 0
        for event in story.events:
            assert np.abs(event_sound(event, story.seed)).max() > 0.01


def test_a_tune_goes_on_where_it_stopped() -> None:
    whole = melody(5, 40000)
    halves = np.concatenate([melody(5, 20000), melody(5, 20000, offset=20000)])
    assert np.abs(whole[:20000] - halves[:20000]).max() == 0
    assert np.corrcoef(whole, halves)[0, 1] > 0.9
    assert (melody(6, 40000) != whole).any()


def test_text_on_the_frame_is_large_and_clear() -> None:
    image = Image.new("RGB", (640, 360), (120, 120, 120))
    render_card(image, "Order number 4821")
    changed = np.abs(np.asarray(image).astype(int) - 120).max(axis=2) > 0
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    assert rows[-1] - rows[0] > 30
    assert columns[-1] - columns[0] > 150
    long = Image.new("RGB", (640, 360), (120, 120, 120))
    render_card(long, "12  " + "A heading that is much too long for one line of a small frame " * 2)
    assert (np.asarray(long)[:, -10:] == 120).all()


def test_lines_are_voiced_where_a_voice_is_installed(tmp_path: Path) -> None:
    program = tmp_path / "flite"
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import sys, wave\n"
        "with wave.open(sys.argv[sys.argv.index('-o') + 1], 'wb') as out:\n"
        "    out.setnchannels(1); out.setsampwidth(2); out.setframerate(8000)\n"
        "    out.writeframes(b'\\x00\\x40' * 8000 * len(sys.argv[2].split()))\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    lines = [Line(1.0, 3.5, "Two words"), Line(5.0, 6.0, "Now three words")]
    spoken = voiced(lines, str(program))
    assert [len(said.samples) for said in spoken] == [2 * AUDIO_RATE, AUDIO_RATE]
    assert spoken[0].samples.mean() == pytest.approx(0.5)
    video = plan_long_video(1, "train", 0.5)
    silent, loud = (next(long_sound(video, voices)) for voices in ([], spoken))
    second = slice(2 * AUDIO_RATE, round(2.5 * AUDIO_RATE))
    assert loud[second].mean() - silent[second].mean() == pytest.approx(0.3, abs=0.02)
    with pytest.raises(RagError, match="could not speak a line"):
        voiced(lines, "/bin/false")
    assert spoken_seconds("four words to say") < spoken_seconds("four words to say and four more")


def test_the_manifest_says_who_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Mapping[str, Any]] = [{"voiced": False}, {"voiced": True}]
    monkeypatch.setattr(writer, "find_voice", lambda: "/usr/bin/flite")
    assert writer._voice(lines) == "flite"
    assert writer._voice(lines[:1]) is None


def test_two_at_once_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = replace(PLAN, clips=1, long_minutes=(), near_duplicates=False)

    def make_again(*_: object) -> dict[str, Any]:
        with pytest.raises(RagError, match="another process is making this corpus"):
            make_corpus(tmp_path, plan, workers=1)
        raise KeyboardInterrupt

    monkeypatch.setattr("eval.workbench.render_pool.render_job", make_again)
    with pytest.raises(KeyboardInterrupt):
        make_corpus(tmp_path, plan, workers=1)


def test_what_was_damaged_by_hand_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make_nothing(video_folder: Path, job: Job, _: making.Advance) -> dict[str, Any]:
        (video_folder / job.name).write_bytes(b"video")
        return {"name": job.name, "bytes": 5, "duration": 30.0, "voiced": False}

    monkeypatch.setattr("eval.workbench.render_pool.render_job", make_nothing)
    plan = replace(PLAN, long_minutes=(), near_duplicates=False)
    make_corpus(tmp_path, plan, workers=1)
    whole = hashes(tmp_path)
    marker = tmp_path / MANIFEST
    for garbage in ('{"workbench": 1}', '{"workbench": 1, "videos": [3, {"name": 5}]}', "[" * 100_000, "\0"):
        marker.write_text(garbage, encoding="utf-8")
        (tmp_path / ".workbench" / "films.jsonl").write_bytes(b'\xff\n[]\n{"name": "x"}\n')
        make_corpus(tmp_path, plan, workers=1)
        assert hashes(tmp_path) == whole
    (tmp_path / ".workbench" / "events.jsonl").unlink()
    assert make_corpus(tmp_path, plan, workers=1).made == 0
    assert hashes(tmp_path) == whole
    (tmp_path / ".workbench" / "plan.json").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="other arguments"):
        make_corpus(tmp_path, plan, workers=1)


def test_a_real_video_in_the_folder_is_none_of_the_worlds(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    video, real = tmp_path / "videos" / "a.mp4", tmp_path / "videos" / "holiday.MOV"
    video.write_bytes(b"rendered")
    write_marker(tmp_path, {"videos": [{"name": "a.mp4", "bytes": 8}]})
    assert recommended_encoder([tmp_path]) == "bundled"
    assert recommended_encoder([video]) == "bundled"
    real.write_bytes(b"not rendered")
    assert recommended_encoder([tmp_path]) is None
    assert recommended_encoder([tmp_path / "videos"]) is None
    assert recommended_encoder([real]) is None
    assert recommended_encoder([video]) == "bundled"
    real.unlink()
    (tmp_path / "more").symlink_to("/")
    assert recommended_encoder([tmp_path]) is None


def test_a_full_disk_is_reported_by_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> dict[str, Any]:
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr(render_worker, "render_job", full)
    render_worker._serve(tmp_path, video_jobs(PLAN)[0][0])
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["problem"].endswith(
        ".mp4: no space left on device; the same command goes on from here"
    )
