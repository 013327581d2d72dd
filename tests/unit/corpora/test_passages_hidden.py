"""Text that a page hides by attribute, style or simple rule is not read; everything else is."""

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


@pytest.mark.parametrize(
    ("sheet", "element"),
    [
        (".a{display:none}", "<p class='b a'>"),
        (".A { color: red; DISPLAY : none !important }", "<p class=a style='display:block'>"),
        ("#note{visibility:hidden}", "<p id=note>"),
        ("x-note,p.a,b{opacity:0}", "<p class=a>"),
        ("x-note{display:none}", "<x-note>"),
        (".a{font:0/0 a}", "<p class=a>"),
        (".a{position:absolute;left:-9999px}", "<p class=a>"),
        (".a{position:absolute}.b{left:-9999px}", "<p class='a b'>"),
        ("/* .a{} */ @charset 'x'; @media screen{.a{display:none}}", "<p class=a>"),
        ("@layer x{.a{display:none", "<p class=a>"),
        ("<!-- .a{display:none} -->", "<p class=a>"),
        ("p.a{display:none}.a{display:block}", "<p class=a>"),
        (".a{display:block}.a{display:none}", "<p class=a>"),
        (".\\61{d\\69splay:none}.sm\\:b{display:none}", "<p class='sm:b'>"),
        (".b::after{content:'}.a{display:block'}.a{display:none}", "<p class=a>"),
        ("@keyframes x{from{opacity:1}}@font-face{src:x}.a{opacity:0}", "<p class=a>"),
        (".a::before,.a:after{display:block}.a{display:none}", "<p class=a>"),
        ("div > p.b{display:block}.a{display:none}", "<p class=a>"),
        ("b:not(:is(.c,.d),[lang=')']),[title='(,'],.a{display:none}", "<p class=a>"),
    ],
)
def test_what_a_style_sheet_hides_is_left_out(sheet: str, element: str) -> None:
    page = f"<p>Oil it.</p>{element}Never <i>oil</i> it.</p></x-note><p>Dry it.</p>"
    assert text_of(f"<style>{sheet}</style>{page}") == "Oil it. Dry it."
    assert text_of(f"{page}<style media=screen>{sheet}</style>") == "Oil it. Dry it.", "it may come later"


@pytest.mark.parametrize(
    "sheet",
    [
        "@media print{.a{display:none}}",
        "@media (max-width: 600px){.a{display:none}}.a{color:red}",
        ".a{display:none}@media (min-width: 600px){.a{display:block}}",
        ".a{display:none}.open .a{display:block}",
        ".a{display:none}.a.open{display:flex}",
        ".a{opacity:0}.a:hover{opacity:1}",
        ".a{opacity:0;transition:opacity 1s}",
        "@keyframes x{from{opacity:0}}.a{animation:x;opacity:0}",
        ".a{display:none}[title]{display:block}",
        ".a{display:none}.b > *{display:block}",
        ".a{display:none}.a{&:hover{display:block}}",
        ".a{display:none}#x{display:block}",
        ".a{display:none !important}#x{display:block !important}",
        ".a{display:none}p{display:block!important}",
        ".a:not(.open){display:none}",
        "b:not(:is(.c),.a,.d){display:none}",
        "[lang='x,.a,y']{display:none}",
        ".b .a{display:none}",
        ".a::before{display:none}",
        "/*.a{display:none}*/",
        ".ab{display:none}a{display:none}*{display:none}",
        ".a{content:'} .a{display:none}'}",
        "}}.b{display:none}{.a{display:none}",
    ],
)
def test_what_a_style_sheet_may_show_is_read(sheet: str) -> None:
    page = f"<style>{sheet}</style><p class=a id=x title=y>Oil it.</p><p>Dry it."
    assert text_of(page) == "Oil it. Dry it."


def test_styles_that_do_not_hold_hide_nothing() -> None:
    hiding, page = "<style>.a{display:none}</style>", "<p class=a>Oil it.<p>Dry it."
    for outside in (
        f"<noscript>{hiding}</noscript>",
        f"<template>{hiding}</template>",
        f"<!-- {hiding} -->",
        f"<script>'{hiding}'</script>",
        hiding.replace("<style", "<style media=print"),
        hiding.replace("<style", "<style type=text/x"),
    ):
        assert text_of(outside + page) == "Oil it. Dry it."
    assert text_of(hiding + page) == "Dry it."


def test_descendants_of_what_a_sheet_hides_may_be_shown_again() -> None:
    rules = ".row{font-size:0}.row .cell{font-size:12px}.v{visibility:hidden}.w{visibility:visible}"
    sheet = f"<style>{rules}</style>"
    assert text_of(f"{sheet}<div class=row>a<p class=cell>b</p></div>") == "b"
    assert text_of(f"{sheet}<div class=v>a<p class=w>b</p></div>") == "b"
    hidden = "<style>.flex{display:flex}.x{display:none}</style><p class=flex hidden>a</p>b"
    assert text_of(hidden) == "b", "as [hidden]{display:none!important} of most sheets has it"


def test_a_page_whose_sheet_hides_all_of_it_is_read() -> None:
    assert text_of("<style>#app{opacity:0}</style><main id=app><p>Oil it.</main>") == "Oil it."


@pytest.mark.parametrize(
    "page",
    [
        "<style>" + ".a{display:none}" * 60_000 + "</style><p class=b>Oil it.",
        "<style>"
        + "".join(f".a{n}{{left:0}}" for n in range(60_000))
        + "</style><p class='"
        + " ".join(f"a{n}" for n in range(60_000))
        + "'>Oil it.",
        "<style>" + ".b," * 200_000 + ".c{display:none}</style><p>Oil it.",
        "<style>" + "{" * 200_000 + "</style><p>Oil it.",
        "<style>" + ".a{" * 150_000 + "display:none</style><p>Oil it.",
        "<style>@media" + " " * 1_000_000 + "x{.a{display:none}}</style><p>Oil it.",
        "<style>" + "(" * 200_000 + "[a" * 100_000 + "{display:block}.a{display:none}</style><p>Oil it.",
        "<style>" + "/*" * 500_000 + "</style><p>Oil it.",
        "<style>" + '"\\' * 300_000 + ".a{display:none}</style><p>Oil it.",
        "<style>." + "a" * 1_000_000 + "?{display:none}.a{display:none}</style><p>Oil it.",
        "<style>.a{display:none}</style>" * 20_000 + "<p>Oil it.",
        f"<style>.a{{left:0}}b{{display:none}}</style><{'p' * 100_000} class='"
        + " ".join(f"a{n}" for n in range(60_000))
        + "'>Oil it.",
    ],
)
def test_style_sheets_take_time_linear_in_their_length(page: str) -> None:
    started = time.process_time()
    assert text_of(page) == "Oil it."
    assert time.process_time() - started < 5


def test_hidden_text_is_no_title() -> None:
    document = document_of("<h1 hidden>a</h1><h1>b<span hidden>c</span></h1><p>d</p>")
    assert document is not None
    assert (document.title, document.text) == ("b", "d")
