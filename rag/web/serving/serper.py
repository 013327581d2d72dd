"""The shapes of serper.dev: `/search` over pages of text, `/videos` over videos."""

from __future__ import annotations

from typing import Any

from rag.web.records import SearchPage
from rag.web.serving.pages import Links


def organic(found: SearchPage, links: Links, page_size: int) -> dict[str, Any]:
    """`/search`."""
    return _asked(found, "search", page_size) | {
        "organic": [
            {
                "title": result.title,
                "link": links.page(result.id, "text"),
                "snippet": result.snippet,
                "position": result.rank,
            }
            for result in found.results
        ],
        "credits": 1,
    }


def videos(found: SearchPage, links: Links, page_size: int) -> dict[str, Any]:
    """`/videos`."""
    return _asked(found, "videos", page_size) | {
        "videos": [
            {
                "title": result.title,
                "link": links.page(result.id),
                "snippet": result.snippet,
                "imageUrl": result.thumbnail,
                "duration": _clock(result.duration),
                "source": "videos.example",
                "channel": result.channel,
                "date": result.upload_date,
                "position": result.rank,
            }
            for result in found.results
        ],
        "credits": 1,
    }


def error_shape(status: int, message: str) -> dict[str, Any]:
    """An error as Serper's API returns it."""
    return {"message": message, "statusCode": status}


def _asked(found: SearchPage, kind: str, page_size: int) -> dict[str, Any]:
    asked = {"q": found.query, "type": kind, "engine": "google", "num": page_size, "page": found.page}
    return {"searchParameters": asked}


def _clock(seconds: float) -> str:
    """M:SS or H:MM:SS; empty where unknown."""
    whole = round(seconds)
    if not whole:
        return ""
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
