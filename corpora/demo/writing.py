"""Writes the demo corpus: six films with their subtitles, and how-to documents."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

from corpora.demo.story import FILMS, Film, Said
from corpora.demo.texts import CORPUS, NOTES

__all__ = ["write_demo_corpus"]

ASS = """[Script Info]
ScriptType: v4.00+

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""


def write_demo_corpus(folder: str | os.PathLike[str], *, seed: int = 0) -> None:
    """Write `videos/` and `passages/` below the folder, which is made if need be.

    The same seed gives the same bytes. A film that is there already is left alone, for a film
    appears under its name only when it is whole; the texts are written anew.
    """
    from corpora.demo.filming import write_film

    videos, passages = Path(folder) / "videos", Path(folder) / "passages"
    videos.mkdir(parents=True, exist_ok=True)
    passages.mkdir(exist_ok=True)
    for name, text in NOTES.items():
        _write(passages / name, text)
    lines = ({"_id": i, "title": title, "text": text, "metadata": {}} for i, title, text in CORPUS)
    _write(passages / "corpus.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    for film in FILMS:
        _write_words(videos, film)
        path = videos / film.name
        if not path.exists():
            unfinished = path.with_name(f".{path.name}")
            write_film(unfinished, film, seed)
            unfinished.replace(path)


def _write_words(videos: Path, film: Film) -> None:
    path = videos / film.name
    if film.words == "srt":
        cues = (f"{i}\n{_span(line, ',')}\n{line.text}\n" for i, line in enumerate(film.said, start=1))
        _write(path.with_suffix(".en.srt"), "\n".join(cues))
    elif film.words == "vtt":
        cues = (f"{_span(line, '.')}\n{line.text}\n" for line in film.said)
        _write(path.with_suffix(".vtt"), "WEBVTT\n\n" + "\n".join(cues))
    elif film.words == "ass":
        spans = (
            (_clock(line.start, ".")[1:-1], _clock(line.end, ".")[1:-1], line.text) for line in film.said
        )
        events = (f"Dialogue: 0,{start},{end},Default,,0,0,0,,{text}\n" for start, end, text in spans)
        _write(path.with_suffix(".ass"), ASS + "".join(events))
    if film.info:
        _write(path.with_suffix(".info.json"), json.dumps(_info(film), indent=1) + "\n")


def _info(film: Film) -> dict[str, object]:
    starts = [0.0, *itertools.accumulate(scene.seconds for scene in film.scenes)]
    chapters = [
        {"title": scene.heading, "start_time": start, "end_time": start + scene.seconds}
        for scene, start in zip(film.scenes, starts, strict=False)
    ]
    return {
        "title": film.title,
        "description": film.description,
        "tags": list(film.tags),
        "chapters": chapters,
        "duration": starts[-1],
        "language": "en",
    }


def _span(line: Said, mark: str) -> str:
    return f"{_clock(line.start, mark)} --> {_clock(line.end, mark)}"


def _clock(seconds: float, mark: str) -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}{mark}{thousandths:03}"


def _write(path: Path, text: str) -> None:
    """An unchanged file is not touched, so that it is not indexed again."""
    data = text.encode()
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)
