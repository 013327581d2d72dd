"""Files by their names, globs, first bytes and hashes."""

from __future__ import annotations

import hashlib
import os
import time
import unicodedata
from pathlib import Path

import pytest

from corpora.file_names import output_stem, words_of_name
from corpora.formats import document_format
from corpora.globs import Globs
from corpora.identity import content_hash
from corpora.kinds import SAVE_AS, kind_of, kind_of_head
from corpora.passages import Document, read_documents
from rag.errors import UnreadableFile
from tests.fakes.documents import write_pdf


def test_a_file_is_known_by_its_first_bytes_whatever_its_name(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "scan.txt", ["Oil every link."])
    assert kind_of_head(path.read_bytes()) == "passages"
    (document,) = read_documents(path)
    assert isinstance(document, Document)
    assert document.text == "Oil every link."


def test_what_is_to_be_saved_as_another_kind_has_no_reader() -> None:
    assert not [suffix for suffix in SAVE_AS if document_format(suffix) or kind_of(f"a{suffix}")]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.mp4", "a.mp4", True),
        ("*.mp4", "x/y/a.mp4", True),
        ("*.mp4", "a.MP4", False),
        ("x/*.mp4", "x/a.mp4", True),
        ("x/*.mp4", "x/y/a.mp4", False),
        ("x/*.mp4", "w/x/a.mp4", False),
        ("/x", "x/a.mp4", True),
        ("./x/*", "x/a.mp4", True),
        ("**/x/*.mp4", "x/a.mp4", True),
        ("**/x/*.mp4", "v/w/x/a.mp4", True),
        ("x/**", "x/y/a.mp4", True),
        ("x/**", "y/x/a.mp4", False),
        ("x/**/a.mp4", "x/a.mp4", True),
        ("x/**/a.mp4", "x/1/2/a.mp4", True),
        ("**/x/**/y/*.mp4", "x/1/x/y/2/y/a.mp4", True),
        ("**/x/**/y/*.mp4", "y/1/x/2/a.mp4", False),
        ("**", "a.mp4", True),
        ("drafts", "old/drafts/a.mp4", True),
        ("drafts/", "old/drafts/a.mp4", True),
        ("a?.mp4", "ab.mp4", True),
        ("a?.mp4", "a/.mp4", False),
        ("[ab].mp4", "b.mp4", True),
        ("[!ab].mp4", "b.mp4", False),
        ("a[[]b].mp4", "a[b].mp4", True),
        ("*", "\udcff.mp4", True),
        ("", "a.mp4", False),
    ],
)
def test_globs(pattern: str, path: str, fits: bool) -> None:
    assert Globs([pattern]).match(path) is fits


def test_a_hostile_pattern_costs_no_time() -> None:
    start = time.process_time()
    path = "/".join(["a" * 200] * 50)
    for pattern in ("**/" * 50 + "a*a*a*a*a*a*b", "**/a*/" * 25 + "b"):
        assert not Globs([pattern]).match(path)
    assert time.process_time() - start < 1


@pytest.mark.parametrize("size", [0, 1, 2**20 + 17])
def test_the_hash_is_blake2b_over_all_bytes(tmp_path: Path, size: int) -> None:
    data = (bytes(range(251)) * (size // 251 + 1))[:size]
    path = tmp_path / "f"
    path.write_bytes(data)
    assert content_hash(path) == hashlib.blake2b(data, digest_size=16).hexdigest()


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, reason in (
        (tmp_path / "pipe", "not a plain file"),
        (tmp_path, "not a plain file"),
        (tmp_path / "gone", "no such file"),
    ):
        with pytest.raises(UnreadableFile, match=reason) as raised:
            content_hash(path)
        assert str(raised.value).startswith(str(path))


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    "title", ["Über Größe Käserei Führung", "हिन्दी में खाना", "தமிழ் மொழி", "ที่นี่ ภาษาไทย", "Việt Nam", "m̄ p̂"]
)
def test_a_word_keeps_its_marks(title: str, form: str) -> None:
    stem = unicodedata.normalize(form, title.replace(" ", "_"))
    assert " ".join(words_of_name(stem)) == unicodedata.normalize("NFC", title)
    assert output_stem(stem) == unicodedata.normalize("NFC", title.replace(" ", "_"))


def test_marks_on_no_letter_are_no_words() -> None:
    assert words_of_name("❤\ufe0f cats 1\ufe0f\u20e3 \u0301") == ["cats", "1"]
