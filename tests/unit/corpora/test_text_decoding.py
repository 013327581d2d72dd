"""Text files of any encoding."""

import pytest

from corpora.text_decoding import (
    BLOCK,
    SAMPLE,
    clean,
    decode,
    decode_stated,
    guess_encoding,
    read_lines,
    read_text_blocks,
)

GERMAN = "Größe prüfen, dann die Schraube mit 12 Nm anziehen und über die Kante führen."
RUSSIAN = "Затяните болт с моментом двенадцать ньютон-метров."
JAPANESE = "ボルトを十二ニュートンメートルで締めます。コーヒーを入れます。"
FRENCH = "Voilà, c'est déjà l'été à Besançon."


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_encodings_of_one_text(encoding: str) -> None:
    assert decode(GERMAN.encode(encoding)) == GERMAN


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("ascii", "plain"),
        ("cp1252", FRENCH),
        ("cp1252", "“CAFÉ”"),
        ("cp1252", "It’s “fine” – really…"),
        ("cp1254", "Kırk yaşınızı geçtiniz mi?"),
        ("iso8859-2", "Czy już przekroczyłeś czterdziestkę?"),
        ("cp1250", "Už vám bylo čtyřicet let?"),
        ("iso8859-2", "Elmúlt már negyven éves, hölgyem? Miért nő?"),
        ("cp1250", "Već ste navršili četrdeset, živjeli!"),
        ("cp1250", "Jeste li ikada bili u Šibeniku?"),
        ("cp850", "Êtes-vous déjà allé à Orléans ?"),
        ("cp852", "Byl jste někdy v Plzni?"),
        ("mac_roman", "Êtes-vous déjà allé à Orléans ?"),
        ("iso8859-6", "هل زرت القاهرة من قبل؟"),
        ("iso2022_jp", JAPANESE),
        ("cp1257", "Įveskite slaptažodį ir paspauskite mygtuką, ačiū."),
        ("cp1253", "Πόσο σφίγγουμε τη βίδα;"),
        ("cp1251", RUSSIAN),
        ("mac-cyrillic", RUSSIAN),
        ("mac-cyrillic", "Спасибо, хорошо. А у тебя?"),
        ("cp850", "Déjà vu, très bien."),
        ("mac_roman", "Schöne Grüße."),
        ("cp1252", "Muintir na hÉireann."),
        ("cp1255", "כמה זמן לוקח להדק את הבורג?"),
        ("cp1256", "شد البرغي ثم تحقق من العزم."),
        ("shift_jis", JAPANESE),
        ("gb18030", "拧紧螺栓，然后检查扭矩，三下就好。"),
        ("big5", "擰緊螺栓，然後檢查扭矩，三下就好。"),
    ],
)
def test_subtitles_of_old_encodings(encoding: str, text: str) -> None:
    said = f"0\n00:00:00,000 --> 00:00:00,900\n{text}\n\n"
    assert decode(said.encode(encoding)) == said


def test_the_expected_language_decides_between_encodings() -> None:
    data = "İyi şanslar.".encode("cp1254")
    assert decode(data) == "Ýyi þanslar."
    assert guess_encoding(data, "tr").decode(data) == "İyi şanslar."
    assert guess_encoding(FRENCH.encode("cp1252"), "tr").name == "cp1252", "but not against the letters"


def test_an_encoding_of_few_letters_is_unsure() -> None:
    assert "save it as UTF-8" in guess_encoding("Naïve plan".encode("cp1252")).doubt
    assert guess_encoding(FRENCH.encode("cp1252")).doubt == ""


@pytest.mark.parametrize("text", ["é one é", "Größe", RUSSIAN, JAPANESE, f"{GERMAN}\n" * 30])
def test_a_stray_byte_costs_no_other_character_of_utf8(text: str) -> None:
    for data in (text.encode() + b"\xff", b"\x96" + text.encode(), text.encode() + b"\nplain \xe9 line"):
        assert text in decode(data)


@pytest.mark.parametrize(
    ("first", "times", "second", "encoding"),
    [
        (GERMAN, 1, FRENCH, "cp1252"),
        (GERMAN, 90, FRENCH, "cp1252"),
        (RUSSIAN, 90, GERMAN, "cp1252"),
        (RUSSIAN, 1, "Вторая часть текста без разметки, написанная позднее.", "cp1251"),
    ],
)
def test_lines_of_two_encodings(first: str, times: int, second: str, encoding: str, tmp_path) -> None:
    text = f"{first}\nplain\n" * times + f"{second}\n"
    path = tmp_path / "f.txt"
    path.write_bytes(text[: -len(second) - 1].encode() + text[-len(second) - 1 :].encode(encoding))
    assert decode(path.read_bytes()) == "".join(read_text_blocks(str(path))) == text
    assert list(read_lines(str(path), BLOCK)) == text.splitlines(keepends=True)


def test_few_lines_of_utf8_in_an_old_file() -> None:
    text = f"{FRENCH}\n" * 9
    assert decode(text.encode("cp1252") + f"{GERMAN}\n".encode()) == f"{text}{GERMAN}\n"


def test_clean_gives_valid_unicode_and_one_kind_of_line_end() -> None:
    assert clean("a\r\nb\rc\x0bd\u2028e\0\x1b\ud800\ufefff") == "a\nb\nc\nd\nef"
    clean("".join(map(chr, range(0x110000)))).encode()


def test_marks_without_width_are_dropped() -> None:
    assert clean("\u202bשלום\u202c\u200f su\u200bper\u2060b") == "שלום superb"


@pytest.mark.parametrize(
    ("stated", "encoding"),
    [("iso-8859-1", "cp1252"), ("latin1", "utf-8"), ("utf-8", "cp1252"), ("?", "utf-8")],
)
def test_a_stated_encoding_is_read_as_browsers_read_it(stated: str, encoding: str) -> None:
    assert decode_stated("“Größe” – it’s €5".encode(encoding), stated) == "“Größe” – it’s €5"


def test_a_word_has_no_soft_hyphens() -> None:
    assert clean("Turm\u00addreh\u00adkran") == "Turmdrehkran"
    assert clean("Turm\u00ad \r\n drehkran\u00ad\n\nEnde\u00ad\n- 1") == "Turmdrehkran\n\nEnde\n- 1"


def test_an_odd_byte_far_into_a_file_decides_its_encoding(tmp_path) -> None:
    path = tmp_path / "f.txt"
    path.write_bytes(b"plain line\n" * (SAMPLE // 5) + (FRENCH + "\n").encode("cp1252") * 3)
    assert "".join(read_text_blocks(str(path))).endswith((FRENCH + "\n") * 3)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_blocks_join_to_the_whole(tmp_path, encoding: str) -> None:
    path = tmp_path / "f.txt"
    lines = "".join(f"{i} {GERMAN}\r\n" for i in range(2 * BLOCK // len(GERMAN)))
    path.write_bytes(lines.encode(encoding))
    blocks = list(read_text_blocks(str(path)))
    assert len(blocks) >= 2
    assert max(map(len, blocks)) <= BLOCK
    assert "".join(blocks) == lines.replace("\r\n", "\n")
