"""How often what no clip shows is refused under image encoders whose cosines have other scales.

    python -m benchmarks.relevance_towers hf:FOLDER [hf:FOLDER ...]

The clips are of generated images, which show nothing that a text names; random weights will do. Two kinds of
texts are asked: questions of `benchmarks/relevance/unrelated.txt`, and texts of the background itself, a
quarter of it each time, with which the scale was not measured. Only these must be refused at one rate by all
encoders: questions have another form than the background, to which a random tower gives a direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import option_parser
from benchmarks.relevance_rates import best_relevance, unrelated_queries
from corpora.records import Clip
from indexers.backend import probe_images
from indexers.protocol import ImageEncoder
from indexers.registry import open_image_encoder, open_text_tower
from indexers.settings import EncoderSettings
from rag.null_scores import BACKGROUND, LibraryScores, centre_of, measure_null_scores
from rag.settings import SearchSettings
from rag.store.records import SCORE_MEASURES, ClipFrames, ScoreCalibration

CLIPS, FRAMES = 40, 6
SPLITS = 10


class GeneratedLibrary:
    """Clips of generated images under one encoder."""

    def __init__(self, encoder: ImageEncoder) -> None:
        self.frames = encoder.encode_images(probe_images(CLIPS * FRAMES, 64, 64))
        self._clips = {clip.clip.clip_id: clip for clip in clips_of(self.frames)}
        self._ids = list(self._clips)
        self._rows = np.stack([clip.clip_vector for clip in self._clips.values()])

    def scores(self, background: NDArray[np.float32]) -> LibraryScores:
        """The scale measured with these texts; unit rows, float32 (b, d)."""
        null = measure_null_scores(
            background, self._ids, self._rows, lambda ids: [self._clips[one] for one in ids]
        )
        return LibraryScores(ScoreCalibration(SCORE_MEASURES, "", centre_of(background), null, None))

    def best(self, texts: NDArray[np.float32], scores: LibraryScores) -> NDArray[np.float64]:
        """float64 (q,): the relevance of the best clip to each of `texts`, unit rows, float32 (q, d)."""

        def relevance(query: NDArray[np.float32], clip: str) -> float:
            return scores.relevance(query, len(self._ids), self._clips[clip].vectors, None)

        return best_relevance(texts, self._ids, self._rows.astype(np.float64), relevance)


@dataclass(frozen=True, slots=True)
class Refusals:
    """Of one encoder."""

    mean: float
    deviation: float
    """Of the cosines of all questions and frames."""
    questions: float
    """Share refused of the unrelated questions."""
    held_out: float
    """Share refused of held-out texts of the background."""


def clips_of(vectors: NDArray[np.float32]) -> list[ClipFrames]:
    """Clips of `FRAMES` frames each, of unit rows float32 (n, d)."""
    clips = []
    for number, rows in enumerate(np.split(vectors, len(vectors) // FRAMES)):
        mean = rows.mean(axis=0)
        clip = Clip(f"v:{number:05d}", "v", 30.0 * number, 30.0 * (number + 1))
        clips.append(ClipFrames(clip, np.arange(FRAMES) / 2, rows, mean / np.linalg.norm(mean)))
    return clips


def refusals(name: str, questions: Sequence[str]) -> Refusals:
    """What becomes of `questions`, and of held-out texts of the background, on generated clips."""
    encoder = open_image_encoder(name, EncoderSettings(), backend="torch-fp32", batch=8)
    library, threshold = GeneratedLibrary(encoder), SearchSettings().threshold
    tower = open_text_tower(name, EncoderSettings())
    texts, background = tower.encode_text(questions), tower.encode_text(BACKGROUND)
    reached = library.best(texts, library.scores(background))
    random, held_out = np.random.default_rng(0), []
    for _ in range(SPLITS):
        kept, left = np.split(random.permutation(len(background)), [len(background) * 3 // 4])
        held_out.append(library.best(background[left], library.scores(background[kept])))
    cosines = texts @ library.frames.T
    return Refusals(
        float(cosines.mean()),
        float(cosines.std()),
        float((reached < threshold).mean()),
        float((np.concatenate(held_out) < threshold).mean()),
    )


def main() -> None:
    """Print the table, as Markdown."""
    parser = option_parser(__doc__)
    parser.add_argument("encoders", nargs="+", metavar="ENCODER")
    questions = unrelated_queries()
    print("| encoder | cosines, mean | deviation | held-out background refused | questions refused |")
    print("|---|---|---|---|---|")
    for name in parser.parse_args().encoders:
        found = refusals(name, questions)
        print(
            f"| {name} | {found.mean:.2f} | {found.deviation:.2f} | {found.held_out:.0%} | "
            f"{found.questions:.0%} |"
        )


if __name__ == "__main__":
    main()
