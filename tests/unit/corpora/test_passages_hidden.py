"""Text that a page hides, or that surrounds its own, is not read; everything else is."""

from __future__ import annotations

import pytest

from corpora.passages.web_page import SURROUNDINGS, document_of


def text_of(html: str) -> str:
    document = document_of(html)
    return " ".join(document.text.split()) if document else ""


@pytest.mark.parametrize(
    "attribute",
    [
        "hidden",
        'style="display:none"',
        'style="color: red; DISPLAY : None !important"',
        'style="display:block;display:none;"',
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
        'style="--display:none"',
        "style",
    ],
)
def test_what_a_browser_may_show_is_read(attribute: str) -> None:
    assert text_of(f"<p {attribute}>Oil it.</p><details><summary>More</summary>Dry it.</details>") == (
        "Oil it. More Dry it."
    )


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
        ("<div><p hidden>a</div>b", "b"),
        ("<body hidden><p>a</p></body>", "a"),
        ("<nav><p hidden>a</nav>b", "b"),
        ('<h1 hidden>a</h1><h1>b<span style="display:none">c</span></h1>', "b"),
        ("<ol><li><p>a</p><li><ul><li>b</ul><li></ol><ul><li></ul>c", "1. a - b c"),
        ("a<li>b", "a - b"),
        ("<title/><script src=x /><p>a</p>", "a"),
        ("a&#1;b&#2;c&#x4;d&#10;e", "abcd e"),
        ('<p>a</p><object data="x"/><div hidden="hidden"/><footer/><p>b</p>', "a b"),
        ("<nav class=a/>c</nav><p>b</p>", "b"),
        ("a<br/>b<img src=x/>c", "a bc"),
        ("<main style='display:none'><p>a</main>", "a"),
        ("<nav>a</nav><header><h2>b</h2></header><p>c</p><aside>d</aside>", "b c d"),
    ],
)
def test_pages_whatever_their_tags(html: str, read: str) -> None:
    assert text_of(html) == read


@pytest.mark.parametrize(
    ("html", "read"),
    [
        ("<html class='has-cookie-banner'><p>a</p></html>", "a"),
        ("<body class=cookie-notice-shown><nav>b</nav><p hidden>c</p><p>a</p>", "a"),
        ("<div class=cookie-consent-accepted><main>a</main></div>", "a"),
        ("<nav>a</nav><p hidden>b</p>", "a"),
    ],
)
def test_what_holds_the_text_is_no_surrounding(html: str, read: str) -> None:
    document = document_of(html, surroundings=SURROUNDINGS)
    assert document is not None
    assert document.text == read
