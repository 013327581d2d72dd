"""Clips a second that an image encoder takes, and how near that is to what its device can do.

    python -m benchmarks.encoding [--encoder hf:FOLDER] [--device auto] [--backend auto] [--batch 0]

Backend and batch are chosen as `rag index` chooses them; without `--encoder` it is a ViT-B/32 with random
weights. `encoder` is the tower alone, on tensors that are already on the device; `images` starts from uint8
frames of the size it takes, preprocessing and transfers included. The limit is a product of two 4096 x 4096
matrices in the same dtype, measured here; `share_of_limit` is the encoder's arithmetic over it.
"""

from __future__ import annotations

import json
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.material import save_vit_b32
from benchmarks.options import option_parser
from indexers.backend import probe_images
from indexers.devices import placement
from indexers.registry import choose_backend, open_image_encoder
from indexers.settings import EncoderSettings
from indexers.torch_backend import TorchImageEncoder

FRAMES = 60
"""Of a clip: 30 s at 2 a second."""
SIDE = 4096


def seconds(call: Callable[[], Any], least: float = 2.0) -> float:
    """Of one call: the mean over at least `least` seconds, after one call that is not counted."""
    call()
    begun, count = time.perf_counter(), 0
    while time.perf_counter() - begun < least:
        call()
        count += 1
    return (time.perf_counter() - begun) / count


def limit(device: str, dtype: Any) -> float:
    """Operations a second of a large matrix product."""
    import torch

    left, right = (torch.randn(SIDE, SIDE, device=device).to(dtype) for _ in range(2))
    # One number is read back, so that the device has finished.
    return 2 * SIDE**3 / seconds(lambda: float((left @ right)[0, 0]))


def operations(encoder: TorchImageEncoder, pixels: Any) -> int:
    """Of one batch."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        encoder._forward(pixels)
    return int(counter.get_total_flops())


def device_name(device: str) -> str:
    """As the driver or the system names it."""
    import torch

    if device == "cuda":
        return str(torch.cuda.get_device_name())
    return f"{device}: {platform.processor() or platform.machine()}, {torch.get_num_threads()} threads"


def main() -> None:
    """Print one JSON object."""
    import torch

    parser = option_parser(__doc__)
    parser.add_argument("--encoder", default="")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda", "mps"])
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--batch", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        name = chosen.encoder or f"hf:{save_vit_b32(Path(folder) / 'vit-b-32')}"
        settings = EncoderSettings(device=chosen.device, backend=chosen.backend, batch=chosen.batch)
        choice = choose_backend(name, settings)
        encoder = open_image_encoder(name, settings, backend=choice.backend, batch=choice.batch)
        assert isinstance(encoder, TorchImageEncoder)
        device, dtype = placement(choice.backend)
        images = probe_images(choice.batch, encoder.short_side or 224, (encoder.short_side or 224) * 16 // 9)
        pixels = torch.from_numpy(encoder.preprocessing(images)).to(device=device, dtype=dtype)

        def alone() -> Any:
            with torch.inference_mode():
                return encoder._forward(pixels).float().cpu()

        tower, whole = seconds(alone), seconds(lambda: encoder.encode_images(images))
        flops, most = operations(encoder, pixels), limit(device, dtype)
        figures = {
            "device": device_name(device),
            "encoder": chosen.encoder or "ViT-B/32, random weights",
            "backend": choice.backend,
            "batch": choice.batch,
            "encoder_images_per_s": round(choice.batch / tower, 1),
            "encoder_clips_per_s": round(choice.batch / tower / FRAMES, 3),
            "images_clips_per_s": round(choice.batch / whole / FRAMES, 3),
            "gflop_per_image": round(flops / choice.batch / 1e9, 2),
            "limit_gflop_per_s": round(most / 1e9, 1),
            "share_of_limit": round(flops / tower / most, 3),
            "chosen_by": choice.note,
        }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
