"""The corpus of the first demo: its clips and their sources."""

from __future__ import annotations

from pathlib import Path

from corpora.outputs import OverwritePolicy
from eval.demo import CLIPS, QUESTIONS, copy_corpus


def test_the_clips_are_copied_once_with_their_sources(tmp_path: Path) -> None:
    clips = copy_corpus(tmp_path / "corpus", OverwritePolicy())
    assert sorted(path.name for path in clips.iterdir()) == list(CLIPS)
    sources = (tmp_path / "corpus" / "SOURCES.md").read_text(encoding="utf-8")
    listed = [line for line in sources.splitlines() if line.startswith("- ")]
    assert all(line.endswith(("; CC0.", "; public domain.")) for line in listed)
    assert not any(f" {asked.expected} " in sources for asked in QUESTIONS if not asked.options)
    (clips / CLIPS[0]).write_bytes(b"mine")
    copy_corpus(tmp_path / "corpus", OverwritePolicy())
    assert (clips / CLIPS[0]).read_bytes() == b"mine"
