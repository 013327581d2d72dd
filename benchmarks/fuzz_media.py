"""Mutated files of every kind, read as `rag index` reads them: what their readers do with them.

    python -m benchmarks.fuzz_media --files 10000 --seed 1

Small files of each kind are made, and changed by a generator of a fixed seed: bits, lengths, cuts, parts of
other files, and names of a file and of an address of this machine that nothing may open. A media file is
probed, and its subtitles, frames and sound are read; a document is cut into passages; a subtitle file is read
beside a video; a `rag.toml` is loaded in this process. Counted by kind, with n:

read          something came of it
refused       a `FileProblem` or `SettingsError`, one line
over limit    of those, given up for time or memory, or by a crash of the reader
errors        any other exception: a bug (its files are kept with --keep)
longest       wall seconds of one file
memory        most resident memory of the subprocess, MB
opened        readings of the file, and connections to the address, that were named in them
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import signal
import socket
import tempfile
import time
import traceback
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.options import option_parser
from corpora.errors import FileProblem, OverLimit, SettingsError
from corpora.settings import ReadingSettings
from corpora.video.reader import MediaReader
from rag.settings import load_settings
from tests.fakes.documents import (
    epub_parts,
    ods_parts,
    odt_parts,
    pptx_parts,
    word_parts,
    write_pdf,
    write_zip,
    xlsx_parts,
    xlsx_rows,
)

VIDEO_SEEDS = {
    ".mp4": ("libx264", "aac"),
    ".mov": ("mpeg4", "aac"),
    ".mkv": ("libx264", "mp3"),
    ".webm": ("libvpx-vp9", "libopus"),
    ".avi": ("mjpeg", "mp3"),
    ".ts": ("mpeg2video", "mp2"),
    ".mpg": ("mpeg1video", "mp2"),
    ".flv": ("flv", "mp3"),
    ".wmv": ("wmv2", ""),
    ".gif": ("gif", ""),
}
AUDIO_SEEDS = {".mp3": "mp3", ".ogg": "libopus", ".flac": "flac", ".wav": "pcm_s16le", ".m4a": "aac"}
SECONDS = 1
LIMITS = ReadingSettings(memory_gib=2.0, document_seconds=10)
STALL_SECONDS = 10.0
INTERESTING = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@dataclass
class Row:
    """What came of the files of one kind."""

    files: int = 0
    read: int = 0
    refused: int = 0
    over_limit: int = 0
    errors: int = 0
    longest: float = 0.0
    memory: int = 0
    """Bytes."""
    opened: int = 0
    tracebacks: list[str] = field(default_factory=list)


def media_seed(suffix: str, video: str, audio: str) -> bytes:
    """A file of one second with images, sound, or both."""
    import av

    made = io.BytesIO()
    forms = {".ts": "mpegts", ".mpg": "mpeg", ".mkv": "matroska", ".wmv": "asf", ".m4a": "mp4"}
    with av.open(made, "w", format=forms.get(suffix, suffix[1:])) as out:
        streams = []
        if video:
            images = out.add_stream(video, rate=25)
            images.width, images.height = 64, 48
            images.pix_fmt = {"mjpeg": "yuvj420p", "gif": "rgb8"}.get(video, "yuv420p")
            streams.append(images)
        if audio:
            streams.append(out.add_stream(audio, rate=48000 if audio == "libopus" else 44100))
        for stream in streams:
            if stream.type == "video":
                for number in range(25 * SECONDS):
                    image = np.full((48, 64, 3), 9 * number, np.uint8)
                    out.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
            else:
                wave = np.sin(np.arange(stream.rate * SECONDS) / 20).astype(np.float32)[None]
                sound = av.AudioFrame.from_ndarray(wave, format="fltp", layout="mono")
                sound.sample_rate = stream.rate
                resampler = av.AudioResampler(
                    format=stream.codec_context.format,
                    layout=stream.codec_context.layout,
                    rate=stream.rate,
                    frame_size=stream.codec_context.frame_size or 1024,
                )
                for part in [*resampler.resample(sound), *resampler.resample(None)]:
                    out.mux(stream.encode(part))
            out.mux(stream.encode(None))
    return made.getvalue()


def document_seeds() -> dict[str, bytes]:
    """One small file of each kind of document, subtitle and settings file."""
    import pyarrow as pa
    from pyarrow import parquet

    table = io.BytesIO()
    words = pa.array(["Oil the chain.", "Wipe it dry."] * 20).dictionary_encode()
    parquet.write_table(pa.table({"text": words, "title": words}), table)
    pdf = io.BytesIO()
    write_pdf(pdf, ["Oil the chain"])
    rows = [{"_id": str(number), "title": "Chain", "text": "Oil the chain."} for number in range(5)]
    cues = "1\n00:00:00,000 --> 00:00:01,000\n<i>Oil</i> the chain\n\n2\n00:00:01,000 --> 00:00:02,000\nDry\n"
    ass = "[Events]\nFormat: Start, End, Text\nDialogue: 0:00:00.00,0:00:01.00,{\\i1}Oil\n"
    info = {"title": "Chain", "duration": 3, "chapters": [{"start_time": 0, "end_time": 2, "title": "Oil"}]}
    texts = {
        ".md": "---\ntitle: Chain\n---\n# Oil\n\n![a](b.png) **Oil** the [chain](c). `x`\n\n| a |\n|--|\n",
        ".html": "<title>Chain</title><body><p>Oil &amp; wipe <b>dry</b></p><pre>x</pre></body>",
        ".txt": "Oil\n\nthe chain. Wipe it dry.\n",
        ".csv": "title,text\nChain,Oil it\nDry,Wipe it\n",
        ".jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        ".srt": cues,
        ".vtt": "WEBVTT\n\n" + cues.replace(",", "."),
        ".ass": ass,
        ".info.json": json.dumps(info),
        ".toml": 'seed = 3\n[video]\nrate = 2.0\ndecoder = "pyav"\n[localize]\nlengths = [2.0, 5.0]\n',
    }
    seeds = {suffix: text.encode() for suffix, text in texts.items()} | zipped_seeds()
    return {**seeds, ".parquet": table.getvalue(), ".pdf": pdf.getvalue()}


def zipped_seeds() -> dict[str, bytes]:
    """One small file of each kind that is XML in a zip file."""
    item = '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>'
    item += "<w:r><w:t>Oil the chain.</w:t></w:r></w:p>"
    cell = "<w:tc><w:p><w:r><w:t>M8</w:t></w:r></w:p></w:tc>"
    level = '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/></w:lvl>'
    lists = f'<w:abstractNum w:abstractNumId="0">{level}</w:abstractNum>'
    lists += '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    line = "<a:p><a:pPr><a:buAutoNum/></a:pPr><a:r><a:t>Oil the chain.</a:t></a:r></a:p>"
    field = '<table:table-cell office:value-type="string"><text:p>Dry<text:s/></text:p></table:table-cell>'
    rows = f"<table:table-row>{field * 2}</table:table-row>" * 2
    kinds = {
        ".docx": word_parts(f"{item}<w:tbl><w:tr>{cell * 2}</w:tr></w:tbl>", title="Chain", numbering=lists),
        ".pptx": pptx_parts(f"<a:txBody>{line}</a:txBody>"),
        ".odt": odt_parts(f"<office:text><table:table>{rows}</table:table></office:text>", title="Chain"),
        ".epub": epub_parts("Chain", "<p>Oil the chain.</p>"),
        ".xlsx": xlsx_parts(Chain=xlsx_rows(("Part", "Oil"), ("Chain", 2.0))),
        ".ods": ods_parts(rows),
    }
    return {suffix: zipped(parts) for suffix, parts in kinds.items()}


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file of parts by name."""
    made = io.BytesIO()
    write_zip(made, parts)
    return made.getvalue()


def mutate_part(data: bytes, rng: random.Random, others: list[bytes], named: list[bytes]) -> bytes:
    """A zip file with one part changed as `mutate` does, whose checksum is right."""
    with zipfile.ZipFile(io.BytesIO(data)) as held:
        parts = {name: held.read(name) for name in held.namelist()}
    name = rng.choice([*parts])
    return zipped({**parts, name: mutate(parts[name], rng, others, named)})


def all_seeds() -> dict[str, bytes]:
    """A seed by suffix; codecs that this build of FFmpeg cannot write are left out."""
    import av

    seeds = document_seeds()
    for suffix, (video, audio) in {**VIDEO_SEEDS, **{k: ("", v) for k, v in AUDIO_SEEDS.items()}}.items():
        try:
            seeds[suffix] = media_seed(suffix, video, audio)
        except (av.FFmpegError, ValueError):
            continue
    return dict(sorted(seeds.items()))


def mutate(data: bytes, rng: random.Random, others: list[bytes], named: list[bytes]) -> bytes:
    """A copy with one to four changes. `named`: what nothing may open."""
    held = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(held) + 1)
        match rng.randrange(9):
            case 0 if at < len(held):
                held[at] ^= 1 << rng.randrange(8)
            case 1:
                size = rng.choice((1, 2, 4, 8))
                value = rng.choice(INTERESTING) % 256**size
                held[at : at + size] = value.to_bytes(size, rng.choice(("little", "big")))
            case 2:
                del held[at:]
            case 3:
                del held[at : at + rng.randrange(1, 200)]
            case 4:
                held[at:at] = held[at : at + rng.randrange(1, 200)] * rng.choice((1, 2, 50, 2000))
            case 5:
                other = rng.choice(others)
                start = rng.randrange(len(other))
                held[at:at] = other[start : start + rng.randrange(1, 500)]
            case 6:
                held[at : at + 16] = rng.randbytes(16)
            case 7:
                held[at:at] = rng.choice(
                    (b"<", b"![](", b"[", b"{", b"\0", b"../", b"\n", b"&#9;")
                ) * rng.choice((1, 30, 3000))
            case 8:
                held[0 if rng.random() < 0.5 else at : at] = rng.choice(named)
    return bytes(held[: 2**20])


class Canary:
    """A file and an address that nothing may open, and how often they were."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "canary.ts"
        self.file.write_bytes(b"G" + bytes(187))
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.setblocking(False)
        self._arm()
        self.file.read_bytes()
        self.sees_readings = self.opened() == 1

    def _arm(self) -> None:
        os.utime(self.file, (1, 2))  # such an access time is renewed by a reading, except on `noatime`

    def opened(self) -> int:
        """Since the last call."""
        count = int(self.file.stat().st_atime != 1)
        if count:
            self._arm()
        while True:
            try:
                self._server.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1

    def references(self) -> list[bytes]:
        """Ways in which formats name other files."""
        address = f"http://127.0.0.1:{self._server.getsockname()[1]}/a.ts"
        forms = (
            *("#EXTM3U\n#EXTINF:1,\n{}\n", "ffconcat version 1.0\nfile '{}'\n", "<img src='{}'>", "{}"),
            *("<!DOCTYPE a [<!ENTITY b SYSTEM '{}'>]><a>&b;</a>", "![a]({})", "/URI ({}) /F ({})"),
        )
        return [form.replace("{}", to).encode() for form in forms for to in (str(self.file), address)]

    def close(self) -> None:
        """Stop listening."""
        self._server.close()


def read_file(reader: MediaReader, path: Path, kind: str) -> bool:
    """Read a file as indexing does; whether anything came of it."""
    name = str(path)
    if kind == ".toml":
        load_settings(path)
        return True
    if kind in (".srt", ".vtt", ".ass", ".info.json"):
        found = reader.sidecars([name])
        return bool(found.texts or found.title)
    if kind not in VIDEO_SEEDS and kind not in AUDIO_SEEDS:
        return any(True for _ in reader.passages(name))
    probe = reader.probe(name)
    some = bool(reader.texts(name))
    if probe.stream >= 0:
        some = sum(len(batch.frames.times) for batch in reader.frames(name, short_side=32)) > 0 or some
    if probe.audio:
        some = sum(len(block) for block in reader.audio(name)) > 0 or some
    return some


def fuzz(files: int, seed: int, keep: Path | None = None) -> dict[str, Row]:
    """Rows by kind. `keep`: a folder for the files of bugs."""
    seeds = all_seeds()
    kinds, material = list(seeds), list(seeds.values())
    zipped_kinds = zipped_seeds().keys()
    rows = {kind: Row() for kind in kinds}
    places, reading = _places(), MediaReader("pyav", STALL_SECONDS, limits=LIMITS)
    # Interrupted or terminated, it ends with what was seen until then.
    with suppress(KeyboardInterrupt), places as (folder, canary), reading as reader:
        named = canary.references()
        for number in range(files):
            # Of its own number alone, so that one file can be made again.
            rng = random.Random(f"{seed} {number}")
            kind = kinds[number % len(kinds)]
            path = folder / f"file{kind}"
            inside = kind in zipped_kinds and rng.random() < 0.7
            change = mutate_part if inside else mutate
            path.write_bytes(change(seeds[kind], rng, material, named))
            row = rows[kind]
            row.files += 1
            begun = time.monotonic()
            try:
                row.read += read_file(reader, path, kind)
            except (FileProblem, SettingsError) as problem:
                row.refused += 1
                row.over_limit += isinstance(problem, OverLimit)
            except Exception:  # any other is the finding
                row.errors += 1
                row.tracebacks.append(f"file {number}\n{traceback.format_exc()}")
                if keep is not None:
                    shutil.copy(path, keep / f"{seed}-{number}{kind}")
            row.longest = max(row.longest, time.monotonic() - begun)
            row.memory = max([row.memory, *map(_peak, reader.pids)])
            row.opened += canary.opened()
    return rows


@contextmanager
def _places() -> Iterator[tuple[Path, Canary]]:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "input").mkdir()
        canary = Canary(Path(name))
        try:
            yield Path(name) / "input", canary
        finally:
            canary.close()


def _peak(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def table(rows: dict[str, Row]) -> Iterator[str]:
    """One line a kind, and one for all."""
    columns = ("kind", "n", "read", "refused", "over limit", "errors", "longest s", "memory MB", "opened")
    yield " ".join(f"{name:>10}" for name in columns)
    whole = Row()
    for row in rows.values():
        for name in ("files", "read", "refused", "over_limit", "errors", "opened"):
            setattr(whole, name, getattr(whole, name) + getattr(row, name))
        whole.longest, whole.memory = max(whole.longest, row.longest), max(whole.memory, row.memory)
    for kind, row in {**rows, "all": whole}.items():
        counts = (row.files, row.read, row.refused, row.over_limit, row.errors)
        cells = [kind, *map(str, counts), f"{row.longest:.1f}", str(row.memory >> 20), str(row.opened)]
        yield " ".join(f"{cell:>10}" for cell in cells)


def main() -> int:
    """Print the table; exit 1 where a file was a bug, or another file or address was opened."""
    parser = option_parser(__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the files that were bugs")
    chosen = parser.parse_args()
    if chosen.keep:
        chosen.keep.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rows = fuzz(chosen.files, chosen.seed, chosen.keep)
    for line in table(rows):
        print(line)
    for row in rows.values():
        for text in row.tracebacks[:3]:
            print(text)
    return int(any(row.errors or row.opened for row in rows.values()))


if __name__ == "__main__":
    raise SystemExit(main())
