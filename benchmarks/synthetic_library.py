"""A synthetic library of any size, without a video: vectors, text and full-text indexes as a real one has.

Each hour has 6 videos of 10 minutes, 120 clips with two vectors each, 720 spans of text and 10 passages.

Clip vectors are in a cone, about topics, then about videos, with a power-law spectrum: two clips have a mean
cosine of 0.31. Vectors of spans are about sentences that the text encoder itself has encoded, so that the
geometry of its space is real; their words, the encoder's own whole words, have a Zipf distribution. The rows
go through the store's own schema functions and `Writer.put_videos`, some hundred videos a commit, and the
tables are then maintained as after indexing. Equal arguments give equal rows.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.records import Clip, Evidence, EvidenceKind, Passage, Video
from indexers.models.lookup import find_weights
from indexers.registry import open_query_encoder
from indexers.settings import EncoderSettings
from rag.store import schema
from rag.store.records import ClipFrames, EncoderRef, FileRow, Meta
from rag.store.writing import Writer

TEXT_ENCODER = "all-MiniLM-L6-v2"
IMAGE = EncoderRef("synthetic", "a" * 32, 512)
META = Meta(IMAGE, EncoderRef(TEXT_ENCODER, "b" * 32, 384))
VIDEOS, CLIPS, SPANS, PASSAGES = 6, 20, 120, 10
"""Videos an hour; clips and spans a video; passages an hour."""
FRAMES = 2
"""Vectors a clip, of which indexing stores 60: 61 KB."""
GROUP = 500
"""Videos a commit."""
VIDEOS_PER_TOPIC = 10
SENTENCES = 4000
"""That the spans are about; a video has `SUBJECTS` of them."""
SUBJECTS = 8
SEED = 16

Rows = NDArray[np.float32]


def unit(rows: NDArray[np.floating[Any]]) -> Rows:
    """Rows of length 1, float32."""
    found: Rows = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return found


@cache
def vocabulary() -> tuple[NDArray[np.str_], NDArray[np.float64]]:
    """The text encoder's whole words, most frequent first, and the distribution function of 1 / rank."""
    file = find_weights(TEXT_ENCODER, EncoderSettings()) / "vocab.txt"
    held = file.read_text(encoding="utf-8").split("\n")
    words = [word for word in held if re.fullmatch("[a-z]{3,}", word)]
    weights = np.cumsum(1 / np.arange(1, len(words) + 1))
    return np.array(words, object), weights / weights[-1]


def words(rng: np.random.Generator, *shape: int) -> list[str]:
    """Texts of random words with a Zipf distribution; `shape`: (texts, words), or (words,) for one."""
    held, upto = vocabulary()
    chosen = held[np.searchsorted(upto, rng.random(shape))]
    return [" ".join(row) for row in np.atleast_2d(chosen)]


def sentences(rng: np.random.Generator, count: int) -> list[str]:
    """Sentences about things that the most frequent words do not name."""
    held, upto = vocabulary()
    chosen = held[np.searchsorted(upto, rng.uniform(0.45, 1, (count, 6)))]
    return [f"the {a} {b} of {c} and {d} was {e} in the {f}" for a, b, c, d, e, f in chosen]


def subjects(count: int) -> list[str]:
    """The sentences that spans and passages are about."""
    return sentences(np.random.default_rng((SEED, 3)), count)


def questions(rng: np.random.Generator, count: int) -> list[str]:
    """Questions with two words of one of the `subjects` each."""
    held = [text.split() for text in subjects(SENTENCES)]
    chosen = rng.choice(len(held), count, replace=False)
    return [f"where is the {held[at][2]} with the {held[at][4]}?" for at in chosen]


class ClipSpace:
    """The distribution of clip vectors; the same for one size of library."""

    def __init__(self, videos: int, dim: int) -> None:
        rng = np.random.default_rng((SEED, 1))
        spectrum = np.arange(1, dim + 1) ** -0.5
        turn, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
        self._mix = (turn * (spectrum / np.linalg.norm(spectrum))).T.astype(np.float32)
        self.cone = turn[:, -1].astype(np.float32)
        self.topics = self.residuals(rng, max(8, videos // VIDEOS_PER_TOPIC))

    def residuals(self, rng: np.random.Generator, *shape: int) -> Rows:
        """Outside the cone's axis, float32 (*shape, dim), of length about 1."""
        rows: Rows = rng.standard_normal((*shape, len(self._mix)), dtype=np.float32) @ self._mix
        return rows

    def videos(self, rng: np.random.Generator, count: int) -> Rows:
        """Centres of videos, (count, dim)."""
        near = self.topics[rng.integers(len(self.topics), size=count)]
        return 0.62 * near + 0.55 * self.residuals(rng, count)

    def clips(self, rng: np.random.Generator, videos: Rows, each: int) -> Rows:
        """Unit rows (videos, each, dim)."""
        own = videos[:, None] + 0.56 * self.residuals(rng, len(videos), each)
        return unit(0.31**0.5 * self.cone + 0.69**0.5 * own)

    def text_like(self, rng: np.random.Generator, near: Rows) -> Rows:
        """Unit rows as a text tower gives them, (n, dim): in a cone of their own, a quarter about `near`.

        `near`: unit rows (n, dim) of the space of the clips.
        """
        away = unit(np.random.default_rng((SEED, 2)).standard_normal(len(self.cone)))
        noise = unit(rng.standard_normal(near.shape))
        aimed = unit(near - (near @ self.cone)[:, None] * self.cone)
        return unit(0.27 * self.cone + 0.25 * aimed + 0.6 * away + 0.7 * noise)


class TextSpace:
    """The distribution of vectors of spans and passages: about sentences that were encoded."""

    def __init__(self, count: int) -> None:
        self.sentences = subjects(count)
        encoder = open_query_encoder(TEXT_ENCODER, EncoderSettings())
        rows = [encoder.encode_text([text]) for text in self.sentences]  # each alone
        self.rows = np.concatenate(rows).astype(np.float32)
        centred = self.rows - self.rows.mean(axis=0)
        values, axes = np.linalg.eigh(centred.T @ centred / count)
        self._mix = (axes * np.sqrt(values.clip(0) / values.clip(0).sum())).T.astype(np.float32)

    def near(self, rng: np.random.Generator, chosen: NDArray[np.int64]) -> Rows:
        """A unit row (n, dim) about each chosen sentence, with the sentences' own spectrum."""
        noise = rng.standard_normal((len(chosen), len(self._mix)), dtype=np.float32) @ self._mix
        return unit(0.65 * self.rows[chosen] + 0.75 * noise)


def build(folder: Path, hours: float) -> None:
    """Make a library of `hours`."""
    videos = max(1, round(VIDEOS * hours))
    clips, texts = ClipSpace(videos, IMAGE.dim), TextSpace(SENTENCES)
    with Writer.open(folder) as writer:
        writer.set_meta(META)
        for first in range(0, videos, GROUP):
            _add_group(writer, range(first, min(videos, first + GROUP)), clips, texts)
            writer.flush()
        writer.maintain()


def _add_group(writer: Writer, numbers: range, clips: ClipSpace, texts: TextSpace) -> None:
    import pyarrow as pa

    rng = np.random.default_rng((SEED, 4, numbers.start))
    made = [_video(f"/v/{n:06d}.mp4") for n in numbers]
    held, spans = [], []
    centres = clips.videos(rng, len(made))
    for video, vectors in zip(made, clips.clips(rng, centres, CLIPS), strict=True):
        seen = unit(vectors[:, None] + 0.4 * clips.residuals(rng, CLIPS, FRAMES))
        held += [_clip(video, i, vectors[i], seen[i]) for i in range(CLIPS)]
        spans.append(_spans(rng, video, texts))
    tables = [
        (schema.vectors_table(IMAGE), schema.vector_rows(held, IMAGE.dim)),
        ("evidence", pa.concat_tables(spans)),
    ]
    writer.put_videos({video: {} for video in made}, tables)
    for video in made:
        writer.put_file(FileRow(video.path, video.video_id, "video", 1, 1, 1, ""))
    _add_passages(writer, numbers, texts)


def _add_passages(writer: Writer, numbers: range, texts: TextSpace) -> None:
    """A file of passages, last of its group."""
    rng = np.random.default_rng((SEED, 5, numbers.start))
    count = max(1, len(numbers) * PASSAGES // VIDEOS)
    chosen = rng.integers(len(texts.rows), size=count)
    held = [
        Passage(f"{numbers.start}:{i}", f"{numbers.start}:{i // 4}", title, f"{texts.sentences[at]}. {body}.")
        for i, (at, title, body) in enumerate(
            zip(chosen, words(rng, count, 4), words(rng, count, 110), strict=True)
        )
    ]
    path = f"/p/{numbers.start}.jsonl"
    writer.put_passages(_identity(path), held, texts.near(rng, chosen))
    writer.put_file(FileRow(path, _identity(path), "passages", 1, 1, 1, ""))


def _identity(name: str) -> str:
    return blake2b(name.encode(), digest_size=16).hexdigest()


def _video(path: str) -> Video:
    title = Path(path).stem
    return Video(_identity(path), path, f"Video {title}", "", (), 30.0 * CLIPS, 30, 1280, 720, True, "en")


def _clip(video: Video, number: int, vector: Rows, frames: Rows) -> ClipFrames:
    start = 30.0 * number
    clip = Clip(f"{video.video_id}:{number:05d}", video.video_id, start, start + 30)
    return ClipFrames(clip, start + (np.arange(len(frames)) + 0.5) * 30 / len(frames), frames, vector)


def _spans(rng: np.random.Generator, video: Video, texts: TextSpace) -> Any:
    chosen = rng.integers(len(texts.rows), size=SUBJECTS)[rng.integers(SUBJECTS, size=SPANS)]
    named = rng.integers(1, 6, size=SPANS)
    kinds = rng.random(SPANS)
    length = 30.0 * CLIPS / SPANS
    spans = []
    for i, said in enumerate(words(rng, SPANS, 11)):
        subject = texts.sentences[chosen[i]].split()[named[i]]
        kind: EvidenceKind = "asr" if kinds[i] < 0.8 else "ocr"
        spans.append(Evidence(video.video_id, length * i, length * (i + 1), kind, f"{subject} {said}"))
    return schema.evidence_rows(video.video_id, spans, texts.near(rng, chosen), META.text_encoder.dim)
