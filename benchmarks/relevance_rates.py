"""How often "nothing matches" is right by images alone, under the fixed scale and under the library's own.

    rag workbench make CORPUS --split test --clips 80 --fps 5
    rag index CORPUS/videos --library LIBRARY
    python -m benchmarks.relevance_rates CORPUS LIBRARY

Right questions: the description of every indexed clip and every fourth of its events. Unrelated ones:
`benchmarks/relevance/unrelated.txt`, about other worlds, as `rag ask` rewrites them. A question is accepted
where one of the five clips that a search finds reaches the default threshold. With `--clips N` only the first
N clips are searched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import option_parser
from eval.metrics.intervals import cluster_interval
from indexers.protocol import TextTower
from indexers.registry import open_text_tower
from rag.null_scores import BACKGROUND, LibraryScores, centre_of, measure_null_scores
from rag.questions import parse_question
from rag.reasoners.embedded.rewriting import rewrite_question
from rag.relevance import ImageScoreCalibrator
from rag.settings import TOP_K, Settings
from rag.store.reading import Reader
from rag.store.records import SCORE_MEASURES, ScoreCalibration

UNRELATED = Path(__file__).parent / "relevance" / "unrelated.txt"
EVERY = 4
Relevance = Callable[[NDArray[np.float32], str], float]
"""Of a clip to a query's unit vector (dim,)."""


def right_questions(corpus: Path, reader: Reader, clips: set[str]) -> list[tuple[str, str]]:
    """Visual query and the video that shows it, for each clip that is searched."""
    videos = {Path(video.path).name: video.video_id for video in reader.videos()}
    rows = (corpus / ".workbench" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    found = []
    for clip in map(json.loads, rows):
        video = videos.get(clip["video"], "")
        if not any(one.clip_id in clips for one in reader.clips(video)):
            continue
        shown = [clip["description"], *(event["rewritten"] for event in clip["events"][::EVERY])]
        found += [(f"A video that shows {text}.", video) for text in shown]
    return found


def best_relevance(
    queries: NDArray[np.float32], ids: Sequence[str], rows: NDArray[np.float64], relevance: Relevance
) -> NDArray[np.float64]:
    """float64 (q,): of the five clips nearest to each query by their own vectors.

    `queries`: unit float32 (q, dim). `rows`: float64 (n, dim), the vectors of the n `ids`.
    """
    nearest = np.argsort(-(queries @ rows.T), axis=1, kind="stable")[:, :TOP_K]
    return np.array(
        [max(relevance(query, ids[at]) for at in near) for query, near in zip(queries, nearest, strict=True)]
    )


def unrelated_queries(file: Path = UNRELATED) -> list[str]:
    """Visual queries of the questions of `file`, one a line."""
    texts = file.read_text(encoding="utf-8").splitlines()
    return [rewrite_question(parse_question(text, ())).visual_query for text in texts]


def scales(
    reader: Reader, tower: TextTower, ids: Sequence[str], rows: NDArray[np.float16]
) -> dict[str, Relevance]:
    """The fixed scale of `rag.relevance`, and the one measured on these clips."""
    frames = {clip.clip.clip_id: clip for clip in reader.frames(ids)}
    fixed = ImageScoreCalibrator(tower)
    texts = tower.encode_text(BACKGROUND)
    null = measure_null_scores(texts, ids, rows, reader.frames)
    calibration = ScoreCalibration(SCORE_MEASURES, "", centre_of(texts), null, None)
    own = LibraryScores(calibration, tower.half_relevant)
    return {
        "fixed": lambda query, clip: fixed.relevance(query, frames[clip].clip_vector),
        "library": lambda query, clip: own.relevance(query, len(ids), frames[clip].vectors, None),
    }


def main() -> None:
    """Print the rates of both scales, with n and 95 % intervals."""
    parser = option_parser(__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("library", type=Path)
    parser.add_argument("--unrelated", type=Path, default=UNRELATED, help="one question a line")
    parser.add_argument("--clips", type=int, default=0)
    chosen = parser.parse_args()
    settings = Settings()
    with Reader.open(chosen.library) as reader:
        meta = reader.meta
        assert meta is not None
        assert meta.image_encoder is not None
        tower = open_text_tower(meta.image_encoder.name, settings.encoder)
        ids, stored = reader.clip_vectors()
        count = chosen.clips or len(ids)
        ids, stored = list(ids)[:count], stored[:count]
        right = right_questions(chosen.corpus, reader, set(ids))
        unrelated = unrelated_queries(chosen.unrelated)
        rows = stored.astype(np.float64)
        shown, others = (tower.encode_text(queries) for queries in ([text for text, _ in right], unrelated))
        for name, relevance in scales(reader, tower, ids, stored).items():
            refused = best_relevance(shown, ids, rows, relevance) < settings.search.threshold
            silent = best_relevance(others, ids, rows, relevance) < settings.search.threshold
            print(
                f"{name}, {len(ids)} clips: right questions refused "
                f"{_rate(refused, [video for _, video in right])}; unrelated ones refused "
                f"{_rate(silent, unrelated)}"
            )


def _rate(hits: NDArray[np.bool_], clusters: Sequence[str]) -> str:
    estimate = cluster_interval([float(hit) for hit in hits], clusters)
    if estimate is None:
        return "none asked"
    return f"{estimate.value:.1%} ({estimate.low:.1%} to {estimate.high:.1%}, n = {estimate.n})"


if __name__ == "__main__":
    main()
