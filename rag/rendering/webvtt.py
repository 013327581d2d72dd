"""WebVTT: captions and chapters."""

from __future__ import annotations

from collections.abc import Iterable


def webvtt(cues: Iterable[tuple[float, float, str]], note: str = "") -> str:
    """The file of cues (start, end, text), seconds; what would be markup or end a cue is escaped."""
    blocks = [f"NOTE {note}\n"] if note else []
    for start, end, text in cues:
        lines = filter(None, (line.strip() for line in text.splitlines()))
        blocks.append(f"{vtt_time(start)} --> {vtt_time(end)}\n{_escaped(chr(10).join(lines))}\n")
    return "\n".join(["WEBVTT\n", *blocks])


def vtt_time(seconds: float) -> str:
    """`00:01:02.500`, to the millisecond."""
    whole = round(max(0.0, seconds) * 1000)
    minutes, rest = divmod(whole, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}.{rest % 1000:03d}"


def _escaped(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.encode("utf-8", "replace").decode("utf-8")
