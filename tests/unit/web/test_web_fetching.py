"""Lists of videos: the addresses in them. tests/e2e/test_web_serving.py downloads them by yt-dlp."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from rag.errors import ExtraMissing, UsageError
from rag.web.fetching import fetch_videos, listed_addresses

HOST = "https://v.example/watch?v="


def test_addresses_of_rows_of_pools_and_of_lines(tmp_path: Path) -> None:
    rows = [{"videos": [{"url": f"{HOST}a"}, {"url": f"{HOST}b"}]}, {"source": [f"{HOST}c", "a book"]}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "pool.csv").write_text(f"id,link\n1,{HOST}b\n2,{HOST}d\n", encoding="utf-8")
    (tmp_path / "php.json").write_text('["https:\\/\\/v.example\\/e"]', encoding="utf-8")
    lists = [tmp_path / name for name in ("rows.jsonl", "pool.csv", "php.json")]
    assert listed_addresses(lists) == (*(f"{HOST}{name}" for name in "abcd"), "https://v.example/e")
    (tmp_path / "none.txt").write_text("a book", encoding="utf-8")
    with pytest.raises(UsageError, match="no web address"):
        listed_addresses([tmp_path / "none.txt"])
    with pytest.raises(UsageError, match="cannot be read"):
        listed_addresses([tmp_path / "missing.txt"])


def test_without_yt_dlp_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "list.txt").write_text(f"{HOST}a\n", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "yt_dlp", None)
    with pytest.raises(ExtraMissing, match=r"pip install 'offline-video-rag\[fetch\]'"):
        fetch_videos(tmp_path / "videos", [tmp_path / "list.txt"])
