"""What a pull is held to: the commit of each model, and the SHA-256 of its files, as published.

Only values that were read in public sources stand here. A model without an
entry is pinned by its first pull: the commit and hashes found then are written
to `MODEL.json` beside the weights, and `verify` holds the files to those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Pin:
    """Revision and file digests of a model that are known to work."""

    revision: str | None = None
    """Commit on the hub; None where the hub does not have the model."""
    sha256: Mapping[str, str] = field(default_factory=dict)
    """File name to hex digest. Files that are not named are pinned on first pull."""


WHISPER_TOKENIZER = "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"
WHISPER_VOCABULARY = "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913"

PINS: Mapping[str, Pin] = {
    "siglip2-base-patch16-224": Pin(
        "75de2d55ec2d0b4efc50b3e9ad70dba96a7b2fa2",
        {
            "config.json": "fe8b5fe6d5734360678fd71c11c21e1ea3364bd8598d34295d9206335973ffd7",
            "model.safetensors": "612923381c76ec5a9bed335d1c48827e3f2e506ac31b044b63b2031fadee6a0b",
            "preprocessor_config.json": "9b36b57ebaf20f09bf4c22100ccc21877ea6bfe5aead0c00c59f8af8ccefacfc",
            "special_tokens_map.json": "baec30ea10906f16adb8c18af7a34023002c1746542612b8b41c9f09e1351351",
            "tokenizer.json": "cb9140fae3ac5122c972d37adf83e1248471a38147ad76f8215c8872c6fd8322",
            "tokenizer_config.json": "14afe629fe4959b9e0d51e1852b8d9f7ad074f90a1a7125a4fcdd17f06e78fc8",
        },
    ),
    "siglip-base-patch16-224": Pin(
        "7fd15f0689c79d79e38b1c2e2e2370a7bf2761ed",
        {
            "config.json": "cd85b3d28829722820bcb89a2cfbb4160e55fd359249a3044da724166a8d9688",
            "model.safetensors": "2c63cb7d1f2e95ba501893cbb8faeb4ea9a3af295498d35097126228659c2af8",
            "preprocessor_config.json": "d11ccb80f15d358a11bdb070e92e2d889005874b7db15823d5f10d9b2533b14a",
            "special_tokens_map.json": "2b6a1ff67a27e0df9ac0c7d93250fc0d87431c7b366b3d5669217104f9088a26",
            "spiece.model": "1e5036bed065526c3c212dfbe288752391797c4bb1a284aa18c9a0b23fcaf8ec",
            "tokenizer.json": "c6e405cb7c670d56636a9402c81023a55bc6c3c53d89cf02b92f5c5005bfe920",
            "tokenizer_config.json": "d6423dae508cc3a129d22ea443841c111832a1a73125b8f25ea8736951698bcb",
        },
    ),
    # Its main branch held only a pickle; the commit is that of the hub's own safetensors conversion.
    "metaclip-l14-fullcc2.5b": Pin("b64160740dfb5568b1797fa8bcd9f504fd07f429"),
    "metaclip-h14-fullcc2.5b": Pin("8409dda29d748fb288875e26ac49d6958127aac3"),
    # The hash of the only published form, a pickle, which `pull` turns into safetensors.
    "metaclip-b32-400m": Pin(
        None, {"pytorch_model.bin": "3b5c64e11c9d508e917513685001e52e80efff366d2026a69503ba508d2062b3"}
    ),
    # As above: the conversion, beside a main branch with a pickle.
    "clip-vit-base-patch32": Pin("d15b5f29721ca72dac15f8526b284be910de18be"),
    "imagebind-huge": Pin(
        None, {"imagebind_huge.pth": "d6f6c22bedcc90708448d5d2fbb7b2db9c73f505dc89bd0b2e09b23af1b62157"}
    ),
    "all-MiniLM-L6-v2": Pin(
        "c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
        {"model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
    ),
    "faster-whisper-tiny": Pin(
        "d90ca5fe260221311c53c58e660288d3deb8d356",
        {
            "config.json": "a73a28cdfe1c43ccc7202fa333d1f89c202477271407ae9a7f19afa52039cac8",
            "model.bin": "dcb76c6586fc06cbdac6dd21f14cfd129cc4cdd9dce19bf4ffa62e59cbe6e6d1",
            "tokenizer.json": WHISPER_TOKENIZER,
            "vocabulary.txt": WHISPER_VOCABULARY,
        },
    ),
    "faster-whisper-base": Pin(
        "ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66",
        {
            "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            "model.bin": "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
            "tokenizer.json": WHISPER_TOKENIZER,
            "vocabulary.txt": WHISPER_VOCABULARY,
        },
    ),
    "faster-whisper-small": Pin(
        "536b0662742c02347bc0e980a01041f333bce120",
        {
            "config.json": "b55496ac7940a7ae47d2c01eab40edfd8701feec1229d9cce3b40014383fb828",
            "model.bin": "3e305921506d8872816023e4c273e75d2419fb89b24da97b4fe7bce14170d671",
            "tokenizer.json": WHISPER_TOKENIZER,
            "vocabulary.txt": WHISPER_VOCABULARY,
        },
    ),
    "SmolVLM2-500M-Video-Instruct": Pin(
        "7b375e1b73b11138ff12fe22c8f2822d8fe03467",
        {"model.safetensors": "b9bfd456c9472c0acd5719d6e514c4b859891af205ee1a736552fd3497b8b0c3"},
    ),
    "Qwen2.5-VL-3B-Instruct": Pin("66285546d2b821cf421d4f5eb2576359d3770cd3"),
}
