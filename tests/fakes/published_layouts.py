"""Two small rendered videos in the layouts that the papers' data are published in."""

import csv
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import av

from eval.workbench.corpus import make_corpus
from eval.workbench.jobs import CorpusPlan
from eval.workbench.video import Render
from tests.fakes.layouts import QUESTIONS

SECONDS = 30
OBJECTS = {"kitchen": ("kettle", "ladle", "mug"), "garage": ("hammer", "wrench", "drill")}
VERBS = ("lifts", "washes", "hides")
ADDRESS = "https://www.youtube.com/watch?v="


def render_videos(folder: Path) -> list[Path]:
    """Two videos of 30 s with their truth, which the simulated model reads."""
    make_corpus(folder, CorpusPlan(seed=3, split="dev", clips=2, render=Render(180, 2)), workers=1)
    return sorted((folder / "videos").glob("*.mp4"))


def write_egofact(home: Path, videos: Sequence[Path]) -> None:
    """Ego4D as its client leaves it, with one video that is missing; tables of Ego4DSounds and WikiHow."""
    (home / "ego4d" / "v2" / "full_scale").mkdir(parents=True)
    known, rows = [], ["video_uid\tclip_start\tclip_end\tclip_text"]
    for path, (uid, things) in zip(videos, OBJECTS.items(), strict=True):
        shutil.copy(path, home / "ego4d" / "v2" / "full_scale" / f"{uid}.mp4")
        known.append({"video_uid": uid, "duration_sec": 30.0, "scenarios": ["Bike mechanic", uid]})
        rows += [
            f"{uid}\t{4 + 5 * at}\t{6 + 5 * at}\t#C C {verb} the {thing}"
            for at, (verb, thing) in enumerate(zip(VERBS, things, strict=True))
        ]
    rows.append("gone\t1\t2\t#C C opens a box")
    known.append({"video_uid": "gone", "duration_sec": 30.0, "scenarios": ["Bike mechanic"]})
    (home / "ego4d" / "ego4d.json").write_text(json.dumps({"videos": known}), encoding="utf-8")
    (home / "train_clips_1.2m.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    with (home / "wikihowAll.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["headline", "title", "text"])
        names = [name for things in OBJECTS.values() for name in things]
        for at, (thing, verb) in enumerate((name, verb) for name in names for verb in ("Care for", "Choose")):
            text = f"A {thing} is useful. Keep the {thing} at {at + 10} degrees. Clean it when it is dirty."
            table.writerow([f"Clean the {thing}.", f"How to {verb} a {thing.title()}", text])


def write_video_detective(home: Path, videos: Sequence[Path]) -> None:
    """`Video-MME.tsv`, and the videos by their ids."""
    (home / "videomme" / "videos").mkdir(parents=True)
    with (home / "videomme" / "Video-MME.tsv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t")
        table.writerow(["index", "video", "duration", "task_type", "candidates", "question", "answer"])
        for number, path in enumerate(videos):
            shutil.copy(path, home / "videomme" / "videos" / f"video{number}.mp4")
            options = str(["A. A desk.", "B. A forest.", "C. A beach.", "D. A street."])
            row = [f"video{number}", "long", "Object Recognition", options, "Where is the video set?", "A"]
            table.writerow([number, *row])


def write_video_browser(home: Path, videos: Sequence[Path]) -> None:
    """Offline rows, and their pool beside the downloaded videos."""
    pool = home / "browsecomp" / "pool"
    pool.mkdir(parents=True)
    rows, links = [], []
    for number, truth in enumerate(_copied(pool, videos)):
        name = f"video{number}"
        source = {"url": ADDRESS + name, "title": _title(truth), "role": "positive", "video_id": name}
        rows.append(
            {
                "question": f"In the video that shows {truth['description']}, what is used first?",
                "answer": truth["events"][0]["patient"],
                "category": "Education",
                "difficulty": "level1",
                "evidence_chain": ["Find the video", "Look at its beginning"],
                "videos": [{**source, "local_path": f"data/{name}.mp4"}],
                "id": number,
                "mode": "offline",
            }
        )
        link = {"id": name, "title": _title(truth), "link": ADDRESS + name, "duration": SECONDS}
        links.append({**link, "description": truth["description"], "transcript": "This is my day."})
    _write_lines(home / "browsecomp" / "video_browsecomp.jsonl", rows)
    _write_lines(pool / "pool.jsonl", links)


def write_raclo(home: Path, videos: Sequence[Path]) -> None:
    """Rows in the paper's spelling, and the downloaded videos with their `.info.json`."""
    rows = []
    for number, truth in enumerate(_downloaded(home / "rvms" / "videos", videos)):
        first, second, third = truth["events"][:3]
        row = {
            "id": f"youtube_{number}",
            "video_url": f"{ADDRESS}video{number}",
            "video_category": "Lifestyle",
        }
        row |= {"timestamp": "00:07 / 00:30", "global_impression": f"A video of {truth['description']}."}
        if number == 0:
            row |= {"key_moment": second["rewritten"], "auditory_memory": "It is silent."}
            row["temporal_context"] = [first["rewritten"], third["rewritten"]]
        rows.append(row)
    _write_lines(home / "rvms" / "metadata.jsonl", rows)


def write_shotfinder(home: Path, videos: Sequence[Path]) -> None:
    """Rows in the spelling of the files, the true frames, the downloaded videos with their `.info.json`."""
    rows = []
    (home / "shotfinder" / "images").mkdir(parents=True)
    for number, truth in enumerate(_downloaded(home / "shotfinder" / "videos", videos)):
        event = truth["events"][1]
        row = {"id": number, "Video URL": f"{ADDRESS}video{number}", "Clip Description": event["rewritten"]}
        row |= {"Description": "Color", "Color Description": "The light is cold."} if number else {}
        rows.append(row)
        with av.open(str(videos[number])) as container:
            frame = next(one for one in container.decode(video=0) if one.time >= event["seen_from"])
        frame.to_image().save(home / "shotfinder" / "images" / f"{number}.jpg")
    _write_lines(home / "shotfinder" / "shotfinder.jsonl", rows)


def write_other_benchmarks(home: Path, videos: Sequence[Path]) -> None:
    """Multiple-choice benchmarks as published, their videos below in folders of other names. Both are one
    content, which is indexed once: what is tried is that each is found by its name."""
    for name in ("LVBench", "MLVU, test", "LongVideoBench", "EgoSchema", "NExT-GQA"):
        place = home / name.partition(",")[0].lower().replace("-", "")
        (place / "all" / "of_them").mkdir(parents=True)
        for name_of_video in ("v0", "v1"):
            (place / "all" / "of_them" / f"{name_of_video}.mp4").symlink_to(videos[0])
        next(layout for layout in QUESTIONS if layout.name == name).write(place)


def write_moments(home: Path, videos: Sequence[Path]) -> None:
    """QVHighlights: a validation split with gold, a test split without, and the clips."""
    (home / "qvhighlights" / "videos").mkdir(parents=True)
    rows = []
    for number, (path, truth) in enumerate(zip(videos, _truths(videos), strict=True)):
        name, event = f"video{number}_0.0_{SECONDS}.0", truth["events"][1]
        shutil.copy(path, home / "qvhighlights" / "videos" / f"{name}.mp4")
        row = {"qid": number, "query": event["rewritten"], "duration": SECONDS, "vid": name}
        clip = int(event["start"] / 2)
        gold = {"relevant_clip_ids": [clip], "saliency_scores": [[4, 3, 2]]}
        rows.append({**row, **gold, "relevant_windows": [[event["start"], event["end"]]]})
    _write_lines(home / "qvhighlights" / "highlight_val_release.jsonl", rows)
    kept = ("qid", "query", "duration", "vid")
    hidden = [{key: row[key] for key in kept} for row in rows]
    _write_lines(home / "qvhighlights" / "highlight_test_release.jsonl", hidden)


WRITERS: Mapping[str, Callable[[Path, Sequence[Path]], None]] = {
    "EgoFact": write_egofact,
    "VideoDetective": write_video_detective,
    "Video-Browser": write_video_browser,
    "RACLO": write_raclo,
    "ShotFinder": write_shotfinder,
    "Other benchmarks": write_other_benchmarks,
    "Moment retrieval": write_moments,
}
"""By section of the page: folder and videos to data."""


def _truths(videos: Sequence[Path]) -> list[dict[str, Any]]:
    lines = (videos[0].parents[1] / ".workbench" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    found = {truth["video"]: truth for truth in map(json.loads, lines)}
    return [found[path.name] for path in videos]


def _copied(folder: Path, videos: Sequence[Path]) -> list[dict[str, Any]]:
    folder.mkdir(parents=True, exist_ok=True)
    for number, path in enumerate(videos):
        shutil.copy(path, folder / f"video{number}.mp4")
    return _truths(videos)


def _downloaded(folder: Path, videos: Sequence[Path]) -> list[dict[str, Any]]:
    truths = _copied(folder, videos)
    for number, truth in enumerate(truths):
        info = {"id": f"video{number}", "webpage_url": f"{ADDRESS}video{number}", "title": _title(truth)}
        (folder / f"video{number}.info.json").write_text(json.dumps(info), encoding="utf-8")
    return truths


def _title(truth: Mapping[str, Any]) -> str:
    return f"My {truth['description'].partition(' with ')[0]}"


def _write_lines(path: Path, rows: Sequence[Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
