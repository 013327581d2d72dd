"""Text that a page hides by attribute or inline style is not read; everything else is."""

from __future__ import annotations

import time

import pytest

from corpora.passages.web_page import document_of


def text_of(html: str) -> str:
    document = document_of(html)
    return " ".join(document.text.split()) if document else ""


@pytest.mark.parametrize(
    "attribute",
    [
        "hidden",
        "HIDDEN=''",
        'hidden="hidden"',
        'style="display:none"',
        'style="color: red; DISPLAY : None !important; display: block"',
        'style="/* a */display/**/:none"',
        'style="visibility: hidden"',
        'style="visibility:collapse"',
        'style="font-size:0"',
        'style="font-size: 0.0px;"',
        'style="font:0/0 a"',
        'style="font: italic bold 0 / 1.2 serif"',
        'style="font-size:12px;font:700 0px serif"',
        'style="opacity:0"',
        'style="opacity: 0.00"',
        'style="opacity:0%"',
        'style="opacity:-1"',
        'style="position:absolute;left:-9999px"',
        'style="top:-999em; position:fixed"',
        'style="text-indent:-9999px"',
    ],
)
def test_what_a_page_hides_is_left_out(attribute: str) -> None:
    assert text_of(f"<p>Oil it.<p {attribute}>Never <b>oil</b> it.<p>Dry it.") == "Oil it. Dry it."
    assert text_of(f"<div><section {attribute}><div>a</div>b<p>c</section>Dry it.</div>") == "Dry it."
    assert text_of(f"Oil <span {attribute}>no <br><img src=x></span>it.") == "Oil it."


@pytest.mark.parametrize(
    "attribute",
    [
        "aria-hidden=true",
        'hidden="until-found"',
        'hidden style="display:block"',
        'style="display:none; display:flex"',
        'style="visibility:visible;font-size:10px"',
        'style="font-size:0.5em"',
        'style="font-size:-0px"',
        'style="border:0;margin:0 none"',
        "style=\"background:url('a;display:none')\"",
        'data-style="display:none"',
        'style="font:0/0 a;font-size:12px"',
        'style="font:bold 12px/0 serif"',
        'style="font:700 1em serif"',
        'style="opacity:0.4"',
        'style="opacity:1"',
        'style="opacity:0;transform:translateY(20px)"',
        'style="opacity:0;-webkit-transition:opacity 1s"',
        'style="opacity:0" data-w-id=a',
        'style="position:absolute;left:-20px;top:-1em"',
        'style="position:relative;left:-9999px"',
        'style="left:-9999px"',
        'style="position:absolute;left:9999px"',
        'style="text-indent:-1em"',
        "style",
    ],
)
def test_what_a_browser_shows_is_read(attribute: str) -> None:
    assert text_of(f"<p {attribute}>Oil it.</p><details><summary>More</summary>Dry it.</details>") == (
        "Oil it. More Dry it."
    )


@pytest.mark.parametrize("name", ["font-size", "font", "opacity", "left"])
def test_a_value_of_very_many_digits_takes_no_longer_than_its_length(name: str) -> None:
    digits = "0" * 1_000_000
    started = time.process_time()
    style = f"position:absolute;{name}:{digits}?;{name}:1{digits}?;{name}:.{digits}?"
    assert text_of(f'<p style="{style}">Oil it.</p>') == "Oil it."
    assert time.process_time() - started < 5


def test_descendants_may_be_shown_again() -> None:
    inner = '<i style="visibility:visible">b</i><i style="font-size:9pt">c</i><i style="display:block">d</i>'
    assert text_of(f'<div style="visibility:hidden">a{inner}</div>') == "b"
    assert text_of(f'<div style="font-size:0">a{inner}</div>') == "c"
    assert text_of('<div style="font-size:0"><i style="font-size:2em">a</i></div>e') == "e"
    assert text_of(f'<div style="font:0/0 a">a{inner}</div>') == "c"
    assert text_of(f'<div style="opacity:0">a{inner}</div>e') == "e"
    assert text_of(f'<div style="display:none">a{inner}</div>e') == "e"


@pytest.mark.parametrize(
    ("html", "read"),
    [
        ("<ul><li hidden>a<li>b</ul>c", "- b c"),
        ("<ol><li>a<li hidden>b<ol><li>c</ol><li>d</ol>", "1. a 2. d"),
        ("<ol><li>a<ul hidden><li>x</ul><li>b</ol>", "1. a 2. b"),
        (
            "<table><tr><td>a<td hidden>b<td>c<tr hidden><td>d<td>e<tr><td>f<td>g</table>h",
            "| a | c | | f | g | h",
        ),
        ("<table><tr><td>a<table hidden><tr><td>x</table><td>b</table>", "| a | b |"),
        ("<table><tr><td>a<td>b<p hidden>c</table><ol><li>d<p hidden>e</ol><li>f", "| a | b | 1. d - f"),
        ("<dl><dt hidden>a<dd>b</dl>", "b"),
        ("<p hidden>a<div>b</div>", "b"),
        ("<div><p hidden>a</div>b", "b"),
        ("<b><p hidden>a</b>a</p>b", "b"),
        ("<div><div hidden><table><tr><td></div>a</table>a</div>b</div>c", "b c"),
        ("<body hidden><p>a</p></body>", "a"),
        ("<nav><p hidden>a</nav>b", "b"),
        ("<p hidden><script></p></script>a</p>b", "b"),
        ("<input hidden>a<br hidden>b", "a b"),
        ('<h1 hidden>a</h1><h1>b<span style="display:none">c</span></h1>', "b"),
    ],
)
def test_missing_and_stray_end_tags(html: str, read: str) -> None:
    assert text_of(html) == read


def test_hidden_text_is_no_title() -> None:
    document = document_of("<h1 hidden>a</h1><h1>b<span hidden>c</span></h1><p>d</p>")
    assert document is not None
    assert (document.title, document.text) == ("b", "d")
