"""Retrieval and localization at 100 hours, with the words already encoded, and against decoding again.

    python -m benchmarks.question_latency [--folder FOLDER]

The library of 100 hours of `benchmarks.synthetic_library`: 12,000 clips, 72,000
evidence spans, 1,000 passages. Then, on a real file, finding the window in 5 clips
from stored vectors against decoding those clips and encoding them again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.material import save_vit_b32, write_footage
from benchmarks.options import kept_folder, option_parser
from benchmarks.synthetic_library import META, build, unit, words
from indexers.protocol import TextTower
from indexers.settings import EncoderSettings
from localization.windows import best_window
from rag.retrieval import Retriever
from rag.settings import load_settings
from rag.store.layout import Layout
from rag.store.reading import Reader
from rag.store.records import EncoderRef

CLIPS = 5
BATCH = 16
ROUNDS = 41


class Encoded(TextTower):
    """A text tower whose words are encoded already: a vector by the text's number, for nothing."""

    def __init__(self, ref: EncoderRef) -> None:
        self.name, self.dim, self.fingerprint = ref.name, ref.dim, ref.fingerprint
        self.backend, self.batch, self.weights = "", 0, ""
        self._rows = unit(np.random.default_rng(3).standard_normal((512, ref.dim)))

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._rows[[len(text) * 7 % 512 for text in texts]]


def at_scale(folder: Path) -> dict[str, Any]:
    """Latency of retrieval in the library in `folder`."""
    rng = np.random.default_rng(5)
    queries = [f"{words(rng, 5)[0]} {number}" for number in range(ROUNDS)]
    assert META.image_encoder is not None
    settings = load_settings()
    with Reader.open(folder, exact_rows=settings.search.exact_rows) as reader:
        encoders = Encoded(META.image_encoder), Encoded(META.text_encoder)
        retriever = Retriever(reader, *encoders, settings)
        images = unit(rng.standard_normal((ROUNDS, META.image_encoder.dim)))

        def vectors_alone(number: int) -> None:
            hits = reader.search_clips(images[number], CLIPS)
            for found in reader.frames([hit.key for hit in hits]):
                similarity = found.vectors @ images[number]
                best_window(found.times, similarity, start=found.clip.start, end=found.clip.end, length=5.0)

        def clips(number: int, options: int = 0) -> None:
            query, each = queries[number], [f"{queries[number]} {option}" for option in range(options)]
            found = retriever.find_clips(query, query, CLIPS, passage_queries=each, passages_each=1)
            retriever.localize(found, query, "within")
            retriever.find_passages_each(each, 1)

        def six_options(number: int) -> None:
            clips(number, 6)

        return {
            "clip vectors + localize (target 20)": _figures(vectors_alone, ROUNDS),
            "fused clips (images, evidence, full text) + localize": _figures(clips, ROUNDS),
            "fused clips + localize + one passage for each of six options": _figures(six_options, ROUNDS),
        }


def _figures(call: Callable[[int], Any], rounds: int) -> dict[str, float]:
    """Wall and processor time of a call, medians and 95th percentile; the first of `rounds` is left out."""
    walls, cpus = [], []
    call(0)
    for number in range(1, rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        call(number)
        walls.append(1000 * (time.perf_counter() - wall))
        cpus.append(1000 * (time.process_time() - cpu))
    found = {"wall_ms": np.median(walls), "wall_p95_ms": np.percentile(walls, 95), "cpu_ms": np.median(cpus)}
    return {name: round(float(value), 2) for name, value in found.items()}


def against_decoding(folder: Path) -> dict[str, float]:
    """One question over 5 clips of a 720p video, with a ViT-B/32 (random weights)."""
    from corpora.video.reader import MediaReader
    from indexers.registry import open_image_encoder

    video = folder / "clips.mp4"
    if not video.is_file():
        write_footage(video, 30.0 * CLIPS)
    model = save_vit_b32(folder / "vit-b-32")
    encoder = open_image_encoder(f"hf:{model}", EncoderSettings(), backend="torch-bf16", batch=BATCH)
    query = unit(np.random.default_rng(0).standard_normal(encoder.dim))

    def localize(clips: list[tuple[NDArray[np.float64], NDArray[np.float32]]]) -> None:
        for index, (times, vectors) in enumerate(clips):
            best_window(times, vectors @ query, start=30.0 * index, end=30.0 * index + 30, length=5.0)

    begun = time.perf_counter()
    with MediaReader() as reader:
        batches = [batch.frames for batch in reader.frames(str(video))]
        times = np.concatenate([b.times for b in batches])
        vectors = encoder.encode_images(np.concatenate([b.images for b in batches]))
        owners = (times // 30).astype(int)
        clips = [(times[owners == k], vectors[owners == k]) for k in range(CLIPS)]
        localize(clips)
    again = time.perf_counter() - begun
    begun = time.perf_counter()
    for _ in range(100):
        localize(clips)
    stored = (time.perf_counter() - begun) / 100
    return {
        "decode_and_encode_s": round(again, 3),
        "from_vectors_in_memory_s": round(stored, 6),
        "ratio (target 100)": round(again / stored),
    }


def main() -> None:
    """Print the latency figures as JSON."""
    parser = option_parser(__doc__)
    parser.add_argument("--folder", type=Path, default=kept_folder())
    chosen = parser.parse_args()
    library = chosen.folder / "hundred-hours"
    if not Layout(library).exists():
        chosen.folder.mkdir(exist_ok=True)
        build(library, 100, frames=60)
    print(json.dumps({**at_scale(library), "localize 5 clips": against_decoding(chosen.folder)}, indent=2))


if __name__ == "__main__":
    main()
