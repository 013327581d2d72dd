"""The shapes of serper.dev and of the YouTube Data API v3: search results, videos and errors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from rag.web.catalogue import VideoEntry
from rag.web.records import SearchPage, SearchResult
from rag.web.serving.pages import Links, iso_duration, published


def serper_pages(found: SearchPage, links: Links, page_size: int) -> dict[str, Any]:
    """`/search`."""
    return _asked(found, "search", page_size) | {
        "organic": [
            {
                "title": result.title,
                "link": links.text(result.id),
                "snippet": result.description,
                "position": result.rank,
            }
            for result in found.results
        ],
        "credits": 1,
    }


def serper_videos(found: SearchPage, links: Links, page_size: int) -> dict[str, Any]:
    """`/videos`."""
    return _asked(found, "videos", page_size) | {
        "videos": [
            {
                "title": result.title,
                "link": links.watch(result.id),
                "snippet": result.description,
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


REASONS = {400: "badRequest", 403: "forbidden", 404: "notFound"}
PEOPLE_AND_BLOGS = "22"


def youtube_search(found: SearchPage, page_size: int) -> dict[str, Any]:
    """`search.list`."""
    items = [_search_item(result) for result in found.results]
    return _list("youtube#searchListResponse", items, found.total, page_size) | _tokens(found)


def youtube_video(page: VideoEntry, parts: Sequence[str]) -> dict[str, Any]:
    """One resource of `videos.list`, with the parts that were asked for."""
    item: dict[str, Any] = {"kind": "youtube#video", "id": page.id}
    made = {
        "snippet": _snippet(page) | {"tags": list(page.tags), "categoryId": PEOPLE_AND_BLOGS},
        "contentDetails": _content_details(page),
        "status": {
            "uploadStatus": "processed",
            "privacyStatus": "public",
            "embeddable": page.availability == "ok",
        },
        "statistics": {},
    }
    return item | {part: made[part] for part in parts if part in made}


def youtube_videos(items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`videos.list`: what is gone is left out, as there."""
    return _list("youtube#videoListResponse", items, len(items), len(items))


def youtube_error(status: int, message: str) -> dict[str, Any]:
    """An error as the YouTube Data API returns it."""
    reason = REASONS.get(status, "backendError")
    detail = {"message": message, "domain": "youtube", "reason": reason}
    return {"error": {"code": status, "message": message, "errors": [detail]}}


def _search_item(result: SearchResult) -> dict[str, Any]:
    snippet = _snippet(result)
    return {
        "kind": "youtube#searchResult",
        "id": {"kind": "youtube#video", "videoId": result.id},
        "snippet": snippet | {"publishTime": snippet["publishedAt"]},
    }


def _snippet(item: VideoEntry | SearchResult) -> dict[str, Any]:
    return {
        "publishedAt": published(item.upload_date),
        "channelId": "UC" + hashlib.sha256(item.channel.encode()).hexdigest()[:22],
        "title": item.title,
        "description": item.description,
        "thumbnails": {"default": {"url": item.thumbnail}} if item.thumbnail else {},
        "channelTitle": item.channel,
        "liveBroadcastContent": "none",
    }


def _content_details(page: VideoEntry) -> dict[str, Any]:
    details: dict[str, Any] = {
        "duration": iso_duration(page.duration),
        "caption": "true" if page.transcript else "false",
        "contentRating": {"ytRating": "ytAgeRestricted"} if page.availability == "age-gated" else {},
    }
    if page.availability == "region-blocked":
        details["regionRestriction"] = {"allowed": []}
    return details


def _list(kind: str, items: Sequence[dict[str, Any]], total: int, page_size: int) -> dict[str, Any]:
    return {
        "kind": kind,
        "pageInfo": {"totalResults": total, "resultsPerPage": page_size},
        "items": list(items),
    }


def _tokens(found: SearchPage) -> dict[str, Any]:
    tokens = dict[str, str]()
    if found.next_page is not None:
        tokens["nextPageToken"] = str(found.next_page)
    if found.page > 1:
        tokens["prevPageToken"] = str(found.page - 1)
    return tokens
