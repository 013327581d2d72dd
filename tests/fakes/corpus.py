"""A small corpus with everything odd in it, and settings that index it with a tiny real encoder."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.fakes.synthetic import damage, truncate, write_video
from tests.fakes.tiny_models import save_clip


def write_corpus(folder: Path) -> Path:
    """Seven videos and two passage files; one video is damaged, one cut off, one there under two names."""
    folder.mkdir(parents=True)
    write_video(
        folder / "long.mp4",
        64,
        fps=4,
        subtitles=[(1, 4, "The torque wrench clicks."), (40, 44, "Oil the chain.")],
    )
    write_video(folder / "short.mkv", 6, fps=12)
    write_video(folder / "variable.mp4", 12, variable_rate=True)
    write_video(folder / "sound.mp4", 6, audio=True)
    write_video(folder / "hurt.mp4", 31, fps=4)
    damage(folder / "hurt.mp4", 0.02, seed=4)
    write_video(folder / "cut off.mkv", 10)
    truncate(folder / "cut off.mkv", 0.6)
    (folder / "again").mkdir()
    shutil.copy(folder / "short.mkv", folder / "again" / "copy.mkv")
    (folder / "short.srt").write_text(
        "1\n00:00:02,000 --> 00:00:05,000\nHold the soldering iron like a pen.\n"
    )
    (folder / "notes.md").write_text(
        "# Chain oil\n\nWipe the chain dry. Use two drops of oil on every link.\n"
    )
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "Wrench", "text": "Set it to 25 Nm."}\n')
    return folder


def tiny_settings(folder: Path) -> dict[str, str]:
    """Environment for `rag`: a tiny random CLIP, fixed arithmetic and batch, no OCR."""
    model = save_clip(folder / "tiny-clip")
    return {
        "RAG_ENCODER__IMAGE": f"hf:{model}",
        "RAG_ENCODER__BACKEND": "torch-fp32",
        "RAG_ENCODER__BATCH": "4",
        "RAG_OCR__MODE": "off",
    }
