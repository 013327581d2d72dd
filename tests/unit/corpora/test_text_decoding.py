"""Text files of any encoding."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.text_decoding import BLOCK, SAMPLE, clean, decode, read_text_blocks

GERMAN = "Größe prüfen, dann die Schraube mit 12 Nm anziehen und über die Kante führen."
RUSSIAN = "Затяните болт с моментом двенадцать ньютон-метров."
JAPANESE = "ボルトを十二ニュートンメートルで締めます。コーヒーを入れます。"
FRENCH = "Voilà, c'est déjà l'été à Besançon."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *[
            (GERMAN, e)
            for e in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252")
        ],
        *[(FRENCH, e) for e in ("utf-8", "cp1252")],
        *[(RUSSIAN, e) for e in ("utf-8", "cp1251", "koi8-r", "utf-16")],
        *[(JAPANESE, e) for e in ("utf-8", "shift_jis", "euc_jp")],
        ("plain", "ascii"),
        ("", "ascii"),
    ],
)
def test_encodings(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_damaged_utf8_is_still_utf8() -> None:
    data = (GERMAN * 30).encode()[:-1] + b"\xff" + GERMAN.encode()
    assert decode(data).count("ö") == 31


@pytest.mark.parametrize(
    ("first", "times", "second", "encoding"),
    [
        (GERMAN, 1, FRENCH, "cp1252"),
        (GERMAN, 90, FRENCH, "cp1252"),
        (RUSSIAN, 90, GERMAN, "cp1252"),
        (RUSSIAN, 1, "Вторая часть текста без разметки, написанная позднее.", "cp1251"),
        (JAPANESE, 1, JAPANESE, "shift_jis"),
    ],
)
def test_lines_of_two_encodings(first: str, times: int, second: str, encoding: str, tmp_path: Path) -> None:
    text = f"{first}\nplain\n" * times + f"{second}\n"
    path = tmp_path / "f.txt"
    path.write_bytes(text[: -len(second) - 1].encode() + text[-len(second) - 1 :].encode(encoding))
    assert decode(path.read_bytes()) == "".join(read_text_blocks(str(path))) == text


def test_few_lines_of_utf8_in_an_old_file() -> None:
    text = f"{FRENCH}\n" * 9
    assert decode(text.encode("cp1252") + f"{GERMAN}\n".encode()) == f"{text}{GERMAN}\n"


def test_bytes_of_cp1252_that_are_valid_utf8_too() -> None:
    text = f"{FRENCH}\n“CAFÉ”\n" * 3
    assert decode(text.encode("cp1252")) == text


def test_a_file_of_two_encodings_is_read_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    line = f"{GERMAN}\r\n"
    data = line.encode() + line.encode("cp1252")
    path.write_bytes(data * (2 * BLOCK // len(data)))
    blocks = list(read_text_blocks(str(path)))
    assert max(map(len, blocks)) <= BLOCK
    assert set("".join(blocks).split("\n")) == {line.strip(), ""}


def test_clean_gives_valid_unicode_and_one_kind_of_line_end() -> None:
    assert clean("a\r\nb\rc\x0bd\u2028e\0\x1b\ud800\ufefff") == "a\nb\nc\nd\nef"
    clean("".join(map(chr, range(0x110000)))).encode()


def test_a_word_has_no_soft_hyphens() -> None:
    assert clean("Turm\u00addreh\u00adkran") == "Turmdrehkran"
    assert clean("Turm\u00ad \r\n drehkran\u00ad\n\nEnde\u00ad\n- 1") == "Turmdrehkran\n\nEnde\n- 1"


def test_an_odd_byte_far_into_a_file_decides_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_bytes(b"plain line\n" * (SAMPLE // 5) + (FRENCH + "\n").encode("cp1252") * 3)
    assert "".join(read_text_blocks(str(path))).endswith((FRENCH + "\n") * 3)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_blocks_join_to_the_whole(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "f.txt"
    lines = "".join(f"{i} {GERMAN}\r\n" for i in range(2 * BLOCK // len(GERMAN)))
    path.write_bytes(lines.encode(encoding))
    blocks = list(read_text_blocks(str(path)))
    assert len(blocks) >= 2
    assert max(map(len, blocks)) <= BLOCK
    assert "".join(blocks) == lines.replace("\r\n", "\n")
