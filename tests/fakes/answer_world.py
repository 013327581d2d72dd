"""A small library for tests of retrieval and answering: real tables, made-up vectors, no model.

Text vectors are hashed bags of stems; image embeddings have one axis a thing.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpora.records import Clip, Evidence, Frames, Passage, Shot, Tone, Video
from indexers.protocol import TextEncoder, TextTower, unit_rows
from rag.store.records import ClipFrames, EncoderRef, FileRow, Meta, clips_of_video
from rag.store.writing import Writer
from rag.words import content_words, tokens

WARMTHS: dict[Tone, float] = {"warm": 20.0, "neutral": 0.0, "cold": -20.0}
THINGS = ("drill", "iron", "lamp", "kettle", "spoon", "knife", "hammer", "brush")


class BagOfWords(TextEncoder):
    """Texts that share words are near each other; 256 axes by hash, so unrelated ones are near orthogonal."""

    name = "bag-of-words"
    dim = 256
    fingerprint = "bag-of-words-1"

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += texts
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in content_words(text):
                digest = blake2b(word.encode(), digest_size=4).digest()
                row[int.from_bytes(digest[:2], "big") % self.dim] += 1.0
        return unit_rows(rows)


class ImageWords(TextTower):
    """Words into the space of images: the axes of the things that are named, and one that all share."""

    name = "image-words"
    dim = len(THINGS) + 9
    fingerprint = "image-words-1"

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return unit_rows(np.stack([self.image(tokens(text), text) for text in texts]))

    def image(self, things: Sequence[str], noise: str = "") -> NDArray[np.float32]:
        """Unit (dim,): `things` seen, a shared part, and a little noise by the hash of `noise`."""
        row = np.zeros(self.dim, np.float32)
        row[-1] = 0.5
        for thing in things:
            if thing in THINGS:
                row[THINGS.index(thing)] += 1.0
        digest = blake2b(noise.encode(), digest_size=8).digest()
        row[len(THINGS) : -1] += (np.frombuffer(digest, np.uint8) / 255.0 - 0.5) * 0.3
        return unit_rows(row[None])[0]


Script = Mapping[str, Sequence[tuple[float, float, str, str]]]
"""Video name to rows (start, end, what is seen, what is said); either may be empty."""


def build_library(
    folder: Path,
    videos: Script,
    passages: Mapping[str, str],
    tower: ImageWords | None,
    *,
    title: str = "",
    words: TextEncoder | None = None,
) -> Path:
    """Write a library of 30 s clips at 2 frames a second; returns its folder. `title`: of all videos."""
    words = words or BagOfWords()
    text_ref = EncoderRef(words.name, words.fingerprint, words.dim)
    image_ref = EncoderRef(tower.name, tower.fingerprint, tower.dim) if tower else None
    with Writer.open(folder) as writer:
        writer.set_meta(Meta(image_ref, text_ref))
        for name, rows in videos.items():
            duration = max(end for _, end, _, _ in rows)
            video = Video(name, f"/videos/{name}.mp4", name, "", (), duration, 25.0, 640, 360, False, "")
            tags = [Evidence(name, 0.0, duration, "tag", title)] if title else []
            put_video(writer, video, rows, tower, words, tags)
        if passages:
            held = [
                Passage(f"p{i}", f"d{i}", title, text) for i, (title, text) in enumerate(passages.items())
            ]
            writer.put_passages("texts", held, words.encode_text([f"{p.title}\n{p.text}" for p in held]))
            writer.put_file(FileRow("/texts/all.csv", "texts", "passages", 1, 1, 1, "1"))
        writer.maintain()
    return folder


def put_video(
    writer: Writer,
    video: Video,
    rows: Sequence[tuple[float, float, str, str]],
    tower: ImageWords | None,
    words: TextEncoder,
    evidence: Sequence[Evidence] = (),
    tones: Sequence[Tone] = (),
) -> None:
    """A video, shown and said as in `rows`, with more evidence, and a shot of each tone in turn; of a video
    without tones neither shots nor sound are measured. Its file need not be there."""
    path, name = Path(video.path), video.video_id
    facts = path.stat() if path.exists() else None
    size, changed = (facts.st_size, facts.st_mtime_ns) if facts is not None else (1, 1)
    writer.put_file(FileRow(video.path, name, "video", size, changed, changed, "1"))
    clips = clips_of_video(name, video.duration, 30.0, 5.0)
    frames = [ClipFrames.bare(clip) if tower is None else frames_of(clip, rows, tower) for clip in clips]
    spoken = [Evidence(name, start, end, "subtitle", said) for start, end, _, said in rows if said]
    held = [*spoken, *evidence]
    vectors, shots = words.encode_text([line.text for line in held]), list[Shot]()
    if tones:
        length = video.duration / len(tones)
        starts = [length * at for at in range(len(tones))]
        shots = [
            Shot(f"{name}:s{at:05d}", name, start, start + length, start + 1.0, tone, WARMTHS[tone], "live")
            for at, (start, tone) in enumerate(zip(starts, tones, strict=True))
        ]
    stages = {"shots": "1", "sound": "1"} if tones else {}
    writer.put_video(video, stages, frames, held, vectors, shots=shots)


def frames_of(clip: Clip, rows: Sequence[tuple[float, float, str, str]], tower: ImageWords) -> ClipFrames:
    """The stored frames of a clip, at 2 a second: vectors float32 (n, dim) of what is seen by `rows`."""
    times = np.arange(clip.start, clip.end, 0.5)
    vectors = []
    for time in times:
        seen = next((seen for start, end, seen, _ in rows if seen and start <= time < end), "")
        vectors.append(tower.image(tokens(seen), f"{clip.clip_id} {time}"))
    matrix = np.stack(vectors).astype(np.float32)
    return ClipFrames(clip, times, matrix, unit_rows(matrix.mean(axis=0, keepdims=True))[0])


def blank_frames(_: str, times: NDArray[np.float64]) -> Frames:
    """In place of the pixels of a file at these times, float64 (n,): uint8 (n, 12, 16, 3)."""
    return Frames(np.asarray(times, np.float64), np.zeros((len(times), 12, 16, 3), np.uint8))
