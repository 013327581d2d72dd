"""Contact sheets: the frames of a window with their times and text evidence."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from corpora.escaping import visible
from corpora.outputs import PROGRAM, OverwritePolicy, replace_file
from corpora.records import Evidence, Frames, kind_name
from localization.sampling import midpoints
from rag.rendering.fonts import drawable, font_for

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

    from rag.rendering.fonts import Font

_WIDTH = 1200
_MARGIN = 28
_GAP = 10
_TALLEST_TILE = 420
_BACKGROUND = (22, 24, 29)
_FOREGROUND = (240, 241, 243)
_MUTED = (150, 156, 168)
_ACCENT = (255, 190, 92)
_LINES_A_TEXT = 4
_LONGEST_TEXT = 2000


def sheet_times(start: float, end: float, count: int) -> list[float]:
    """`count` times in [start, end): the middles of `count` equal parts, in seconds."""
    if count < 1 or not end > start:
        raise ValueError(f"no {count} times in [{start}, {end})")
    return [float(time) for time in midpoints(start, end, count)]


def contact_sheet(title: str, subtitle: str, shown: Frames, evidence: Sequence[Evidence] = ()) -> Image:
    """An RGB image, 1200 pixels wide, as high as its frames and text need.

    `shown`: upright frames in time order; may be empty, as for an audio file.
    """
    from PIL import Image, ImageDraw

    frames = shown.images
    if frames.ndim != 4 or frames.shape[3] != 3 or frames.dtype != np.uint8:
        raise ValueError(f"frames must be uint8 (n, h, w, 3), not {frames.dtype} {frames.shape}")
    pen = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    head = _header(pen, title, subtitle)
    plain, bold = font_for("0", 18), font_for("0", 18, bold=True)
    words = _evidence_rows(pen, evidence, plain)
    tile, columns = _tile_size(len(frames), *frames.shape[1:3])
    rows = -(-len(frames) // columns)
    grid = rows * (tile[1] + _GAP)
    height = _MARGIN + sum(row.height for row in head + words) + grid + (16 if words else 0) + _MARGIN
    sheet_image = Image.new("RGB", (_WIDTH, height), _BACKGROUND)
    pen = ImageDraw.Draw(sheet_image, "RGBA")
    top = _write(pen, head, _MARGIN, plain)
    _paste_frames(sheet_image, pen, shown, tile, columns, top, bold)
    _write(pen, words, top + grid + (16 if words else 0), plain)
    return sheet_image


def save_png(image: Image, path: str | os.PathLike[str], policy: OverwritePolicy | None = None) -> None:
    """Write `image` with the mark of `corpora.outputs`, whole or not at all.

    Raises `UsageError` where `path` must not be replaced, `OSError` where it cannot be written.
    """
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("Software", PROGRAM)
    with replace_file(path, policy or OverwritePolicy()) as draft:
        image.save(draft, format="PNG", pnginfo=info)


@dataclass(frozen=True, slots=True)
class _Row:
    text: str
    font: Font
    ink: tuple[int, int, int]
    height: int
    label: str = ""
    indent: int = 0


def _header(pen: ImageDraw, title: str, subtitle: str) -> list[_Row]:
    title, quiet = visible(title), visible(subtitle)
    big, small = font_for(title, 30, bold=True), font_for(quiet, 20)
    title, quiet = drawable(title, big), drawable(quiet, small)
    rows = [_Row(line, big, _FOREGROUND, 40) for line in _fit(pen, title, big, _WIDTH - 2 * _MARGIN)[:2]]
    rows += [_Row(line, small, _MUTED, 28) for line in _fit(pen, quiet, small, _WIDTH - 2 * _MARGIN)[:2]]
    return [*rows, _Row("", small, _MUTED, 14)]


def _evidence_rows(pen: ImageDraw, evidence: Sequence[Evidence], label_font: Font) -> list[_Row]:
    labels = [f"{kind_name(item.kind)} {_tenths(item.start)}" for item in evidence]
    indent = ceil(max((pen.textlength(label, font=label_font) for label in labels), default=0)) + 2 * _GAP
    rows = []
    for item, label in zip(evidence, labels, strict=True):
        text = visible(" ".join(item.text.split())[:_LONGEST_TEXT])
        font = font_for(text, 20)
        text = drawable(text, font)
        lines = _fit(pen, text, font, _WIDTH - 2 * _MARGIN - indent)
        if len(lines) > _LINES_A_TEXT:
            lines = [*lines[: _LINES_A_TEXT - 1], lines[_LINES_A_TEXT - 1] + "…"]
        for number, line in enumerate(lines):
            rows.append(_Row(line, font, _FOREGROUND, 28, label if number == 0 else "", indent))
        rows.append(_Row("", font, _FOREGROUND, 6))
    return rows


def _write(pen: ImageDraw, rows: Sequence[_Row], top: int, label_font: Font) -> int:
    for row in rows:
        if row.label:
            pen.text((_MARGIN, top), row.label, font=label_font, fill=_ACCENT)
        if row.text:
            pen.text((_MARGIN + row.indent, top), row.text, font=row.font, fill=row.ink)
        top += row.height
    return top


def _tile_size(count: int, height: int, width: int) -> tuple[tuple[int, int], int]:
    """Width and height of a tile, and how many fit in a row: as large as the sheet's width allows."""
    if count == 0 or height == 0 or width == 0:
        return (0, 0), 1
    room = _WIDTH - 2 * _MARGIN
    columns = min(count, 3)
    while True:
        tile_width = (room - (columns - 1) * _GAP) // columns
        tile_height = max(1, round(tile_width * height / width))
        if tile_height <= _TALLEST_TILE:
            return (tile_width, tile_height), columns
        if columns < count:
            columns += 1
            continue
        return (max(1, round(_TALLEST_TILE * width / height)), _TALLEST_TILE), columns


def _paste_frames(
    canvas: Image, pen: ImageDraw, frames: Frames, tile: tuple[int, int], columns: int, top: int, font: Font
) -> None:
    from PIL import Image

    for number, (time, pixels) in enumerate(zip(frames.times, frames.images, strict=True)):
        row, column = divmod(number, columns)
        left, upper = _MARGIN + column * (tile[0] + _GAP), top + row * (tile[1] + _GAP)
        canvas.paste(Image.fromarray(pixels).resize(tile, Image.Resampling.LANCZOS), (left, upper))
        label = _tenths(float(time))
        x0, y0, x1, y1 = pen.textbbox((0, 0), label, font=font)
        width, height = x1 - x0 + 14, y1 - y0 + 12
        lower = upper + tile[1]
        box = (left + 8, lower - 8 - height, left + 8 + width, lower - 8)
        pen.rounded_rectangle(box, radius=6, fill=(0, 0, 0, 190))
        pen.text((box[0] + 7 - x0, box[1] + 6 - y0), label, font=font, fill=_FOREGROUND)


def _fit(pen: ImageDraw, text: str, font: Font, room: int) -> list[str]:
    """Lines of at most `room` pixels, broken between words, and inside a word that alone is too long."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if pen.textlength(longer, font=font) <= room:
            line = longer
            continue
        if line:
            lines.append(line)
        while pen.textlength(word, font=font) > room:
            lengths = range(1, len(word))
            cut = bisect_right(lengths, room, key=lambda n: ceil(pen.textlength(word[:n], font=font))) or 1
            lines.append(word[:cut])
            word = word[cut:]
        line = word
    return [*lines, line] if line else lines


def _tenths(seconds: float) -> str:
    """`00:12.5`, rounded down, so that a label is never beyond its window."""
    tenths = int(max(0.0, seconds) * 10 + 1e-6)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    clock = f"{minutes:02d}:{rest // 10:02d}.{rest % 10}"
    return f"{hours}:{clock}" if hours else clock
