"""Where run folders are: by default `runs/BENCHMARK/SYSTEM-seedN`, so that benchmarks keep apart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from eval.resumable import differences, first_few
from eval.runs.manifest import known_identity
from rag.errors import UsageError

RUNS = Path("runs")
LEVELS = 2
"""How deep below a folder runs are looked for: `runs/SYSTEM-seed0` and `runs/BENCHMARK/SYSTEM-seed0`."""


def plain_name(name: str) -> str:
    """The name with nothing in it that a path could not hold."""
    return re.sub(r"[^\w.-]+", "_", name)


def folder_name(system: str, seed: int) -> str:
    """`localized-seed0`."""
    return f"{plain_name(system)}-seed{seed}"


def default_place(benchmark: str) -> Path:
    """`runs/egofact-workbench`: where the runs on a benchmark go by default."""
    return RUNS / plain_name(benchmark)


def run_folders(places: Sequence[Path]) -> list[Path]:
    """The run folders among `places`, and in place of a folder that holds runs those runs, by name.

    Runs are in such a folder or one folder deeper. What has no manifest is no run; a place that is none
    and holds none is given back as it is, for its reader to refuse. Each folder is named once.
    """
    found: list[Path] = []
    for place in places:
        below = [] if (place / "manifest.json").exists() else list(_runs_below(place, LEVELS))
        found += below or [place]
    return list(dict.fromkeys(found))


def _runs_below(place: Path, levels: int) -> Iterator[Path]:
    """Folders of data have a manifest too, but no samples."""
    if not levels or not place.is_dir():
        return
    for folder in sorted(place.iterdir()):
        if (folder / "manifest.json").is_file() and (folder / "samples.jsonl").is_file():
            yield folder
        else:
            yield from _runs_below(folder, levels - 1)


def require_same_run(folder: Path, benchmark: str, system: str, seed: int, limit: int | None) -> None:
    """Raises `UsageError` where `folder` holds a run of something else; nothing is opened for it.

    Settings, data and encoders are compared when the run is opened: they are not known before.
    """
    path = folder / "manifest.json"
    try:
        identity = json.loads(path.read_text(encoding="utf-8"))["identity"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return  # nothing there yet, or nothing that can be read: reported when the run is opened
    if not isinstance(identity, dict):
        return
    changed = first_few(
        change
        for name, value in known_identity(benchmark, system, seed, limit).items()
        for change in differences(name, identity.get(name), value)
    )
    if changed:
        raise UsageError(
            f"{folder}: it was made otherwise: {changed}; name another folder with --out, or delete this "
            "one to start over"
        )
