"""A Whisper of a few random weights, in CTranslate2's form: it hears nothing sensible, but loads and
runs through the same code as a real one."""

from __future__ import annotations

from pathlib import Path

LANGUAGES = 99
TIMES = 1501


def write_tiny_whisper(folder: Path, work: Path, *, seed: int = 0) -> None:
    """Convert a random model to `folder`, by way of a transformers model in `work`."""
    import torch
    from ctranslate2.converters import TransformersConverter
    from faster_whisper.tokenizer import _LANGUAGE_CODES
    from tokenizers import Tokenizer, models, pre_tokenizers
    from tokenizers.decoders import ByteLevel
    from transformers import (
        GenerationConfig,
        WhisperConfig,
        WhisperFeatureExtractor,
        WhisperForConditionalGeneration,
        WhisperTokenizer,
    )

    # The real order of tokens. The engine recognizes a multilingual model by the empty token.
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    languages = [f"<|{code}|>" for code in _LANGUAGE_CODES[:LANGUAGES]]
    special = ["<|endoftext|>", "<|startoftranscript|>", *languages]
    special += ["<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>"]
    special += ["<|notimestamps|>"]
    times = [f"<|{step * 0.02:.2f}|>" for step in range(TIMES)]
    vocabulary = {token: index for index, token in enumerate([*letters, "", *special, *times])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevel()
    tokenizer.add_special_tokens(special)
    work.mkdir(parents=True)
    wrapped = WhisperTokenizer(
        tokenizer_object=tokenizer, vocab=vocabulary, merges=[], additional_special_tokens=special
    )
    wrapped.save_pretrained(work)
    tokenizer.save(str(work / "tokenizer.json"))
    WhisperFeatureExtractor(feature_size=80).save_pretrained(work)

    begin, end = vocabulary["<|startoftranscript|>"], vocabulary["<|endoftext|>"]
    torch.manual_seed(seed)
    config = WhisperConfig(
        vocab_size=len(vocabulary),
        num_mel_bins=80,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_target_positions=448,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
        decoder_start_token_id=begin,
        init_std=0.5,
    )
    model = WhisperForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
        decoder_start_token_id=begin,
        suppress_tokens=[],
        begin_suppress_tokens=[end],
        lang_to_id={token: vocabulary[token] for token in languages},
        max_length=448,
    )
    model.save_pretrained(work)
    TransformersConverter(str(work), copy_files=["tokenizer.json", "preprocessor_config.json"]).convert(
        str(folder), quantization="float32"
    )
