"""Accuracy of the bundled encoder, test split: `python -m training.report`, for docs/design/encoder.md.

The same weights give the same report: frames, questions and resampling are seeded.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from corpora.records import CAMERA_WEARER
from eval.metrics.intervals import cluster_interval
from eval.reports.tables import markdown_table, percent_range
from eval.workbench.catalogue import KINDS, SCENES, Split, action, with_article
from eval.workbench.renderer import FrameRenderer
from eval.workbench.seeds import stream
from eval.workbench.story import ClipStory, held_out, plan_clip
from indexers.registry import open_image_encoder, open_text_tower
from indexers.settings import EncoderSettings
from training.captions import ACTS, IDLE, IDLE_TEXTS, NONE, act_text
from training.drawing import labels_at, small

if TYPE_CHECKING:
    from numpy.typing import NDArray


EncodeText = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""Texts into unit rows."""
VIDEO_HEIGHT = 360
SPREAD = 6


def ranks(scores: NDArray[np.float32], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the others score at least as high as the right one."""
    own = scores[np.arange(len(scores)), right]
    return np.asarray((scores >= own[:, None]).sum(axis=1) - 1)


@dataclass(frozen=True, slots=True)
class Seen:
    """Frames of unseen clips and what they show."""

    split: Split
    stories: tuple[ClipStory, ...]
    frames: NDArray[np.uint8]
    """(n, 108, 192, 3)"""
    labels: NDArray[np.int64]
    """(n, 6)"""
    clip: NDArray[np.int64]
    spread: NDArray[np.bool_]
    """Whether the frame is one of those spread evenly over its clip."""


def render_clips(split: Split, clips: int, kept: Path | None = None) -> Seen:
    """Per event two frames with its object in view and one without; three between; six spread evenly."""
    stories = tuple(plan_clip(seed, split) for seed in range(clips))
    times = [(number, t, even) for number, story in enumerate(stories) for t, even in _times(story)]
    file = kept / f"{split}-{clips}.npy" if kept else None
    if file is not None and file.is_file():
        frames = np.load(file)
    else:
        renderers = {}
        frames = np.empty((len(times), *small(Image.new("RGB", (2, 2))).shape), np.uint8)
        for row, (number, t, _) in enumerate(times):
            if number not in renderers:
                renderers = {number: FrameRenderer(stories[number], VIDEO_HEIGHT)}
            frames[row] = small(_rendered(renderers[number].image(t)))
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            np.save(file, frames)
    return Seen(
        split,
        stories,
        frames,
        np.array([labels_at(stories[number], t) for number, t, _ in times]),
        np.array([number for number, _, _ in times]),
        np.array([even for _, _, even in times]),
    )


def _times(story: ClipStory) -> list[tuple[float, bool]]:
    rng = stream("measured", story.split, story.seed)
    found = [(story.duration * (step + 0.5) / SPREAD, True) for step in range(SPREAD)]
    for event in story.events:
        found += [(rng.uniform(event.seen_from, event.seen_until - 0.01), False) for _ in range(2)]
        before, after = event.seen_from - event.start, event.end - event.seen_until
        t = (
            event.start + rng.uniform(0, before)
            if before > after
            else event.seen_until + rng.uniform(0, after) * 0.99
        )
        found.append((t, False))
    idle = [t for t in (rng.uniform(0, story.duration) for _ in range(40)) if labels_at(story, t)[1] == IDLE]
    return found + [(t, False) for t in idle[:3]]


def _rendered(image: Image.Image) -> Image.Image:
    """Compressed at 360 lines, scaled to 224 as the index decodes it."""
    kept = io.BytesIO()
    image.convert("RGB").save(kept, "JPEG", quality=70)
    return Image.open(kept).resize((398, 224), Image.Resampling.BICUBIC)


@dataclass(frozen=True, slots=True)
class Row:
    """One measured share: over `hits`, one a question."""

    what: str
    measure: str
    hits: NDArray[np.bool_]
    clips: NDArray[np.int64]
    chance: float

    def percent(self) -> str:
        """The share with its interval: questions on one clip are not independent."""
        found = cluster_interval(self.hits.astype(float).tolist(), [str(clip) for clip in self.clips])
        return percent_range(found, n=False)


def main() -> None:
    """Measure the bundled encoder and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=200)
    parser.add_argument("--cache", type=Path, default=None, help="keeps the rendered frames")
    settings = parser.parse_args()
    print(report(settings.clips, settings.cache))


def report(clips: int, cache: Path | None = None) -> str:
    """The report as Markdown."""
    encoder = open_image_encoder("bundled", EncoderSettings(), batch=16)
    seen = render_clips("test", clips, cache)
    encode_text = open_text_tower(encoder.name, EncoderSettings()).encode_text
    body = [
        (row.what, row.measure, row.percent(), f"{row.chance:.1%}", str(len(row.hits)))
        for row in rows(seen, encoder.encode_images(seen.frames), encode_text)
    ]
    table = markdown_table(["question", "measure", "figure, 95 % interval", "chance", "n"], body)
    return f"{clips} clips and {len(seen.frames)} frames of the test split.\n\n{table}"


def rows(seen: Seen, vectors: NDArray[np.float32], encode_text: EncodeText) -> list[Row]:
    """Every row of the report. `vectors`: of the frames, unit rows (n, d)."""
    measures = (_retrieval, _naming, _described)
    return [row for measure in measures for row in measure(seen, vectors, encode_text)]


def _retrieval(seen: Seen, vectors: NDArray[np.float32], encode_text: EncodeText) -> list[Row]:
    """Text to frame: one frame of every event, with its object in view, is looked for among all of them."""
    alone = np.flatnonzero(~seen.spread & (seen.labels[:, 0] != NONE))
    gallery = alone[::2]
    kinds = [KINDS[number] for number in seen.labels[gallery, 0]]
    acts = [ACTS[number] for number in seen.labels[gallery, 1]]
    scenes = [SCENES[number].scene_id for number in seen.labels[gallery, 2]]
    unseen = np.array(
        [
            held_out(kind.kind_id, act.action_id) or held_out(kind.kind_id, scene)
            for kind, act, scene in zip(kinds, acts, scenes, strict=True)
        ]
    )

    def asked(phrase: int, alias: bool) -> NDArray[np.int64]:
        texts = [
            act_text(
                act,
                action(act.action_id).phrases[seen.split][phrase],
                with_article(kind.aliases[seen.split] if alias else kind.name),
            )
            for act, kind in zip(acts, kinds, strict=True)
        ]
        return ranks(encode_text(texts) @ vectors[gallery].T, np.arange(len(gallery)))

    found = []
    plain = asked(0, False)
    every = np.ones(len(gallery), bool)
    for what, rank, chosen in (
        ("text to frame", plain, every),
        ("text to frame, compositions seen in training", plain, ~unseen),
        ("text to frame, unseen compositions", plain, unseen),
        ("text to frame, the other phrase", asked(1, False), every),
        ("text to frame, the other phrase and the object's other name", asked(1, True), every),
    ):
        for k in (1, 5):
            hits = (rank < k)[chosen]
            found.append(Row(what, f"R@{k}", hits, seen.clip[gallery][chosen], k / len(gallery)))
    return found


def _naming(seen: Seen, vectors: NDArray[np.float32], encode_text: EncodeText) -> list[Row]:
    objects, acts = seen.labels[:, 0], seen.labels[:, 1]
    alone = ~seen.spread
    held = np.flatnonzero(alone & (objects != NONE))
    names = encode_text([with_article(kind.name) for kind in KINDS])
    aliases = encode_text([with_article(kind.aliases[seen.split]) for kind in KINDS])
    wearer = [number for number, act in enumerate(ACTS) if act.agent == CAMERA_WEARER]
    mine = np.flatnonzero(alone & np.isin(acts, wearer))
    right = np.array([wearer.index(act) for act in acts[mine]])
    found = [
        Row(
            what, "top 1 of 68", _top(vectors[held] @ nouns.T, objects[held]), seen.clip[held], 1 / len(KINDS)
        )
        for what, nouns in (("the object in the hand", names), ("the same by its other name", aliases))
    ]
    for phrase, what in enumerate(("what is done, object left out", "the same in the other phrase")):
        asked = [act_text(ACTS[n], action(ACTS[n].action_id).phrases[seen.split][phrase]) for n in wearer]
        hits = _top(vectors[mine] @ encode_text(asked).T, right)
        found.append(Row(what, f"top 1 of {len(wearer)}", hits, seen.clip[mine], 1 / len(wearer)))
    idle = (vectors @ encode_text(list(IDLE_TEXTS)).T).mean(axis=1)
    still, busy = np.flatnonzero(alone & (acts == IDLE)), np.flatnonzero(alone & (acts != IDLE))
    # The share of (idle, busy) pairs in the right order, each idle frame against the same busy one.
    pairs = np.random.default_rng(0).choice(busy, len(still))
    found.append(Row("nothing happens", "idle above busy", idle[still] > idle[pairs], seen.clip[still], 0.5))
    return found


def _described(seen: Seen, vectors: NDArray[np.float32], encode_text: EncodeText) -> list[Row]:
    """Description to clip, by the mean of six frames."""
    count = len(seen.stories)
    clips = np.stack([vectors[(seen.clip == n) & seen.spread].mean(axis=0) for n in range(count)])
    described = encode_text([f"a video that shows {story.description}" for story in seen.stories])
    rank = ranks(described @ (clips / np.linalg.norm(clips, axis=1, keepdims=True)).T, np.arange(count))
    return [Row("description to clip", f"R@{k}", rank < k, np.arange(count), k / count) for k in (1, 5)]


def _top(scores: NDArray[np.float32], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    return ranks(scores, right) == 0


if __name__ == "__main__":
    main()
