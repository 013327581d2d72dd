"""`rag shots`: what was measured on a video when it was indexed, and which other videos show the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag._cli.options import Config, Json, Library, Seed, Verbose
from rag._cli.output import print_json, print_lines
from rag._cli.session import start

if TYPE_CHECKING:
    from rag.records import SoundTrack, Video

__all__ = ["shots", "sound_runs"]


def shots(
    video: Annotated[
        Path,
        typer.Argument(
            metavar="VIDEO", help="An indexed video: its path or the end of it, its id or the start of that."
        ),
    ],
    copies: Annotated[
        bool, typer.Option("--copies", help="Also look for other videos that show the same.")
    ] = False,
    library: Library = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
    seed: Seed = None,
) -> int:
    """List the shots of a video, with tone, style and sound as they were measured."""
    session = start(library, config, as_json, verbose, seed)
    with session.open_library() as shelf:
        video_id = shelf.video_id(os.fsdecode(video))
        facts = shelf.reader.video(video_id)
        found: dict[str, Any] = {
            "path": shelf.path_of(video_id),
            "video_id": video_id,
            "width": facts.width,
            "height": facts.height,
            "shots": shelf.shots(video_id),
            "sound": sound_runs(shelf.sound_track(video_id)),
            "copies": shelf.copies_of(video_id) if copies else None,
        }
    if session.as_json:
        from rag.rendering.shapes import report_shape

        print_json(report_shape("rag.shots/1", found))
    else:
        print_lines(_lines(facts, found))
    return 0


def sound_runs(track: SoundTrack | None) -> list[dict[str, Any]] | None:
    """Stretches of one class: start, end, class, and their mean loudness in LUFS; None without a track."""
    if track is None:
        return None
    runs: list[dict[str, Any]] = []
    for second, (name, level) in enumerate(zip(track.classes, track.loudness.tolist(), strict=True)):
        if not runs or runs[-1]["class"] != name:
            runs.append({"start": float(second), "end": 0.0, "class": name, "loudness": 0.0})
        run = runs[-1]
        run["end"] = float(second + 1)
        run["loudness"] += (level - run["loudness"]) / (run["end"] - run["start"])
    return [{**run, "loudness": round(run["loudness"], 1)} for run in runs]


def _lines(facts: Video, found: dict[str, Any]) -> Iterator[str]:
    from rag.rendering.terminal import span, table_lines, visible

    yield f"{visible(found['path'])}  {facts.width}x{facts.height}"
    if not found["shots"] and found["sound"] is None:
        yield "nothing was measured on it; rag index on its folder does so"
    if found["shots"]:
        head = ["shot", "tone", "warmth", "style", "saturation", "brightness", "contrast", "sharpness"]
        rows = []
        for shot in found["shots"]:
            figures = shot.saturation, shot.brightness, shot.contrast, shot.sharpness
            row = [span(shot.start, shot.end), shot.tone, f"{shot.warmth:.1f}", shot.style or "-"]
            rows.append([*row, *(f"{figure:.1f}" for figure in figures)])
        yield from table_lines([head, *rows])
    for run in found["sound"] or ():
        yield f"{span(run['start'], run['end'])}  {run['class']}, {run['loudness']:.1f} LUFS"
    if found["copies"] is not None:
        yield "the same in other files:" if found["copies"] else "no other video shows the same"
        for like in found["copies"]:
            yield f"  {like.score:.3f}  {visible(like.path)}  at {like.speed:.2f} of its speed"
