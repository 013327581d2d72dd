"""A BERT of two layers with random weights as text encoder, written without transformers.

For tests of what indexing does with texts, whatever their vectors are: all-MiniLM-L6-v2 takes half a second
of CPU a library.
"""

import json
from pathlib import Path

import numpy as np

WIDTH, POSITIONS, LAYERS = 32, 96, 2
SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789.,?!'"
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *SIGNS, *(f"##{sign}" for sign in SIGNS)]


def write_tiny_text(folder: Path) -> Path:
    """A folder as of sentence-transformers, for `encoder.text`; every letter is a token."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    folder.mkdir(parents=True)
    pieces = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", pieces["[CLS]"]), ("[SEP]", pieces["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.save(str(folder / "tokenizer.json"))
    rng = np.random.default_rng(0)
    save_file(
        {name: rng.standard_normal(shape).astype(np.float32) / 4 for name, shape in _shapes().items()},
        folder / "model.safetensors",
    )
    config = {
        "model_type": "bert",
        "vocab_size": len(PIECES),
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "max_position_embeddings": POSITIONS,
    }
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    (folder / "1_Pooling").mkdir()
    for name, content in {
        "config.json": config,
        "modules.json": [
            {"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in modules
        ],
        "sentence_bert_config.json": {"max_seq_length": POSITIONS},
        "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
    }.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def _shapes() -> dict[str, tuple[int, ...]]:
    rows = {"word": len(PIECES), "position": POSITIONS, "token_type": 2}
    shapes: dict[str, tuple[int, ...]] = {
        f"embeddings.{part}_embeddings.weight": (count, WIDTH) for part, count in rows.items()
    }
    norms, linears = ["embeddings.LayerNorm"], {}
    for layer in (f"encoder.layer.{number}" for number in range(LAYERS)):
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            linears[f"{layer}.attention.{part}"] = (WIDTH, WIDTH)
        linears[f"{layer}.intermediate.dense"] = (2 * WIDTH, WIDTH)
        linears[f"{layer}.output.dense"] = (WIDTH, 2 * WIDTH)
    for name in norms:
        shapes |= {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}
    for name, size in linears.items():
        shapes |= {f"{name}.weight": size, f"{name}.bias": size[:1]}
    return shapes
