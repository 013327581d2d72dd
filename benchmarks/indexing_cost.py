"""CPU-seconds of `rag index` per minute of 720p30, over the sum of decoding alone and encoding alone.

    python -m benchmarks.indexing_cost [--minutes 4]

Both floors and the whole run are measured here, one after the other, on the
same footage, with the same decoder settings, encoder, backend and batch; the
optional stages and still-frame reuse are off. The whole run's figure is the
slope between a short and a long video, which takes start-up out of it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.material import index_command, save_vit_b32, write_footage

RATE = 2.0
SHORT_SIDE = 224
BATCH = 16


def cpu() -> float:
    """CPU-seconds of this process and of its finished children."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def decode_alone(video: Path) -> float:
    """Decoding and sampling in this very process: no pipe, no queue."""
    from corpora.video.decoders import open_decoder
    from corpora.video.probe import probe_file
    from corpora.video.records import FrameRequest

    facts = probe_file(str(video), lambda: None)
    request = FrameRequest(rate=RATE, short_side=SHORT_SIDE)
    before = cpu()
    for _ in open_decoder("pyav").frames(str(video), facts, request, lambda: None):
        pass
    return cpu() - before


def encode_alone(model: Path, backend: str, images: int) -> float:
    """Encoding as many images, in full batches, out of memory."""
    from indexers.backend import probe_images
    from indexers.registry import open_image_encoder
    from indexers.settings import EncoderSettings

    encoder = open_image_encoder(f"hf:{model}", EncoderSettings(), backend=backend, batch=BATCH)
    batch = probe_images(BATCH)
    encoder.encode_images(batch)
    before = cpu()
    for _ in range(images // BATCH):
        encoder.encode_images(batch)
    return (cpu() - before) * images / (images // BATCH * BATCH)


def whole(video: Path, model: Path, backend: str) -> tuple[float, float]:
    """CPU-seconds and seconds of one `rag index` of one video, as a process."""
    with tempfile.TemporaryDirectory() as folder:
        command, environment = index_command(video, model, folder, backend=backend, batch=BATCH)
        before, begun = cpu(), time.monotonic()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return cpu() - before, time.monotonic() - begun


def main() -> None:
    """Print the processor time of indexing, by stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--backend", default="torch-bf16")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "rag-benchmarks")
    chosen = parser.parse_args()
    chosen.folder.mkdir(exist_ok=True)
    short, long = chosen.folder / "short.mp4", chosen.folder / "long.mp4"
    for path, minutes in ((short, 1.0), (long, 1.0 + chosen.minutes)):
        if not path.is_file():
            write_footage(path, minutes * 60)
    model = save_vit_b32(chosen.folder / "vit-b-32")
    decode = decode_alone(short)
    encode = encode_alone(model, chosen.backend, int(60 * RATE))
    first, _ = whole(short, model, chosen.backend)
    second, wall = whole(long, model, chosen.backend)
    minute = (second - first) / chosen.minutes
    print(
        json.dumps(
            {
                "decode_cpu_s_per_minute": round(decode, 3),
                "encode_cpu_s_per_minute": round(encode, 3),
                "index_cpu_s_per_minute": round(minute, 3),
                "ratio": round(minute / (decode + encode), 3),
                "target": 1.15,
                "wall_s_of_long": round(wall, 1),
                "backend": chosen.backend,
                "minutes": chosen.minutes,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
