"""Ego4D, Ego4DSounds and WikiHow in small, and a model behind HTTP that plays the construction's roles."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

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
        for at, thing in enumerate(name for things in OBJECTS.values() for name in things):
            text = f"A {thing} is useful. Keep the {thing} at {at + 10} degrees. Clean it when it is dirty."
            table.writerow([f"Clean the {thing}.", f"How to Care for a {thing.title()}", text])


def _material(name: str, user: str) -> str:
    found = re.search(rf"\[BEGIN {name} (\w+)\]\n(.*?)\n\[END {name} \1\]", user, re.DOTALL)
    return found[2] if found else ""


def play(request: dict[str, Any]) -> dict[str, Any]:
    system, user = (
        "".join(part.get("text", "") for part in parts) if isinstance(parts, list) else parts
        for parts in (message["content"] for message in request["messages"][:2])
    )
    step = re.search(r"Step: (\w+)\.", system)
    assert step is not None
    return ROLES[step[1]](user)


def _scene(user: str) -> str:
    return "kitchen" if "kitchen" in _material("scenarios", user) else "garage"


def _structure(user: str) -> dict[str, Any]:
    verb, thing = re.findall(r"#C C (\w+) the (\w+)", user)[-1]
    return {
        "rewritten": f"the camera wearer {verb} the {thing}",
        "agent": "camera wearer",
        "action": verb.rstrip("s"),
        "patient": thing,
        "patient_canonical": thing,
    }


def _distractors(user: str) -> dict[str, Any]:
    answer = _material("answer", user)
    others = [name for things in OBJECTS.values() for name in things if name != answer]
    return {"distractors": [answer, *others], "reasoning": "One is the answer itself.", "score": 9}


def _statements(user: str) -> dict[str, Any]:
    found = re.search(r"at (\d+) degrees", _material("passage", user))
    assert found is not None
    facts = [f"It is kept at {int(found[1]) + more} degrees." for more in (0, 30, 40, 50)]
    return {"activity": f"caring for job {found[1]}", "fact": facts[0], "counterfacts": facts[1:]}


def _choice(user: str) -> dict[str, Any]:
    texts = " ".join(re.findall(r"\[BEGIN text \d+ \w+\]\n(.*?)\n\[END", user, re.DOTALL))
    for label, option in re.findall(r"^\((\w)\) (.*)$", _material("options", user), re.MULTILINE):
        number = re.search(r"at \d+ degrees", option)
        if texts and (number[0] if number else option) in texts:
            return {"choice": label}
    return {"choice": "C"}


ROLES: dict[str, Callable[[str], dict[str, Any]]] = {
    "describe_screenshot": lambda user: {"description": f"A {_scene(user)}."},
    "narrate_timeline": lambda user: {
        "concise": f"the video that shows work in a {_scene(user)}",
        "detailed": f"the video that shows a {_scene(user)}.",
    },
    "timeline_keywords": lambda user: {"keywords": {_scene(user): 10}},
    "event_structure": _structure,
    "write_distractors": _distractors,
    "write_statements": _statements,
    "check_choice": _choice,
}
