"""Tiny models with random weights and real tokenizers, saved as a user's folders would be."""

import json
from pathlib import Path

from indexers.torch_backend import guard_torchvision

WORDS = (
    "a the of in on and with man woman hand cat dog drill lamp red blue green house tree car is eating food "
    "soldering iron holds table kitchen telescope mirror made glass"
)
"""What the tiny tokenizers learn from; other words fall into pieces."""


def _clip_tokenizer(folder: Path) -> tuple[int, int]:
    """CLIP's byte-pair tokenizer over a small vocabulary; (vocabulary size, end id)."""
    from tokenizers import pre_tokenizers
    from transformers import CLIPTokenizer

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = letters + [letter + "</w>" for letter in letters]
    merges: list[tuple[str, str]] = []
    for word in WORDS.split():
        _merge([*word[:-1], word[-1] + "</w>"], pieces, merges)
    pieces += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=77)
    tokenizer.save_pretrained(folder)
    return len(vocabulary), vocabulary["<|endoftext|>"]


def _merge(parts: list[str], pieces: list[str], merges: list[tuple[str, str]]) -> None:
    """Adds what makes one piece of a word's parts."""
    while len(parts) > 1:
        pair = (parts[0], parts[1])
        parts[:2] = ["".join(pair)]
        if pair not in merges:
            merges.append(pair)
        if parts[0] not in pieces:
            pieces.append(parts[0])


def _gemma_like_tokenizer(folder: Path, tokenizer_class: str) -> int:
    """A byte-fallback BPE as SigLIP 2's; its vocabulary size. Id 0 pads, id 1 ends."""
    from transformers import GemmaTokenizer

    pieces = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
    merges: list[tuple[str, str]] = []
    for letter in sorted(set(WORDS + WORDS.upper()) - {" "}):
        pieces.append(letter)
    for word in WORDS.split():
        for start in ("▁", ""):
            _merge([*start, *word], pieces, merges)
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = GemmaTokenizer(
        vocab=vocabulary,
        merges=merges,
        add_bos_token=False,
        add_eos_token=True,
        padding_side="right",
        model_max_length=64,
    )
    tokenizer.save_pretrained(folder)
    written = folder / "tokenizer_config.json"
    config = json.loads(written.read_text(encoding="utf-8"))
    config["tokenizer_class"] = tokenizer_class
    written.write_text(json.dumps(config), encoding="utf-8")
    return len(vocabulary)


def save_clip(folder: Path, *, seed: int = 0, dtype: str = "float32", act: str = "quick_gelu") -> Path:
    """A CLIP of two layers, 64 x 64 pixels, 24 dimensions."""
    guard_torchvision()
    import torch
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel

    folder.mkdir(parents=True, exist_ok=True)
    words, end = _clip_tokenizer(folder)
    layers = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_act": act}
    config = CLIPConfig(
        text_config={
            **layers,
            "vocab_size": words,
            "hidden_size": 32,
            "intermediate_size": 64,
            "eos_token_id": end,
            "bos_token_id": end - 1,
        },
        vision_config={
            **layers,
            "hidden_size": 48,
            "intermediate_size": 96,
            "image_size": 64,
            "patch_size": 16,
        },
        projection_dim=24,
    )
    torch.manual_seed(seed)
    _rough(CLIPModel(config)).to(getattr(torch, dtype)).save_pretrained(folder)
    CLIPImageProcessorPil(size={"shortest_edge": 64}, crop_size={"height": 64, "width": 64}).save_pretrained(
        folder
    )
    return folder


def save_siglip(
    folder: Path, *, seed: int = 0, dtype: str = "float32", tokenizer_class: str = "GemmaTokenizer"
) -> Path:
    """A SigLIP (2, by its tokenizer) of two layers, 64 x 64 pixels, 32 dimensions."""
    guard_torchvision()
    import torch
    from transformers import SiglipConfig, SiglipImageProcessorPil, SiglipModel

    folder.mkdir(parents=True, exist_ok=True)
    words = _gemma_like_tokenizer(folder, tokenizer_class)
    layers = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "intermediate_size": 64}
    config = SiglipConfig(
        text_config={**layers, "vocab_size": words, "max_position_embeddings": 64, "projection_size": 32},
        vision_config={**layers, "image_size": 64, "patch_size": 16},
    )
    torch.manual_seed(seed)
    _rough(SiglipModel(config)).to(getattr(torch, dtype)).save_pretrained(folder)
    SiglipImageProcessorPil(size={"height": 64, "width": 64}).save_pretrained(folder)
    return folder


def save_sentences(
    folder: Path, *, pooling: str = "mean", architecture: str = "bert", width: int = 32
) -> Path:
    """A sentence-transformers folder around a BERT (or, for the torch-only way, a RoBERTa) of two layers.

    `width`: of the vectors; a GPU computes narrow ones without the kernels of wide ones.
    """
    guard_torchvision()
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

    raw = folder.parent / f"{folder.name}-raw"
    sizes = {**_bert_tokenizer(raw), "hidden_size": width, "intermediate_size": 2 * width}
    torch.manual_seed(0)
    model = BertModel(BertConfig(**sizes)) if architecture == "bert" else RobertaModel(RobertaConfig(**sizes))
    _rough(model).save_pretrained(raw)
    transformer = Transformer(str(raw), max_seq_length=80)
    SentenceTransformer(modules=[transformer, Pooling(width, pooling_mode=pooling)], device="cpu").save(
        str(folder)
    )
    return folder


def _bert_tokenizer(folder: Path) -> dict[str, int]:
    """BERT's word pieces over a small vocabulary; the sizes of a model of two layers for it."""
    from transformers import BertTokenizer

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS.split()]
    pieces += list("abcdefghijklmnopqrstuvwxyz0123456789.,?!'")
    pieces += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789"]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    return {
        "vocab_size": len(vocabulary),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 96,
        "pad_token_id": 0,
    }


def save_reader(folder: Path, *, architecture: str = "bert", null: float = -8.0) -> Path:
    """A BERT or RoBERTa with random weights and a head for start and end, fitted to be near 8 on the word
    "glass", `null` on the first token of all and -8 elsewhere."""
    guard_torchvision()
    import torch
    from transformers import (
        AutoTokenizer,
        BertConfig,
        BertForQuestionAnswering,
        RobertaConfig,
        RobertaForQuestionAnswering,
    )

    sizes = _bert_tokenizer(folder)
    torch.manual_seed(0)
    if architecture == "bert":
        model = _rough(BertForQuestionAnswering(BertConfig(**sizes)))
    else:
        model = _rough(RobertaForQuestionAnswering(RobertaConfig(**{**sizes, "type_vocab_size": 2})))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        text = " ".join([WORDS] * 2)
        pairs = [(WORDS[at : at + 40], text[at : at + 90]) for at in range(0, len(text), 9)]
        read = tokenizer(pairs, return_tensors="pt", padding=True, truncation=True, max_length=90)
        hidden = model.base_model(**read).last_hidden_state
        wanted = torch.where(read["input_ids"] == tokenizer.vocab["glass"], 8.0, -8.0)
        wanted[:, 0] = null
        inside = read["attention_mask"].bool()
        fitted = torch.linalg.lstsq(hidden[inside], wanted[inside, None]).solution[:, 0]
        model.qa_outputs.weight.copy_(torch.stack([fitted, fitted]))
        model.qa_outputs.bias.zero_()
    model.save_pretrained(folder)
    return folder


def _rough(model):
    """Biases and norms start at 0 and 1, which would hide that one of them is left out."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval()
