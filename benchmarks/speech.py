"""Word error rate, times and cost of recognized speech, and the lines invented without speech.

    python -m benchmarks.speech [--model faster-whisper-base] [--seed 0]

All sound is synthetic: eighteen sentences (IEEE, Harvard lists 4 and 5) in each of four voices, that of the
program `espeak-ng` and three of `flite`, where these are installed, with pauses of 0.4 to 3 seconds and some
noise; and ten minutes without speech, one a kind, of which one is the sentences backwards.
`lines_start`, `lines_end`: share of the recognized lines that start or end within 0.5 seconds of a sentence's
start or end. `sentences_start`: share of the sentences where a line starts so; some lines hold two sentences.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import wave
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, resample_poly, sosfilt

from benchmarks.options import cpu, option_parser
from indexers.asr import RATE, Asr, open_asr
from indexers.settings import AsrSettings

SENTENCES = """
Hoist the load to your left shoulder. Take the winding path to reach the lake. Note closely the size of the
gas tank. Wipe the grease off his dirty face. The wrist was badly strained and hung limp. The stray cat gave
birth to kittens. The young girl gave no clear response. The meal was cooked before the bell rang. What joy
there is in living. A king ruled the state in the early days. The ship was torn apart on the sharp reef.
Sickness kept him home the third week. The lazy cow lay in the cool grass. Lift the square stone over the
fence. The rope will bind the seven books at once. Hop over the fence and plunge in. The friendly gang left
the drug store. Mesh wire keeps chicks inside.
"""
CLOSE = 0.5
"""Seconds between two times that count as the same."""
Sound = NDArray[np.float32]
Said = list[tuple[float, float, str]]


def spoken(text: str, voice: str) -> Sound:
    """The text as sound, float32 (n,) at 16 kHz, without the silence around it, by the program of a voice."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "line.wav"
        espeak = ["espeak-ng", "-v", "en-us", "-s", "150", "-w", str(path), text]
        command = espeak if voice == "espeak" else ["flite", "-voice", voice, "-t", text, "-o", str(path)]
        subprocess.run(command, check=True)
        with wave.open(str(path)) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
            return _trimmed(resample_poly(samples, RATE, file.getframerate()))


def _trimmed(sound: NDArray[Any]) -> Sound:
    loud = np.flatnonzero(np.abs(sound) > 0.01)
    return np.asarray(sound[loud[0] : loud[-1] + 1] / np.std(sound) * 0.08, np.float32)


def recording(sentences: Sequence[str], say: Callable[[str], Sound], seed: int) -> tuple[Sound, Said]:
    """The sentences with pauses between them, and when each is said."""
    rng = np.random.default_rng(seed)
    parts, said, at = [], [], 0
    for sentence in sentences:
        pause, sound = np.zeros(int(RATE * rng.uniform(0.4, 3))), say(sentence)
        said.append(((at + len(pause)) / RATE, (at + len(pause) + len(sound)) / RATE, sentence))
        parts += [pause, sound]
        at += len(pause) + len(sound)
    whole = np.concatenate([*parts, np.zeros(RATE)])
    return (whole + rng.normal(0, 0.002, len(whole))).astype(np.float32), said


def without_speech(backwards: Sound, seed: int) -> dict[str, Sound]:
    """A minute of each kind of sound, float32 at 16 kHz."""
    rng, count = np.random.default_rng(seed), 60 * RATE
    time = np.arange(count) / RATE
    noise = rng.normal(0, 0.1, count)

    def band(low: float, high: float) -> NDArray[np.float64]:
        return 3 * np.asarray(sosfilt(butter(4, [low, high], "band", fs=RATE, output="sos"), noise))

    def events(rate: float, sound: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        whole = np.zeros(count + 2 * RATE)
        for start in rng.integers(0, count, int(60 * rate)):
            one = sound()
            whole[start : start + len(one)] += one
        return whole[:count]

    def note() -> NDArray[np.float64]:
        pitch = 110 * 2 ** (rng.integers(0, 30) / 12)
        tones = sum(np.sin(2 * np.pi * pitch * k * time[:RATE]) / k for k in range(1, 8))
        return np.asarray(0.1 * tones * np.exp(-3 * time[:RATE]))

    gusts = np.interp(time, np.arange(61), rng.uniform(0.1, 1, 61))
    sounds = {
        "silence": np.zeros(count),
        "hiss": noise,
        "hum": sum(0.1 / k * np.sin(100 * np.pi * k * time) for k in (1, 2, 3, 5)),
        "tones": events(3, note),
        "knocks": events(1, lambda: rng.normal(0, 0.3, 4000) * np.exp(-np.arange(4000) / 300)),
        "sizzling": band(2000, 7500) * gusts + events(80, lambda: rng.normal(0, 0.2, 60)),
        "wind": band(60, 900) * gusts,
        "engine": sum(np.sin(80 * np.pi * k * (time + np.sin(time) / 9)) / k / 9 for k in range(1, 12)),
        "chirps": events(1, lambda: 0.2 * np.sin(2e4 * (time[:6000] + time[:6000] ** 2)) * np.hanning(6000)),
        "backwards": np.resize(backwards[::-1], count),
    }
    return {name: np.asarray(sound, np.float32) for name, sound in sounds.items()}


def word_errors(said: str, found: str) -> tuple[int, int]:
    """Words changed, left out or added (Levenshtein), and words said; case and punctuation do not count."""
    words, others = (re.sub(r"[^\w' ]", " ", text.lower()).split() for text in (said, found))
    row = list(range(len(others) + 1))
    for number, word in enumerate(words, 1):
        before, row = row, [number]
        for at, other in enumerate(others):
            row.append(min(before[at + 1] + 1, row[at] + 1, before[at] + (word != other)))
    return row[-1], len(words)


def measure(asr: Asr, sound: Sound, said: Said) -> dict[str, Any]:
    """What `asr` makes of a recording."""
    before = cpu()
    found = list(asr.transcribe([sound]))
    spent = cpu() - before
    wrong, words = word_errors(*(" ".join(text for *_, text in lines) for lines in (said, found)))
    times = [np.array([line[:2] for line in lines]).reshape(-1, 2, 1) for lines in (said, found)]
    starts, ends = (np.abs(times[0][:, side] - times[1][:, side].T) for side in (0, 1))
    return {
        "word_error_rate": round(wrong / words, 3),
        "lines_start": round(float(np.mean(starts.min(axis=0) <= CLOSE)), 2),
        "lines_end": round(float(np.mean(ends.min(axis=0) <= CLOSE)), 2),
        "end_error_p50": round(float(np.median(ends.min(axis=0))), 2),
        "sentences_start": round(float(np.mean(starts.min(axis=1) <= CLOSE)), 2),
        "cpu_s_a_minute": round(spent / len(sound) * RATE * 60, 1),
    }


def main(model: str, seed: int) -> None:
    asr = open_asr(AsrSettings(model=model, mode="on"))
    assert isinstance(asr, Asr)
    voices = ["espeak"] if shutil.which("espeak-ng") else []
    voices += ["rms", "slt", "awb"] if shutil.which("flite") else []
    if not voices:
        sys.exit("no voice: install espeak-ng or flite")
    sentences = re.split(r"(?<=\.)\s", " ".join(SENTENCES.split()))
    made = {
        name: recording(sentences, partial(spoken, voice=name), seed + at) for at, name in enumerate(voices)
    }
    invented: dict[str, list[str]] = {}
    for name, sound in without_speech(made[voices[0]][0], seed).items():
        invented[name] = [text for *_, text in asr.transcribe([sound])]
    shown = {name: measure(asr, *each) for name, each in made.items()}
    report = {"model": asr.reason, "synthetic_voices": shown, "invented": invented}
    json.dump(report, sys.stdout, indent=2, ensure_ascii=False)
    print()


if __name__ == "__main__":
    parser = option_parser(__doc__)
    parser.add_argument("--model", default=AsrSettings().model)
    parser.add_argument("--seed", type=int, default=0)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(**vars(parser.parse_args()))
