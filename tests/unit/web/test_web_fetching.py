"""Videos by published lists, with a module in place of yt-dlp: what is asked, kept, gone, and tried again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from rag.errors import ExtraMissing, UsageError
from rag.web.fetching import ARCHIVE, GONE, fetch_videos, listed_addresses

HOST = "https://v.example/watch?v="


class LoaderError(Exception):
    """In place of `yt_dlp.utils.YoutubeDLError`."""


class Loader:
    """Downloads every video but `gone`, and keeps an archive as yt-dlp does."""

    gone: ClassVar[set[str]] = {"b"}

    def __init__(self, options: dict[str, Any]) -> None:
        self.options, self.archive = options, Path(options["download_archive"])

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None: ...

    def extract_info(self, url: str, download: bool) -> dict[str, str] | None:
        name = url.rpartition("=")[2]
        if self.archive.is_file() and name in self.archive.read_text().split():
            return None
        if name in self.gone:
            raise LoaderError("\x1b[0;31mERROR:\x1b[0m [v] b: Private video.\nSign in if you may see it")
        assert download
        Path(self.options["outtmpl"] % {"id": name, "ext": "mp4"}).write_bytes(name.encode())
        with self.archive.open("a") as file:
            file.write(f"{name}\n")
        return {"id": name}


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> type[Loader]:
    module: Any = ModuleType("yt_dlp")
    module.YoutubeDL, module.utils = Loader, SimpleNamespace(YoutubeDLError=LoaderError)
    monkeypatch.setitem(sys.modules, "yt_dlp", module)
    monkeypatch.setattr(Loader, "gone", {"b"})
    return Loader


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


def test_what_is_there_is_kept_and_what_is_gone_is_listed_and_tried_again(
    tmp_path: Path, loader: type[Loader]
) -> None:
    (tmp_path / "list.txt").write_text("".join(f"{HOST}{name}\n" for name in "abc"), encoding="utf-8")
    home, seen = tmp_path / "videos", list[str]()
    report = fetch_videos(home, [tmp_path / "list.txt"], progress=lambda *step: seen.append(step[2]))
    assert (report.listed, report.fetched, report.kept, report.exit_code) == (3, 2, 0, 3)
    assert seen == [f"{HOST}{name}" for name in "abc"]
    assert [json.loads(line) for line in (home / GONE).read_text().splitlines()] == [
        {"url": f"{HOST}b", "reason": "[v] b: Private video."}
    ]
    loader.gone = set()
    again = fetch_videos(home, [tmp_path / "list.txt"])
    assert (again.fetched, again.kept, again.exit_code) == (1, 2, 0)
    assert (home / GONE).read_text() == ""
    assert sorted(path.name for path in home.iterdir()) == sorted([ARCHIVE, GONE, "a.mp4", "b.mp4", "c.mp4"])


def test_without_yt_dlp_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "list.txt").write_text(f"{HOST}a\n", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "yt_dlp", None)
    with pytest.raises(ExtraMissing, match=r"pip install 'offline-video-rag\[fetch\]'"):
        fetch_videos(tmp_path / "videos", [tmp_path / "list.txt"])
