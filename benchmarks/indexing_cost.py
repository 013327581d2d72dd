"""CPU-seconds of `rag index` per minute of 720p30, by stage and as a whole.

    python -m benchmarks.indexing_cost [--minutes 4] [--no-text]

All are measured here, one after the other, on the same footage, with the same
decoder settings, encoder, backend and batch; the backend is what `rag index`
chooses on this machine. Still-frame reuse is off, and speech is not read.
`whole` is the slope between a short and a long video, which takes start-up out
of it; `whole_with_text` is the same with on-screen text. `ratio` is `whole`
over decoding and encoding. Measuring is that of the frames and of a minute of
noise, whose decoding is not counted: the footage is silent.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.material import index_command, save_vit_b32, write_footage
from benchmarks.options import kept_folder, option_parser
from indexers.registry import choose_backend, open_image_encoder
from indexers.settings import EncoderSettings

RATE = 2.0
SHORT_SIDE = 224
BATCH = 16


def cpu() -> float:
    """CPU-seconds of this process and of its finished children."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def least_cpu(call: Callable[[], None]) -> float:
    """CPU-seconds of the cheapest of three calls, after one that imports: what else runs only adds."""
    call()
    spent = []
    for _ in range(3):
        before = cpu()
        call()
        spent.append(cpu() - before)
    return min(spent)


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

    encoder = open_image_encoder(f"hf:{model}", EncoderSettings(), backend=backend, batch=BATCH)
    batch = probe_images(BATCH)
    encoder.encode_images(batch)
    before = cpu()
    for _ in range(images // BATCH):
        encoder.encode_images(batch)
    return (cpu() - before) * images / (images // BATCH * BATCH)


def measure_alone(video: Path) -> tuple[float, float]:
    """Measuring the frames of a video, and a minute of noise as sound."""
    import numpy as np

    from corpora.video.decoders import open_decoder
    from corpora.video.probe import probe_file
    from corpora.video.records import FrameRequest
    from indexers.shots import joined, measure_frames, thumbnails_of
    from indexers.soundtrack import SAMPLE_RATE, SoundMeter
    from rag.indexing.clips import cut_clips

    facts = probe_file(str(video), lambda: None)
    request = FrameRequest(rate=RATE, short_side=SHORT_SIDE)
    batches = open_decoder("pyav").frames(str(video), facts, request, lambda: None)
    clips = list(cut_clips(batches, "v", 30.0, 5.0, lambda: facts.duration))
    noise = np.random.default_rng(0).normal(0, 0.1, 60 * SAMPLE_RATE).astype(np.float32)

    def frames() -> None:
        thumbnails_of(joined([measure_frames(clip.frames) for clip in clips]))

    def sound() -> None:
        meter = SoundMeter()
        meter.feed(noise)
        meter.track("v", 60.0)

    return least_cpu(frames), least_cpu(sound)


def whole(video: Path, model: Path, backend: str, text: str = "off") -> tuple[float, float]:
    """CPU-seconds and seconds of one `rag index` of one video, as a process. `text`: the OCR mode."""
    with tempfile.TemporaryDirectory() as folder:
        command, environment = index_command(video, model, folder, backend=backend, batch=BATCH)
        environment["RAG_OCR__MODE"] = text
        before, begun = cpu(), time.monotonic()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return cpu() - before, time.monotonic() - begun


def main() -> None:
    """Print the processor time of indexing, by stage."""
    parser = option_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--backend", help="default: the best here, as rag index chooses it")
    parser.add_argument("--folder", type=Path, default=kept_folder())
    parser.add_argument("--text", action=argparse.BooleanOptionalAction, default=True)
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as `rag index` does
    chosen.folder.mkdir(exist_ok=True)
    short, long = chosen.folder / "short.mp4", chosen.folder / "long.mp4"
    for path, minutes in ((short, 1.0), (long, 1.0 + chosen.minutes)):
        if not path.is_file():
            write_footage(path, minutes * 60)
    model = save_vit_b32(chosen.folder / "vit-b-32")
    backend = chosen.backend or choose_backend(f"hf:{model}", EncoderSettings(batch=BATCH)).backend
    decode = decode_alone(short)
    encode = encode_alone(model, backend, int(60 * RATE))
    frames, sound = measure_alone(short)
    figures = {"decode": decode, "encode": encode, "measure_frames": frames, "measure_sound": sound}
    modes = {"whole": "off"} | ({"whole_with_text": "on"} if chosen.text else {})
    for name, text in modes.items():
        first, _ = whole(short, model, backend, text)
        second, _ = whole(long, model, backend, text)
        figures[name] = (second - first) / chosen.minutes
    figures["ratio"] = figures["whole"] / (decode + encode)
    figures["measuring_share"] = (frames + sound) / (decode + encode)
    rounded = {name: round(value, 3) for name, value in figures.items()}
    print(json.dumps({**rounded, "backend": backend, "minutes": chosen.minutes}, indent=2))


if __name__ == "__main__":
    main()
