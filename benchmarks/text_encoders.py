"""Retrieval of paragraphs by text encoders in several languages, and their processor seconds, in one run.

    python -m benchmarks.text_encoders XQUAD... [--encoders multilingual-e5-small-q4 all-MiniLM-L6-v2]

XQUAD: files of XQuAD (Artetxe et al. 2020), as xquad.en.json; its texts are real, in every language the same.
P@1 is the share of questions for which the paragraph that they were asked about is the nearest of all, in the
question's language and, for questions of every other file, in that of the first file.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import option_parser
from indexers.protocol import TextEncoder
from indexers.registry import open_query_encoder, open_text_encoder
from indexers.settings import EncoderSettings


def read(file: Path) -> tuple[list[str], list[str], NDArray[np.int64]]:
    """Paragraphs, questions, and for each question the index of its paragraph, int64 (q,)."""
    paragraphs = [p for article in json.loads(file.read_text())["data"] for p in article["paragraphs"]]
    asked = [(qa["question"], at) for at, paragraph in enumerate(paragraphs) for qa in paragraph["qas"]]
    questions, own = zip(*asked, strict=True)
    return [paragraph["context"] for paragraph in paragraphs], list(questions), np.array(own, np.int64)


def timed(encoder: TextEncoder, texts: Sequence[str]) -> tuple[NDArray[np.float32], float]:
    """Rows of the texts, float32 (n, dim), and processor milliseconds a text."""
    start = time.process_time()
    rows = encoder.encode_text(texts)
    return rows, 1000 * (time.process_time() - start) / len(texts)


def main() -> None:
    """Print one JSON object."""
    parser = option_parser(__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--encoders", nargs="+", default=["multilingual-e5-small-q4", "all-MiniLM-L6-v2"])
    chosen = parser.parse_args()
    settings, figures = EncoderSettings(), dict[str, Any]()
    for name in chosen.encoders:
        queries, passages = open_query_encoder(name, settings), open_text_encoder(name, settings)
        first = None
        for file in chosen.files:
            paragraphs, questions, own = read(file)
            asked, of_query = timed(queries, questions)
            rows, of_passage = timed(passages, paragraphs)
            first = rows if first is None else first
            figures[f"{name} {file.name}"] = {
                "questions": len(questions),
                "P@1": round(float(((asked @ rows.T).argmax(axis=1) == own).mean()), 3),
                "P@1 in the first language": round(
                    float(((asked @ first.T).argmax(axis=1) == own).mean()), 3
                ),
                "cpu_ms_query": round(of_query, 1),
                "cpu_ms_passage": round(of_passage, 1),
            }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
