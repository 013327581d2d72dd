"""Ego4D, Ego4DSounds and WikiHow in small."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tests.fakes.synthetic import write_video

OBJECTS = {"kitchen": ("kettle", "ladle", "mug"), "garage": ("hammer", "wrench", "drill")}
VERBS = ("lifts", "washes", "hides")


def write_sources(folder: Path, videos_of: Mapping[str, Path] = MappingProxyType({})) -> None:
    """Ego4D's files for two videos of 30 s, given or written, and one that is missing; a WikiHow table."""
    (folder / "ego4d" / "v2" / "full_scale").mkdir(parents=True)
    videos, rows = [], ["video_uid\tclip_start\tclip_end\tclip_text"]
    for uid, things in OBJECTS.items():
        path = folder / "ego4d" / "v2" / "full_scale" / f"{uid}.mp4"
        if uid in videos_of:
            shutil.copy(videos_of[uid], path)
        else:
            write_video(path, seconds=30, fps=2, size=(64, 48))
        videos.append({"video_uid": uid, "duration_sec": 30.0, "scenarios": ["Bike mechanic", uid]})
        rows += [
            f"{uid}\t{4 + 5 * at}\t{6 + 5 * at}\t#C C {verb} the {thing}"
            for at, (verb, thing) in enumerate(zip(VERBS, things, strict=True))
        ]
    rows.append("gone\t1\t2\t#C C opens a box")
    videos.append({"video_uid": "gone", "duration_sec": 30.0, "scenarios": ["Bike mechanic"]})
    (folder / "ego4d" / "ego4d.json").write_text(json.dumps({"videos": videos}), encoding="utf-8")
    (folder / "sounds.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    with (folder / "wikihow.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["headline", "title", "text"])
        names = [name for things in OBJECTS.values() for name in things]
        for at, (thing, verb) in enumerate((name, verb) for name in names for verb in ("Care for", "Choose")):
            text = f"A {thing} is useful. Keep the {thing} at {at + 10} degrees. Clean it when it is dirty."
            table.writerow([f"Clean the {thing}.", f"How to {verb} a {thing.title()}", text])
