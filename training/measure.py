"""How well the tower does on clips it never saw, asked in the words of their split."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from corpora.records import CAMERA_WEARER
from eval.workbench.catalogue import KINDS, Split, with_article
from eval.workbench.renderer import FrameRenderer
from eval.workbench.seeds import stream
from eval.workbench.story import ClipStory, plan_clip
from eval.workbench.wording import action
from training.captions import ACTS, IDLE, IDLE_TEXTS, NONE, act_text, sentence_vectors
from training.drawing import labels_at, small
from training.ranking import ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexers.bundled.encoder import TextSpace

__all__ = ["Seen", "figures", "render_clips"]

VIDEO_HEIGHT = 360
SPREAD = 6


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
            frames[row] = small(_rendered(renderers[number].picture(t)))
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


def _rendered(picture: Image.Image) -> Image.Image:
    """Compressed at 360 lines, scaled to 224 as the index decodes it."""
    kept = io.BytesIO()
    picture.convert("RGB").save(kept, "JPEG", quality=70)
    return Image.open(kept).resize((398, 224), Image.Resampling.BICUBIC)


def figures(
    seen: Seen,
    space: TextSpace,
    encode: Callable[[NDArray[np.uint8]], NDArray[np.float32]],
    phrase: int = 0,
    kept: Path | None = None,
) -> dict[str, float]:
    """Shares in [0, 1]. `encode`: frames into unit rows; `phrase`: which of the split's phrases asks."""
    vectors = encode(seen.frames)
    objects, acts = seen.labels[:, 0], seen.labels[:, 1]
    alone = ~seen.spread
    held = alone & (objects != NONE)
    things = space(sentence_vectors([with_article(kind.name) for kind in KINDS], kept))
    aliases = space(sentence_vectors([with_article(kind.aliases[seen.split]) for kind in KINDS], kept))
    wearer = [number for number, act in enumerate(ACTS) if act.agent == CAMERA_WEARER]
    asked = [act_text(ACTS[n], action(ACTS[n].action_id).phrases[seen.split][phrase]) for n in wearer]
    gaps = space(sentence_vectors(asked, kept))
    mine = alone & np.isin(acts, wearer)
    right = np.array([wearer.index(act) for act in acts[mine]])
    full = space(
        sentence_vectors([story_event(seen, row, phrase) for row in np.flatnonzero(held & mine)], kept)
    )
    known = np.arange(len(full))
    idle = (vectors @ space(sentence_vectors(list(IDLE_TEXTS), kept)).T).mean(axis=1)
    clips = np.stack([vectors[(seen.clip == n) & seen.spread].mean(axis=0) for n in range(len(seen.stories))])
    told = space(
        sentence_vectors([f"a video that shows {story.description}" for story in seen.stories], kept)
    )
    places = ranks(told @ (clips / np.linalg.norm(clips, axis=1, keepdims=True)).T, np.arange(len(clips)))
    in_view = (objects != NONE)[mine]
    fits = ranks(vectors[mine] @ gaps.T, right) == 0
    return {
        "object@1": float((ranks(vectors[held] @ things.T, objects[held]) == 0).mean()),
        "object_alias@1": float((ranks(vectors[held] @ aliases.T, objects[held]) == 0).mean()),
        "gap@1": float(fits.mean()),
        "gap_in_view@1": float(fits[in_view].mean()),
        "full@1": float((ranks(full @ vectors[held & mine].T, known) == 0).mean()),
        "idle_auc": _auc(idle[alone & (acts == IDLE)], idle[alone & (acts != IDLE)]),
        "described@1": float((places == 0).mean()),
        "described@5": float((places < 5).mean()),
    }


def story_event(seen: Seen, row: int, phrase: int) -> str:
    """The full caption of the event at a frame, in the split's words."""
    act, kind = ACTS[seen.labels[row, 1]], KINDS[seen.labels[row, 0]]
    return act_text(act, action(act.action_id).phrases[seen.split][phrase], with_article(kind.name))


def _auc(high: NDArray[np.float32], low: NDArray[np.float32]) -> float:
    return float((high[:, None] > low[None, :]).mean() + 0.5 * (high[:, None] == low[None, :]).mean())
