"""The shapes of the YouTube Data API v3: lists of search results and videos, and its errors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from rag.web.records import Page, SearchPage, SearchResult
from rag.web.serving.pages import iso_duration, published

REASONS = {400: "badRequest", 403: "forbidden", 404: "notFound"}
PEOPLE_AND_BLOGS = "22"


def search_list(found: SearchPage, page_size: int) -> dict[str, Any]:
    """`search.list`."""
    items = [_search_item(result) for result in found.results]
    return _list("youtube#searchListResponse", items, found.total, page_size) | _tokens(found)


def video_item(page: Page, parts: Sequence[str]) -> dict[str, Any]:
    """One resource of `videos.list`, with the parts that were asked for."""
    item: dict[str, Any] = {"kind": "youtube#video", "id": page.id}
    made = {
        "snippet": _snippet(page, page.text) | {"tags": list(page.tags), "categoryId": PEOPLE_AND_BLOGS},
        "contentDetails": _content_details(page),
        "status": {
            "uploadStatus": "processed",
            "privacyStatus": "public",
            "embeddable": page.availability == "ok",
        },
        "statistics": {},
    }
    return item | {part: made[part] for part in parts if part in made}


def video_list(items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`videos.list`: what is gone is left out, as there."""
    return _list("youtube#videoListResponse", items, len(items), len(items))


def error_shape(status: int, message: str) -> dict[str, Any]:
    """An error as the YouTube Data API returns it."""
    reason = REASONS.get(status, "backendError")
    detail = {"message": message, "domain": "youtube", "reason": reason}
    return {"error": {"code": status, "message": message, "errors": [detail]}}


def _search_item(result: SearchResult) -> dict[str, Any]:
    snippet = _snippet(result, result.snippet)
    return {
        "kind": "youtube#searchResult",
        "id": {"kind": "youtube#video", "videoId": result.id},
        "snippet": snippet | {"publishTime": snippet["publishedAt"]},
    }


def _snippet(item: Page | SearchResult, description: str) -> dict[str, Any]:
    return {
        "publishedAt": published(item.upload_date),
        "channelId": "UC" + hashlib.sha256(item.channel.encode()).hexdigest()[:22],
        "title": item.title,
        "description": description,
        "thumbnails": {"default": {"url": item.thumbnail}} if item.thumbnail else {},
        "channelTitle": item.channel,
        "liveBroadcastContent": "none",
    }


def _content_details(page: Page) -> dict[str, Any]:
    details: dict[str, Any] = {
        "duration": iso_duration(page.duration),
        "caption": "true" if page.has_transcript else "false",
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
