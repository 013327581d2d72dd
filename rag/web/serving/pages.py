"""HTML pages of the HTTP interface, and the addresses below its base URL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from rag.web.catalogue import PageEntry, VideoEntry
from rag.web.mock import REASONS


@dataclass(frozen=True, slots=True)
class Links:
    """Makes links below `base`, the address that the client itself called: `http://127.0.0.1:8640`."""

    base: str

    def watch(self, name: str) -> str:
        """Address of a video's page."""
        return f"{self.base}/watch?v={quote(name, safe='')}"

    def text(self, name: str) -> str:
        """Address of a page of text."""
        return f"{self.base}/pages/{quote(name, safe='')}"

    def media(self, name: str) -> str:
        """Address of a video file."""
        return f"{self.base}/media/{quote(name, safe='')}.mp4"

    def transcript(self, name: str) -> str:
        """Address of a video's transcript in WebVTT."""
        return f"{self.base}/transcripts/{quote(name, safe='')}.vtt"


def iso_duration(seconds: float) -> str:
    """ISO 8601, whole seconds: PT1H2M3S."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    parts = [f"{number}{unit}" for number, unit in ((hours, "H"), (minutes, "M"), (rest, "S")) if number]
    return "PT" + ("".join(parts) or "0S")


def published(upload_date: str) -> str:
    """RFC 3339, at midnight; the epoch where the day is not known, since clients parse it."""
    return f"{upload_date or '1970-01-01'}T00:00:00Z"


def watch_page(page: VideoEntry, links: Links, media_type: str) -> str:
    """The page `/watch?v=ID`; behind a gate it says so and links no media.

    `media_type`: of the video's file; empty where the web has none.
    """
    notice = REASONS.get(page.availability, "")
    # yt-dlp reads a <video> before the JSON-LD, and then knows the title alone.
    kind = f' type="{escape(media_type)}"' if media_type else ""
    player = f'<object data="{escape(links.media(page.id))}"{kind}></object>'
    said = f'<a href="{escape(links.transcript(page.id))}">transcript</a>' if page.transcript else ""
    body = [
        f"<h1>{escape(page.title)}</h1>",
        f"<p>{escape(notice)}</p>" if notice else f"{player}\n{said}",
        f"<p>{escape(page.channel)} · {escape(page.upload_date)}</p>",
        *(f"<p>{escape(part)}</p>" for part in page.description.splitlines() if part.strip()),
        f"<p>{escape(', '.join(page.tags))}</p>" if page.tags else "",
    ]
    return _html(page.title, _structured(page, links, media_type), body)


def text_page(page: PageEntry) -> str:
    """A text page as HTML."""
    parts = [f"<p>{escape(part)}</p>" for part in page.content.split("\n\n") if part.strip()]
    return _html(page.title, "", [f"<h1>{escape(page.title)}</h1>", "<article>", *parts, "</article>"])


def gone_page(message: str) -> str:
    """The HTML of an unknown address."""
    return _html("Not found", "", [f"<p>{escape(message)}</p>"])


def front_page(videos: int, pages: int) -> str:
    """The page `/`: what a person or a program can ask for here."""
    asked = (
        "GET /youtube/v3/search?part=snippet&q=...",
        "GET /youtube/v3/videos?part=snippet,contentDetails&id=...",
        'POST /search {"q": ...}',
        'POST /videos {"q": ...}',
        "GET /watch?v=ID, /pages/ID, /media/ID.mp4, /transcripts/ID.vtt",
    )
    return _html(
        "A frozen web",
        "",
        [
            f"<h1>A frozen web: {videos} videos, {pages} pages</h1>",
            *(f"<p><code>{escape(a)}</code></p>" for a in asked),
        ],
    )


def _structured(page: VideoEntry, links: Links, media_type: str) -> str:
    """schema.org's VideoObject as JSON-LD."""
    said: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "VideoObject",
        "@id": page.id,
        "name": page.title,
        "description": page.description or page.title,
        "thumbnailUrl": [page.thumbnail] if page.thumbnail else [],
        "uploadDate": published(page.upload_date),
        "duration": iso_duration(page.duration),
        "url": links.watch(page.id),
        "author": {"@type": "Person", "name": page.channel},
        "keywords": ", ".join(page.tags),
    }
    if page.availability == "ok":
        said["contentUrl"] = links.media(page.id)
        if media_type:
            said["encodingFormat"] = media_type
    # A `</script>` in a title must not end the script.
    return f'<script type="application/ld+json">{json.dumps(said).replace("<", chr(92) + "u003c")}</script>\n'


def _html(title: str, head: str, body: Iterable[str]) -> str:
    lines = "\n".join(part for part in body if part)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"{head}</head>\n<body>\n{lines}\n</body>\n</html>\n"
    )
