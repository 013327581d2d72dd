"""E-mails, notebooks and chats."""

from __future__ import annotations

import json
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from corpora.passages import Document, read_documents
from rag.errors import DamagedFile


def pairs(path: Path) -> list[tuple[str, str]]:
    return [(each.title, each.text) for each in read_documents(path) if isinstance(each, Document)]


def mail(text: str, **headers: str) -> EmailMessage:
    message = EmailMessage()
    for name, value in {"From": "Ann <ann@example.org>", "To": "Bo", **headers}.items():
        message[name] = value
    message.set_content(text, charset="iso-8859-1")
    return message


def test_an_email_has_its_headers_text_and_names_of_attachments(tmp_path: Path) -> None:
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


def test_an_email_of_html_alone_is_read_as_a_page(tmp_path: Path) -> None:
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
def test_an_email_that_breaks_the_rules_is_read(tmp_path: Path, head: bytes, body: bytes, text: str) -> None:
    (tmp_path / "a.eml").write_bytes(b"Subject: a\r\n" + head + b"\r\n\r\n" + body)
    assert text in pairs(tmp_path / "a.eml")[0][1]


def test_headers_and_parts_of_any_size_are_read_or_refused_soon(tmp_path: Path) -> None:
    long = ", ".join(f"Person {number} <p{number}@example.com>" for number in range(20_000))
    (tmp_path / "a.eml").write_text(f"Subject: a\nTo: {long}\nFrom: {'(' * 20_000}\n\nOil it.\n")
    assert "Oil it." in pairs(tmp_path / "a.eml")[0][1]
    deep = "".join(f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(1_500))
    (tmp_path / "b.eml").write_text(f"Subject: b\n{deep}")
    with pytest.raises(DamagedFile, match="nested too deeply"):
        pairs(tmp_path / "b.eml")


def test_what_is_no_email_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_text("just some text")
    with pytest.raises(DamagedFile, match="not an e-mail"):
        pairs(tmp_path / "a.eml")


def notebook(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_a_notebook_has_its_text_code_and_prints(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Wheel *sizes*\n", "We **measure** them."]},
        {
            "cell_type": "code",
            "source": "print(rim * 2)",
            "outputs": [
                {"output_type": "stream", "text": ["622\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBORw0", "text/plain": ["<Figure>"]}},
                {"output_type": "error", "traceback": ["boom"]},
            ],
        },
        {"cell_type": "raw", "source": "a note"},
    ]
    path = notebook(tmp_path / "a.ipynb", {"cells": cells})
    assert pairs(path) == [("Wheel sizes", "We measure them.\n\nprint(rim * 2)\n\n622\n\n<Figure>\n\na note")]
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"]}]}]}
    assert pairs(notebook(tmp_path / "old.ipynb", old)) == [("", "x = 1")]


@pytest.mark.parametrize("value", [[], {}, {"cells": [1, {"source": 3}]}, {"worksheets": [[]]}, "x"])
def test_a_notebook_without_text_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(DamagedFile, match="a notebook without text"):
        pairs(notebook(tmp_path / "a.ipynb", value))


@pytest.mark.parametrize(
    "rows",
    [
        [{"role": "user", "content": "How tight?"}, {"role": "assistant", "content": "12 Nm."}],
        [{"user": "user", "text": "How tight?"}, {"user": {"name": "assistant"}, "message": "12 Nm."}],
        [
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "How tight?"}, {"type": "image"}]},
                    {"role": "assistant", "content": "12 Nm."},
                ]
            }
        ],
        [
            {
                "conversations": [
                    {"from": "user", "value": "How tight?"},
                    {"from": "assistant", "value": "12 Nm."},
                ]
            }
        ],
    ],
)
@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_messages_of_a_chat_stand_under_their_speakers(tmp_path: Path, rows: list[Any], suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text("\n".join(map(json.dumps, rows)) if suffix == "jsonl" else json.dumps(rows))
    assert pairs(path) == [("", "user: How tight?\n\nassistant: 12 Nm.")]


def test_each_chat_of_a_file_is_a_document(tmp_path: Path) -> None:
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
