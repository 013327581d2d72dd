"""The languages that files and tracks are marked with, by codes and names."""

from __future__ import annotations

_LANGUAGES = """ar ara arabic|bg bul bulgarian|ca cat catalan|cs ces cze czech čeština|da dan danish dansk
de deu ger german deutsch|el ell gre greek|en eng english|es spa spanish español castellano|et est estonian
fa fas persian|fi fin finnish suomi|fr fra fre french français|he heb hebrew|hi hin hindi|hr hrv croatian
hu hun hungarian|id ind indonesian|is isl ice icelandic|it ita italian italiano|ja jpn japanese 日本語
ko kor korean 한국어|lt lit lithuanian|lv lav latvian|ms may malay|nl nld dut dutch nederlands
no nb nn nor nob nno norwegian norsk|pl pol polish polski|pt pob por portuguese português
ro ron rum romanian|ru rus russian русский|sk slk slo slovak|sl slv slovenian|sr srp serbian
sv swe swedish svenska|th tha thai|tr tur turkish türkçe|uk ukr ukrainian українська
vi vie vietnamese|zh chs cht zho chi chinese 中文"""
_WORDS = [words.split() for words in _LANGUAGES.replace("\n", "|").split("|")]
LANGUAGES = {word: words[0] for words in _WORDS for word in words}
"""Codes of two letters by those of ISO 639-1 and 639-2 and by names. Any two letters count as a code too."""
_NAMES = {words[0]: next(word for word in words if len(word) > 3) for words in _WORDS}


def language_code(tag: str) -> str:
    """The code of two letters of a language: `de` of `ger`, `deu`, `German` and `de-AT`; else the tag."""
    language = tag.casefold().partition("-")[0]
    return LANGUAGES.get(language, language)


def language_name(tag: str) -> str:
    """The English name of a language: `German` of `de` and `ger`; of one without a known name the tag."""
    return _NAMES.get(language_code(tag), "").capitalize() or tag
