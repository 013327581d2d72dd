"""The common part of the vectors of multilingual-e5-small: `python -m training.text_centre XQUAD...`.

All vectors of the model share a large part, so that two unrelated texts have a cosine of 0.75. Less
`indexers.e5.SHARE` of the mean over questions, and over passages and sentences, cosines are spread as those
of all-MiniLM-L6-v2, for which the constants of `rag.relevance` were set. XQUAD: files of XQuAD (Artetxe et
al. 2020; CC BY-SA 4.0): en, de, es, zh and hi. Writes `indexers/e5_centre.safetensors`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from benchmarks.text_encoders import read
from indexers.e5 import CENTRE, open_uncentred
from indexers.settings import EncoderSettings

SENTENCE_END = re.compile(r"(?<=[.!?。।])\s*")


def main(files: list[Path]) -> None:
    """Read the files and write the means."""
    query, document = (open_uncentred(EncoderSettings(), role) for role in ("query", "document"))
    of_questions, of_texts = [], []
    for file in files:
        paragraphs, questions, _ = read(file)
        sentences = [part for text in paragraphs for part in SENTENCE_END.split(text) if len(part) > 3]
        of_questions.append(query.encode_text(questions).mean(axis=0))
        of_texts += [document.encode_text(texts).mean(axis=0) for texts in (paragraphs, sentences)]
    save_file({"query": np.mean(of_questions, axis=0), "document": np.mean(of_texts, axis=0)}, CENTRE)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
