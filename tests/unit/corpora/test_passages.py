"""Every reader of documents, on good files; e-mails, notebooks and chats; words that a line end has cut."""

import csv
import json
import random
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from corpora.passages import Document, read_documents
from corpora.passages.document import PageStart
from corpora.passages.plain_text import join_words
from corpora.records import Problem
from rag.errors import DamagedFile, FileProblem, UnreadableFile, UnsupportedFile
from tests.fakes.documents import write_pdf


def documents(path: Path) -> list[Document]:
    found = list(read_documents(path))
    assert all(isinstance(document, Document) for document in found), found
    return [document for document in found if isinstance(document, Document)]


def pairs(path: Path) -> list[tuple[str, str]]:
    return [(document.title, document.text) for document in documents(path)]


def write_csv(path: Path, rows: Sequence[Sequence[str]], **options: Any) -> Path:
    with path.open("w", newline="", encoding=options.pop("encoding", "utf-8")) as file:
        csv.writer(file, **options).writerows(rows)
    return path


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("name", "content", "title", "text"),
    [
        (
            "a.txt",
            "\n  A title\n\nFirst\tparagraph.  \r\n\n\n\nSecond\0 one.\n",
            "A title",
            "First\tparagraph.\n\nSecond one.",
        ),
        ("a.txt", "x" * 200 + "\n\ny", "", "x" * 200 + "\n\ny"),
        (
            "a.md",
            "---\ntitle: 'The *real* title'\ntags: [x]\n---\n<!-- hidden\n -->\n# Heading #\n\n"
            "Some **bold**, *slanted* and `code` text, [a link](http://x.y/(z)) and ![a image](p.png).\n\n"
            "> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
            "```python\nif a < b:\n    x = a*b*c  # kept\n```\n5 * 3 * 2 snake_case_name\n",
            "The *real* title",
            "Heading\n\nSome bold, slanted and code text, a link and a image.\n\nquoted\n\n"
            "| a | b |\n|-|-|\n| 1 | 2 |\n\nif a < b:\n    x = a*b*c  # kept\n\n5 * 3 * 2 snake_case_name",
        ),
        ("a.md", "intro\n# The title\nbody", "The title", "intro\n\nThe title\n\nbody"),
        (
            "a.md",
            '+++\ntitle = "Oil"\n+++\nOne&nbsp;**bolt\nholds**.<br><img alt=no src=x.png> Call '
            "`rag ask <file>`, or press <ctrl> and <kbd>k</kbd>.\n* one\n* two\n",
            "Oil",
            "One bolt\nholds.\nCall rag ask <file>, or press <ctrl> and k.\n\n- one\n- two",
        ),
        (
            "a.md",
            "# 3. Set <title> up\n[Ann]: Yes, [it][1] is <user name>@<host>.\nif x<y and z>w: 10*20*30 *mm*\n"
            "\n<!-- gone --><style>\n\n3. one\n4. two\n\n<hostname>\n\n<!-- open\nkept",
            "3. Set <title> up",
            "[Ann]: Yes, it is <user name>@<host>.\nif x<y and z>w: 10*20*30 mm\n\n"
            "<style>\n\n3. one\n4. two\n\n<hostname>\n\n<!-- open kept",
        ),
        ("a.md", "a <div hidden>no</div> <!-- no --> b <!-- c", "", "a\n\nb <!-- c"),
        ("a.md", "<div style='display: none'>all there is</div>", "", "all there is"),
        (
            "a.md",
            "> **Bolt** | Nm \\| lb\n> ---|:--:\n> M8 | 25\n\nEither | or.\n",
            "",
            "| Bolt | Nm \\| lb |\n|-|-|\n| M8 | 25 |\n\nEither | or.",
        ),
        (
            "a.html",
            "<!DOCTYPE html><html><head><meta charset=iso-8859-1><title> A\n page </title>"
            "<style>p{}</style><script>if (a < b) document.write('<p>no</p>')</script></head>"
            "<body><nav>menu</nav><h1>Top</h1><p>One &amp;\n two<br>thr\xe9e</p><ul><li>x<li>y</ul>"
            "<table><tr><td>1</td><td>2</td></tr></table><pre>a\n  b</pre><noscript>no</noscript></html>",
            "A page",
            "Top\n\nOne & two\nthrée\n\n- x\n- y\n\n| 1 | 2 |\n\na\n  b",
        ),
        (
            "a.html",
            "<table><tr><td>red|green</td><td>stop</td></tr><tr><th>blue</th><th>go</th></tr></table>",
            "",
            "| red\\|green | stop |\n| blue | go |",
        ),
        (
            "a.html",
            "<table><tr><th colspan=3>Use</th></tr><tr><td></td><th>2020</th><th>2021</th></tr>"
            "<tr><th>Oil</th><td>1</td><td>2</td></tr></table>",
            "",
            "Use\n| | 2020 | 2021 |\n|-|-|-|\n| Oil | 1 | 2 |",
        ),
        (
            "a.html",
            f"<table><tr><td><p>Menu</p><td><p>{'long ' * 80}</p></tr><tr><td>one</tr></table>"
            "<table><tr><td>side</td><td><table><tr><th>a</th><td>1</td></tr></table></td></tr></table>",
            "",
            f"Menu\n\n{('long ' * 80).strip()}\n\none\n\nside\n\n| a | 1 |",
        ),
    ],
)
def test_titles_and_texts(tmp_path, name: str, content: str, title: str, text: str) -> None:
    (tmp_path / name).write_bytes(content.encode("iso-8859-1"))
    assert pairs(tmp_path / name) == [(title, text)]


@pytest.mark.parametrize("odd", ["<![a[ x ]>", "<![endif]-->", "<![CDATA[x]]>", "<![a["])
def test_odd_marked_sections_cost_no_other_text(tmp_path, odd: str) -> None:
    path = tmp_path / "a.html"
    path.write_text(f"<p>Oil it.</p>{odd}<p>Dry it.</p>")
    (document,) = read_documents(path)
    assert document.text.startswith("Oil it.")


def test_wikihow_whole_articles(tmp_path) -> None:
    path = write_csv(
        tmp_path / "wikihowAll.csv",
        [
            ["headline", "title", "text"],
            ["\nSort it.,\nClean up.", "How to Be Tidy1", 'Put "all" things;\n, in boxes.\n'],
            ["", "How to Use MP3", "Text only."],
        ],
    )
    assert pairs(path) == [
        ("How to Be Tidy1", 'Sort it.,\nClean up.\n\nPut "all" things;\n, in boxes.'),
        ("How to Use MP3", "Text only."),
    ]


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_csv_with_quotes_newlines_and_its_own_ids(tmp_path, delimiter: str) -> None:
    rows = [["docid", "Title", "TEXT", "url"], ["d1", "T; 1", 'a, "b"\n\nc\td', "u"], ["d2", "", "e\0f", ""]]
    path = write_csv(tmp_path / "a.csv", rows, delimiter=delimiter)
    assert [(d.doc_id, d.title, d.text) for d in documents(path)] == [
        ("d1", "T; 1", 'a, "b"\n\nc\td'),
        ("d2", "", "ef"),
    ]


def test_a_huge_field_is_read(tmp_path) -> None:
    huge = "word " * 400_000
    path = write_csv(tmp_path / "a.csv", [["text"], [huge]])
    assert documents(path)[0].text == huge.strip()


def test_beir_corpus(tmp_path) -> None:
    path = write_jsonl(
        tmp_path / "corpus.jsonl",
        [
            {"_id": "MED-10", "title": "Statins", "text": "Text.", "metadata": {"url": "x"}},
            {"_id": "MED-14", "title": "A lone title", "text": "", "metadata": {}},
        ],
    )
    assert [(d.doc_id, d.title, d.text) for d in documents(path)] == [
        ("MED-10", "Statins", "Text."),
        ("MED-14", "A lone title", "A lone title"),
    ]


def test_json_lines_of_other_names(tmp_path) -> None:
    path = write_jsonl(
        tmp_path / "a.jsonl",
        ["", {"id": 12, "contents": "sep\u2028arated \ud800."}, {"Passage": ["one", "two", 3], "name": "N"}],
    )
    found = documents(path)
    assert [(d.title, d.text) for d in found] == [("", "sep\narated ."), ("N", "one\n\ntwo")]
    assert found[0].doc_id == "12"
    assert len(found[1].doc_id) == 32


def test_parquet_takes_its_columns_by_name(tmp_path) -> None:
    path = tmp_path / "bad\udcff.parquet"
    table = pa.table(
        {"Id": [1, 2], "title": ["T", None], "text": ["one", "two"], "vector": [[0.1] * 8, [0.2] * 8]}
    )
    with path.open("wb") as file:
        pyarrow.parquet.write_table(table, file, row_group_size=1)
    assert [(d.doc_id, d.title, d.text) for d in documents(path)] == [("1", "T", "one"), ("2", "", "two")]


def test_equal_content_has_one_id_whatever_the_file(tmp_path) -> None:
    (tmp_path / "a.txt").write_text("Same words.\n")
    (tmp_path / "b.md").write_text("Same words.")
    write_jsonl(tmp_path / "c.jsonl", [{"text": "Same words."}])
    assert len({documents(path)[0].doc_id for path in tmp_path.iterdir()}) == 1


def test_a_table_without_passages_names_what_is_expected(tmp_path) -> None:
    path = write_jsonl(tmp_path / "questions.jsonl", [{"question": "q", "answer": "a"}] * 200)
    with pytest.raises(UnsupportedFile, match=r"expected .*a text column \(text, .* or article\)") as raised:
        list(read_documents(path))
    assert str(raised.value).startswith(f"{path}: no passages: ")


def test_bad_rows_are_reported_in_one_problem_and_the_rest_is_read(tmp_path) -> None:
    rows: list[Mapping[str, str] | str] = [{"text": f"row {i}"} for i in range(50)]
    rows[3], rows[7], rows[9] = "{broken", '["list"]', {"title": "", "text": " "}
    rows[20:30] = [{"other": "x"}] * 10
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    *found, problem = read_documents(path)
    assert len(found) == 37
    assert problem == Problem(
        str(path),
        "row 4: not valid JSON; row 8: not a JSON object; row 10: no text; and 10 more rows",
        "indexed the other 37 documents",
    )


def test_bad_csv_rows_are_reported(tmp_path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text\n1,a\n2\n3,b,c\n\n4,d\n")
    *found, problem = read_documents(path)
    assert [document.text for document in found if isinstance(document, Document)] == ["a", "d"]
    assert problem.reason == (
        "row 2: 1 columns where the header has 2; row 3: 3 columns where the header has 2"
    )


@pytest.mark.parametrize("suffix", ["md", "csv"])
def test_random_bytes_are_no_text(tmp_path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    for size in (300, 3000):
        for seed in range(20):
            path.write_bytes(random.Random(seed).randbytes(size))
            with pytest.raises(UnsupportedFile, match="not text, though its name says so"):
                list(read_documents(str(path)))


@pytest.mark.parametrize(
    ("text", "encodings"),
    [
        ("Größe prüfen, “dann” die Schraube anziehen.\n", "latin-1 utf-16-le utf-16-be"),
        ("ボルトを十二ニュートンで締めます。\n", "shift_jis iso2022_jp utf-16"),
        ("شد البرغي ثم تحقق من العزم.\n", "cp1256 utf-16"),
        ("ขันน็อตให้แน่น\n", "cp874 utf-8 utf-16"),
        ("\x1b[32mok\x1b[0m \x1b[1;31mdéjà vu\x1b[0m 12 %\b\b13 %\a\n", "utf-8 latin-1"),
        (
            "Nummer der Schraube\x1fGröße in Millimetern\x1fOrt der Werkstatt\x1e17\x1f12 Nm\x1fKöln\x1d\n",
            "utf-8 latin-1",
        ),
    ],
)
def test_text_of_any_language_is_no_noise(tmp_path, text: str, encodings: str) -> None:
    for encoding in encodings.split():
        path = tmp_path / f"{encoding}.txt"
        path.write_bytes((text * 40).encode(encoding, errors="replace"))
        assert list(read_documents(str(path))), encoding


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        *[("a.txt", b"", DamagedFile), ("a.txt", b" \n\n\t", DamagedFile)],
        *[("a.txt", bytes(range(1, 32)) * 99, UnsupportedFile), ("a.md", b"<!-- nothing -->", DamagedFile)],
        *[("a.html", b"<script>x</script>", DamagedFile), ("a.csv", b"", DamagedFile)],
        *[("a.csv", b"id,text\n", DamagedFile), ("a.jsonl", b"{\n{\n", DamagedFile)],
        ("a.parquet", b"PAR1 and then nothing", DamagedFile),
        *[("a.pdf", b"%PDF-1.4 and then nothing", DamagedFile), ("a.eml", b"just some text", DamagedFile)],
        ("a.xlsx", b"PK\x03\x04 and no more", DamagedFile),
    ],
)
def test_a_file_without_anything_is_an_error(
    tmp_path, name: str, content: bytes, error: type[FileProblem]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(error) as raised:
        list(read_documents(path))
    assert type(raised.value) is error
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_a_file_without_a_reader_names_the_kinds_that_are_read(tmp_path) -> None:
    (tmp_path / "a.xyz").write_text("text")
    with pytest.raises(UnsupportedFile, match=r"no reader for this kind of file; known are .*\.docx"):
        list(read_documents(tmp_path / "a.xyz"))


def test_missing_files_and_folders_are_errors(tmp_path) -> None:
    for path in (tmp_path / "gone.txt", tmp_path):
        with pytest.raises(UnreadableFile):
            list(read_documents(path))


def mail(text: str, **headers: str) -> EmailMessage:
    message = EmailMessage()
    for name, value in {"From": "Ann <ann@example.org>", "To": "Bo", **headers}.items():
        message[name] = value
    message.set_content(text, charset="iso-8859-1")
    return message


def test_an_email_has_its_headers_text_and_names_of_attachments(tmp_path) -> None:
    message = mail("Öl für die Kette.\n", Subject="Wartung – März", Date="Tue, 05 Mar 2024 10:00:00 +0100")
    message.add_alternative("<p>no</p>", subtype="html")
    message.add_attachment(b"\0", maintype="application", subtype="pdf", filename="Plan für März.pdf")
    message.add_attachment(mail("The inner one.\n", Subject="Fwd"))
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    heads = "From: Ann <ann@example.org>\nTo: Bo"
    assert pairs(tmp_path / "a.eml") == [
        (
            "Wartung – März",
            f"{heads}\nDate: Tue, 05 Mar 2024 10:00:00 +0100\n\nÖl für die Kette.\n\n"
            "Attachments: Plan für März.pdf",
        ),
        ("Fwd", f"{heads}\n\nThe inner one."),
    ]


def test_a_plain_part_that_only_points_to_the_other_is_left_out(tmp_path) -> None:
    said = "Ann oils the chain on Monday, and Ben on Tuesday and Friday."
    message = mail("View this in a browser.\n", Subject="Rota")
    message.add_alternative(f"<p>{said}</p>", subtype="html")
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    assert pairs(tmp_path / "a.eml")[0][1].endswith(f"Bo\n\n{said}")


def test_an_email_of_html_alone_is_read_as_a_page(tmp_path) -> None:
    message = mail("", Subject="Rota")
    message.set_content(
        "<style>p{}</style><p>Oil <b>it</b>.</p><table><tr><td>a<td>1</table>", subtype="html"
    )
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    assert pairs(tmp_path / "a.eml")[0][1].endswith("Bo\n\nOil it.\n\n| a | 1 |")


@pytest.mark.parametrize(
    ("head", "body", "text"),
    [
        (b"Content-Type: text/plain; charset=no-such", "Kırk yaşınızı geçtiniz mi?".encode("cp1254"), "Kırk"),
        (b"Content-Type: text/plain; charset=utf-8", "Voilà, c'est déjà l'été.".encode("cp1252"), "Voilà"),
        (b"Content-Type: multipart/mixed", b"without a boundary", "without a boundary"),
        (b"Content-Transfer-Encoding: base64", b"T2lsIGl0Lg==", "Oil it."),
        (b"Content-Transfer-Encoding: base64\r\nTo: =?x?=", b"T2ls*", "Oil"),
    ],
)
def test_an_email_that_breaks_the_rules_is_read(tmp_path, head: bytes, body: bytes, text: str) -> None:
    (tmp_path / "a.eml").write_bytes(b"Subject: a\r\n" + head + b"\r\n\r\n" + body)
    assert text in pairs(tmp_path / "a.eml")[0][1]


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "cp1252"])
def test_headers_that_are_not_encoded_keep_their_letters(tmp_path, codec: str) -> None:
    heads = "From: Jörg Müller <j@example.org>\nTo: Zoë Krüger <z@example.org>"
    attached = 'Content-Disposition: attachment; filename="Übung für März.pdf"\n\na'
    kind = "Content-Type: multipart/mixed; boundary=x"
    text = f"Subject: Grüße aus\n Köln\n{heads}\n{kind}\n\n--x\n\nSchöne Grüße\n--x\n{attached}\n--x--\n"
    (tmp_path / "a.eml").write_bytes(text.encode(codec))
    body = f"{heads}\n\nSchöne Grüße\n\nAttachments: Übung für März.pdf"
    assert pairs(tmp_path / "a.eml") == [("Grüße aus Köln", body)]


def test_headers_and_parts_of_any_size_are_read_or_refused_soon(tmp_path) -> None:
    long = ", ".join(f"Person {number} <p{number}@example.com>" for number in range(20_000))
    (tmp_path / "a.eml").write_text(f"Subject: a\nTo: {long}\nFrom: {'(' * 20_000}\n\nOil it.\n")
    assert "Oil it." in pairs(tmp_path / "a.eml")[0][1]
    deep = "".join(f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(1_500))
    (tmp_path / "b.eml").write_text(f"Subject: b\n{deep}")
    with pytest.raises(DamagedFile, match="nested too deeply"):
        pairs(tmp_path / "b.eml")


def notebook(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_a_notebook_has_its_text_code_and_prints(tmp_path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Wheel *sizes*\n", "We **measure** them."]},
        {
            "cell_type": "code",
            "source": "print(rim * 2)",
            "outputs": [
                {"output_type": "stream", "text": ["622\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBORw0", "text/plain": ["<Figure>"]}},
                {"output_type": "display_data", "data": {"text/html": "<b>4</b>", "text/plain": "<HTML>"}},
                {"output_type": "error", "traceback": ["boom"]},
            ],
        },
        {"cell_type": "raw", "source": "a note"},
    ]
    path = notebook(tmp_path / "a.ipynb", {"cells": cells})
    assert pairs(path) == [
        ("Wheel sizes", "We measure them.\n\nprint(rim * 2)\n\n622\n\n<Figure>\n\n4\n\na note")
    ]
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"]}]}]}
    assert pairs(notebook(tmp_path / "old.ipynb", old)) == [("", "x = 1")]


@pytest.mark.parametrize("value", [[], {}, {"cells": [1, {"source": 3}]}, {"worksheets": [[]]}, "x"])
def test_a_notebook_without_text_is_refused(tmp_path, value: Any) -> None:
    with pytest.raises(DamagedFile, match="a notebook without text"):
        pairs(notebook(tmp_path / "a.ipynb", value))


@pytest.mark.parametrize(
    "rows",
    [
        [{"role": "user", "content": "How tight?"}, {"role": "assistant", "content": "12 Nm."}],
        [{"user": "user", "text": "How tight?"}, {"user": {"name": "assistant"}, "message": "12 Nm."}],
        [
            '{"messages": [{"role": "user", "content": [{"type": "text", "text": "How tight?"}, {"type": '
            '"image"}]}, {"role": "assistant", "content": "12 Nm."}]}'
        ],
        [
            '{"contents": [{"role": "user", "parts": [{"text": "How tight?"}]},'
            ' {"role": "assistant", "parts": [{"text": "12 Nm."}]}]}'
        ],
        [
            '{"conversations": [{"from": "user", "value": "How tight?"}, '
            '{"from": "assistant", "value": "12 Nm."}]}'
        ],
    ],
)
def test_messages_of_a_chat_stand_under_their_speakers(tmp_path, rows: list[Any]) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    assert pairs(path) == [("", "user: How tight?\n\nassistant: 12 Nm.")]


def test_each_chat_of_a_file_is_a_document(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    chat = {"messages": [{"role": "user", "content": "Hi"}]}
    rows = [
        {"id": 7, "author": "Ann", "text": "One."},
        {"speaker": "Bo", "text": "Two."},
        chat,
        {"text": "Three."},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert [text for _, text in pairs(path)] == ["Ann: One.", "Bo: Two.", "user: Hi", "Three."]


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("The tempera-\nture rises.", "The temperature\nrises."),
        ("a two-\nhour drive", "a two-hour\ndrive"),
        ("Der Kugel-\nschreiber liegt da.", "Der Kugelschreiber\nliegt da."),
        ("Die Tempe\u2010\n  ratur.", "Die Temperatur."),
        ("the Anglo-\nSaxon house", "the Anglo-Saxon\nhouse"),
        ("The wheelbarrow: a wheel-\nbarrow.", "The wheelbarrow: a wheelbarrow."),
        ("An e-mail: e-\nmail it.", "An e-mail: e-mail\nit."),
        ("fore-\nand aft", "fore-\nand aft"),
        ("He said -\nthen he left, 10-\n20 of them.", "He said -\nthen he left, 10-\n20 of them."),
        ("The tempera- \nture.", "The temperature."),
        ("an A-\nB test", "an A-B\ntest"),
        ("kort-\noch lång, krótko-\ni długo", "kort-\noch lång, krótko-\ni długo"),
    ],
)
def test_a_cut_word_is_whole_and_a_hyphen_of_its_own_stays(text: str, joined: str) -> None:
    assert join_words(text)[0] == joined


def test_words_cut_in_files_of_text_and_pdf_are_whole(tmp_path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Below this tempera-\r\nture the two-\r\nhour test ends.\r\n")
    lines = "Below this tempera-\nture the two-\nhour test en-"
    write_pdf(tmp_path / "b.pdf", [lines, "ergizes the pump."])
    for path in tmp_path.iterdir():
        (document,) = read_documents(path)
        assert document.text.startswith("Below this temperature\nthe two-hour\ntest en")
    (document,) = read_documents(tmp_path / "b.pdf")
    assert document.text.endswith("energizes\nthe pump.")
    assert document.pages == (PageStart(0, 1), PageStart(document.text.index("ergizes"), 2))
