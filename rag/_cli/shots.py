"""`rag shots`: the shots of a video with their measurements, and its near-duplicates."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag._cli.options import Config, Json, Library, Seed, Verbose
from rag._cli.output import echo_stderr, print_json, print_lines
from rag._cli.session import start

if TYPE_CHECKING:
    from corpora.records import SoundTrack, Video


def shots(
    video: Annotated[
        Path,
        typer.Argument(
            metavar="VIDEO", help="An indexed video: its path or the end of it, its id or the start of it."
        ),
    ],
    copies: Annotated[bool, typer.Option("--copies", help="Also find near-duplicates of the video.")] = False,
    library: Library = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
    seed: Seed = None,
) -> int:
    """List the shots of a video, with their tone, style and sound as measured."""
    session = start(library, config, as_json, verbose, seed)
    with session.open_library() as opened:
        video_id = opened.video_id(os.fsdecode(video))
        facts = opened.engine.reader.video(video_id)
        videos_without_fingerprint = opened.videos_without_fingerprint() if copies else frozenset[str]()
        known = copies and facts.height > 0 and video_id not in videos_without_fingerprint
        found: dict[str, Any] = {
            "path": opened.path_of(video_id),
            "video_id": video_id,
            "width": facts.width,
            "height": facts.height,
            "shots": opened.shots(video_id),
            "sound": sound_runs(opened.sound_track(video_id), facts.duration),
            "copies": opened.near_duplicates(video_id) if known else None,
            "uncompared": len(videos_without_fingerprint - {video_id}) if known else None,
        }
    if session.as_json:
        from rag.rendering.shapes import report_shape

        print_json(report_shape("rag.shots/1", found))
    else:
        print_lines(_lines(facts, found))
    if copies:
        _warn(facts, found)
    return 0


def _warn(facts: Video, found: dict[str, Any]) -> None:
    """Report what was not compared."""
    remedy = "run rag index on its folder again, which measures it without encoding anything again"
    if found["copies"] is None:
        lacks = f"it has no fingerprint; {remedy}" if facts.height > 0 else "it has no picture to compare"
        echo_stderr(f"rag: near-duplicates of this video were not looked for: {lacks}")
    elif found["uncompared"]:
        echo_stderr(
            f"rag: videos without a fingerprint were not compared: {found['uncompared']}; "
            "run rag index on their folders again"
        )


def sound_runs(track: SoundTrack | None, duration: float = math.inf) -> list[dict[str, Any]] | None:
    """Intervals of one class: start, end, class, and mean loudness in LUFS; None without a track.

    The last ends with the video, after `duration` seconds. Class and loudness are None where nothing was
    decoded.
    """
    if track is None:
        return None
    runs: list[dict[str, Any]] = []
    for second, (name, level) in enumerate(zip(track.classes, track.loudness.tolist(), strict=True)):
        if second >= duration:
            break
        if not runs or runs[-1]["class"] != name:
            runs.append({"start": float(second), "end": 0.0, "class": name, "loudness": 0.0})
        run = runs[-1]
        run["loudness"] += (level - run["loudness"]) / (second + 1 - run["start"])
        run["end"] = min(float(second + 1), duration)
    for run in runs:
        run["loudness"] = None if run["class"] is None else round(run["loudness"], 1)
    return runs


def _lines(facts: Video, found: dict[str, Any]) -> Iterator[str]:
    from rag.rendering.terminal import span, table_lines, visible

    yield f"{visible(found['path'])}  {facts.width}x{facts.height}"
    if not found["shots"] and found["sound"] is None:
        yield "not measured yet; run rag index on its folder"
    if found["shots"]:
        head = ["shot", "tone", "warmth", "style", "saturation", "brightness", "contrast", "sharpness"]
        rows = []
        for shot in found["shots"]:
            figures = shot.saturation, shot.brightness, shot.contrast, shot.sharpness
            row = [span(shot.start, shot.end), shot.tone, f"{shot.warmth:.1f}", shot.style or "-"]
            rows.append([*row, *(f"{figure:.1f}" for figure in figures)])
        yield from table_lines([head, *rows])
    for run in found["sound"] or ():
        heard = "not measured" if run["class"] is None else f"{run['class']}, {run['loudness']:.1f} LUFS"
        yield f"{span(run['start'], run['end'])}  {heard}"
    if found["copies"] is not None:
        compared = "no other measured video" if found["uncompared"] else "no other video"
        yield "near-duplicates:" if found["copies"] else f"{compared} is a near-duplicate"
        for like in found["copies"]:
            yield f"  {like.score:.3f}  {visible(like.path)}  {_pace(like.speed)}"


def _pace(speed: float) -> str:
    """Speed of the other video, each second of which shows `speed` seconds of this one."""
    return f"{speed:.2f} times the speed" if abs(speed - 1) >= 0.005 else "same speed"
