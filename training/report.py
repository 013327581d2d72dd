"""Accuracy of the bundled encoder, test split: `python -m training.report --into docs/design/encoder.md`.

The same weights give the same report: frames, questions and resampling are seeded.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import CAMERA_WEARER
from eval.workbench.catalogue import KINDS, with_article
from eval.workbench.story import held_out
from eval.workbench.wording import SCENES, action
from indexers.registry import open_image_encoder
from indexers.settings import EncoderSettings
from training.captions import ACTS, IDLE, IDLE_TEXTS, NONE, act_text
from training.measure import Seen, render_clips
from training.ranking import ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexers.protocol import ImageEncoder

__all__ = ["Row", "inserted", "lines", "report", "rows"]

RESAMPLES = 2000
BEGIN, END = "<!-- report -->", "<!-- end of report -->"


@dataclass(frozen=True, slots=True)
class Row:
    """One measured share: over `hits`, one a question, resampled by clip."""

    what: str
    measure: str
    hits: NDArray[np.bool_]
    clips: NDArray[np.int64]
    chance: float

    def interval(self) -> tuple[float, float]:
        """95 %, from resampled clips: questions on one clip are not independent."""
        names, places = np.unique(self.clips, return_inverse=True)
        right = np.bincount(places, weights=self.hits, minlength=len(names))
        asked = np.bincount(places, minlength=len(names))
        drawn = np.random.default_rng(0).integers(0, len(names), (RESAMPLES, len(names)))
        shares = right[drawn].sum(axis=1) / asked[drawn].sum(axis=1)
        low, high = np.quantile(shares, (0.025, 0.975))
        return float(low), float(high)


def main() -> None:
    """Measure the bundled encoder and print or insert the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=200)
    parser.add_argument("--cache", type=Path, default=None, help="keeps the drawn frames")
    parser.add_argument("--into", type=Path, default=None, help="a page with the two marks of the report")
    settings = parser.parse_args()
    table = report(settings.clips, settings.cache)
    if settings.into is None:
        print(table)
        return
    page = settings.into.read_text(encoding="utf-8")
    settings.into.write_text(inserted(page, table), encoding="utf-8")


def inserted(page: str, table: str) -> str:
    """The page with the table between its marks. Raises `ValueError` where it has no such marks."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"the page lacks the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def report(clips: int, cache: Path | None = None) -> str:
    """The report as Markdown."""
    encoder = open_image_encoder("bundled", EncoderSettings(), batch=16)
    seen = render_clips("test", clips, cache)
    return "\n".join(lines(rows(seen, encoder), len(seen.frames), clips))


def lines(found: list[Row], frames: int, clips: int) -> Iterator[str]:
    """A Markdown table."""
    yield f"{clips} clips and {frames} frames of the test split.\n"
    yield "| question | measure | figure | 95 % interval | chance | n |"
    yield "|---|---|---|---|---|---|"
    for row in found:
        low, high = row.interval()
        yield (
            f"| {row.what} | {row.measure} | {row.hits.mean():.1%} | {low:.1%} to {high:.1%} "
            f"| {row.chance:.1%} | {len(row.hits)} |"
        )


def rows(seen: Seen, encoder: ImageEncoder) -> list[Row]:
    """Every row of the report."""
    vectors = encoder.encode_images(seen.frames)
    return [
        *_retrieval(seen, vectors, encoder),
        *_naming(seen, vectors, encoder),
        *_described(seen, vectors, encoder),
    ]


def _retrieval(seen: Seen, vectors: NDArray[np.float32], encoder: ImageEncoder) -> list[Row]:
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
        return ranks(encoder.encode_text(texts) @ vectors[gallery].T, np.arange(len(gallery)))

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


def _naming(seen: Seen, vectors: NDArray[np.float32], encoder: ImageEncoder) -> list[Row]:
    objects, acts = seen.labels[:, 0], seen.labels[:, 1]
    alone = ~seen.spread
    held = np.flatnonzero(alone & (objects != NONE))
    names = encoder.encode_text([with_article(kind.name) for kind in KINDS])
    aliases = encoder.encode_text([with_article(kind.aliases[seen.split]) for kind in KINDS])
    wearer = [number for number, act in enumerate(ACTS) if act.agent == CAMERA_WEARER]
    mine = np.flatnonzero(alone & np.isin(acts, wearer))
    right = np.array([wearer.index(act) for act in acts[mine]])
    found = [
        Row(
            "the object in the hand",
            "top 1 of 68",
            _top(vectors[held] @ names.T, objects[held]),
            seen.clip[held],
            1 / len(KINDS),
        ),
        Row(
            "the same by its other name",
            "top 1 of 68",
            _top(vectors[held] @ aliases.T, objects[held]),
            seen.clip[held],
            1 / len(KINDS),
        ),
    ]
    for phrase, what in enumerate(("what is done, object left out", "the same in the other phrase")):
        asked = [act_text(ACTS[n], action(ACTS[n].action_id).phrases[seen.split][phrase]) for n in wearer]
        hits = _top(vectors[mine] @ encoder.encode_text(asked).T, right)
        found.append(Row(what, f"top 1 of {len(wearer)}", hits, seen.clip[mine], 1 / len(wearer)))
    idle = (vectors @ encoder.encode_text(list(IDLE_TEXTS)).T).mean(axis=1)
    still, busy = np.flatnonzero(alone & (acts == IDLE)), np.flatnonzero(alone & (acts != IDLE))
    # The share of (idle, busy) pairs in the right order, each idle frame against the same busy one.
    pairs = np.random.default_rng(0).choice(busy, len(still))
    found.append(Row("nothing happens", "idle above busy", idle[still] > idle[pairs], seen.clip[still], 0.5))
    return found


def _described(seen: Seen, vectors: NDArray[np.float32], encoder: ImageEncoder) -> list[Row]:
    """Description to clip, by the mean of six frames."""
    count = len(seen.stories)
    clips = np.stack([vectors[(seen.clip == n) & seen.spread].mean(axis=0) for n in range(count)])
    told = encoder.encode_text([f"a video that shows {story.description}" for story in seen.stories])
    rank = ranks(told @ (clips / np.linalg.norm(clips, axis=1, keepdims=True)).T, np.arange(count))
    return [Row("description to clip", f"R@{k}", rank < k, np.arange(count), k / count) for k in (1, 5)]


def _top(scores: NDArray[np.float32], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    return ranks(scores, right) == 0


if __name__ == "__main__":
    main()
