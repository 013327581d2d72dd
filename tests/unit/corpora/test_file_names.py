"""Words of file names in scripts with marks, composed and not."""

from __future__ import annotations

import unicodedata

import pytest

from corpora.file_names import output_stem, words_of_name


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
