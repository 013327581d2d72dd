"""Vision-language models with random weights, in the form of published ones: LLaVA and Qwen2.5-VL, 260 kB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}{% endfor %}</s>"
    "{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)
IMAGE_TOKENS = 16
"""Of one image: 32 x 32 pixels in patches of 8."""


def _byte_tokenizer(*special: str) -> Any:
    """Every byte is a token, after the special ones."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    words = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE(vocab={word: index for index, word in enumerate(words)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def write_tiny_vlm(folder: Path, *, context: int = 32768) -> Path:
    """Save model and processor into `folder`; every byte is a token, whatever it replies is noise."""
    import torch
    import transformers
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    transformers.utils.logging.disable_progress_bar()
    tokenizer = _byte_tokenizer("<pad>", "<s>", "</s>", "<image>")
    processor = transformers.LlavaProcessor(
        image_processor=CLIPImageProcessorPil(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
        ),
        tokenizer=transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            pad_token="<pad>",
            bos_token="<s>",
            eos_token="</s>",
            additional_special_tokens=["<image>"],
        ),
        patch_size=8,
        vision_feature_select_strategy="default",
        image_token="<image>",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    )
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    vision = transformers.CLIPVisionConfig(**shape, image_size=32, patch_size=8, projection_dim=32)
    text = transformers.LlamaConfig(
        **shape,
        vocab_size=tokenizer.get_vocab_size(),
        max_position_embeddings=context,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    torch.manual_seed(0)
    model = transformers.LlavaForConditionalGeneration(
        transformers.LlavaConfig(
            vision_config=vision.to_dict(),
            text_config=text.to_dict(),
            image_token_id=3,
            image_seq_length=IMAGE_TOKENS,
            vision_feature_layer=-1,
        )
    )
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


QWEN_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part['text'] }}"
    "{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
QWEN_TOKENS = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)


def write_tiny_qwen_vl(folder: Path, *, context: int = 32768) -> Path:
    """Save a Qwen2.5-VL as its publisher does: `preprocessor_config.json` names a processor of images, and
    that of videos, which needs torchvision, goes by the model's type. An image has one to four tokens."""
    import torch
    import transformers
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    transformers.utils.logging.disable_progress_bar()
    tokenizer = _byte_tokenizer(*QWEN_TOKENS)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        additional_special_tokens=list(QWEN_TOKENS),
        chat_template=QWEN_TEMPLATE,
    ).save_pretrained(folder)
    Qwen2VLImageProcessorPil(min_pixels=28 * 28, max_pixels=56 * 56).save_pretrained(folder)
    layers = {"hidden_size": 32, "intermediate_size": 64}
    config = transformers.Qwen2_5_VLConfig(
        text_config={
            **layers,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "vocab_size": tokenizer.get_vocab_size(),
            "max_position_embeddings": context,
            "rope_scaling": {"rope_type": "default", "mrope_section": [2, 3, 3]},
            "bos_token_id": 0,
            "eos_token_id": 2,
            "pad_token_id": 0,
        },
        vision_config={
            **layers,
            "depth": 2,
            "num_heads": 2,
            "out_hidden_size": 32,
            "fullatt_block_indexes": [1],
            "window_size": 56,
        },
        image_token_id=5,
        video_token_id=6,
        vision_start_token_id=3,
        vision_end_token_id=4,
    )
    torch.manual_seed(0)
    transformers.Qwen2_5_VLForConditionalGeneration(config).save_pretrained(folder)
    return folder
