"""What the benchmarks share: a textured 720p video of any length, a ViT-B/32 with random weights, timing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np


def write_footage(path: Path, seconds: float, *, size: tuple[int, int] = (1280, 720), fps: int = 30) -> None:
    """H.264 with movement, texture, grain and a cut every 7 s: nothing a codec gets for nothing."""
    import av

    width, height = size
    random = np.random.default_rng(7)
    grain = random.normal(0, 5, (8, height, width, 1)).astype(np.float32)
    down, across = np.mgrid[0:height, 0:width].astype(np.float32)
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=fps)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "23"}
        base = np.zeros((height, width, 3), np.float32)
        for index in range(int(seconds * fps)):
            if index % (7 * fps) == 0:
                waves = random.uniform(0.005, 0.05, (3, 2))
                base = np.stack([127 + 90 * np.sin(a * across + b * down) for a, b in waves], axis=2)
            image = np.roll(base, 4 * index % width, axis=1) + grain[index % len(grain)]
            frame = av.VideoFrame.from_ndarray(np.clip(image, 0, 255).astype(np.uint8), format="rgb24")
            for packet in stream.encode(frame):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)


def index_command(
    video: Path, model: Path, folder: str, *, backend: str, batch: int
) -> tuple[list[str], dict[str, str]]:
    """Arguments and environment of `rag index` of a video into `folder`; no frame reuse, no text."""
    settings = {
        "RAG_ENCODER__IMAGE": f"hf:{model}",
        "RAG_ENCODER__BACKEND": backend,
        "RAG_ENCODER__BATCH": str(batch),
        "RAG_ENCODER__REUSE_STILL_FRAMES": "false",
        "RAG_OCR__MODE": "off",
        "RAG_ASR__MODE": "off",
    }
    command = [sys.executable, "-m", "rag._cli.main", "index", str(video), "--library", f"{folder}/library"]
    return command, {**os.environ, **settings}


def save_vit_b32(folder: Path) -> Path:
    """CLIP ViT-B/32 in its published size, with random weights and a tokenizer of a few words."""
    import torch
    from transformers import CLIPConfig, CLIPModel

    from tests.fakes.tiny_models import save_clip

    if not (folder / "model.safetensors").is_file():
        save_clip(folder)
        torch.manual_seed(0)
        CLIPModel(CLIPConfig()).save_pretrained(folder)
        (folder / "preprocessor_config.json").write_text(
            (folder / "preprocessor_config.json").read_text().replace("64", "224")
        )
    return folder
