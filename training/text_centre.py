"""The common part of the vectors of multilingual-e5-small: `python -m training.text_centre XQUAD...`.

All vectors of the model share a large part, so that two unrelated texts have a cosine of 0.75. Those of one
script share more. `indexers.e5` takes `CENTRE_SHARE` of the mean of a text's script off its vector; then
cosines are spread as those of all-MiniLM-L6-v2, for which the constants of `rag.relevance` were set. The
means are over questions, and over passages and sentences. XQUAD: files of XQuAD (Artetxe et al. 2020;
CC BY-SA 4.0): en, de, es, zh, hi, th, ru, ar and el. Writes `indexers/e5_centre.safetensors`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from indexers.e5 import CENTRE, open_uncentred, script_of
from indexers.settings import EncoderSettings

SENTENCE_END = re.compile(r"(?<=[.!?。।])\s*")


def main(files: list[Path]) -> None:
    """Read the files and write the means."""
    query, document = (open_uncentred(EncoderSettings(), role) for role in ("query", "document"))
    means = defaultdict(list)
    for file in files:
        held = [p for article in json.loads(file.read_text())["data"] for p in article["paragraphs"]]
        paragraphs = [paragraph["context"] for paragraph in held]
        questions = [qa["question"] for paragraph in held for qa in paragraph["qas"]]
        sentences = [part for text in paragraphs for part in SENTENCE_END.split(text) if len(part) > 3]
        script = script_of(paragraphs[0])
        means[f"query.{script}"].append(query.encode_text(questions).mean(axis=0))
        for texts in (paragraphs, sentences):
            means[f"document.{script}"].append(document.encode_text(texts).mean(axis=0))
        print(file.name, script, flush=True)
    save_file({name: np.mean(rows, axis=0) for name, rows in means.items()}, CENTRE)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
