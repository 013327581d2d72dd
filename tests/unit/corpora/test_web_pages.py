"""Text of a page that it hides, or that surrounds its own, is not read; everything else is.

`{text}` stands for an article. Words of what surrounds it begin with "no".
"""

import pytest

from corpora.passages.web_page import SURROUNDINGS, document_of

TEXT = "<h1>Wheels</h1><p>Turn each nipple a little.</p><p>Then spin the wheel, and look.</p>"
LAYOUTS = {
    "news": """<body><header><a>no Herald</a><nav><ul><li>no World</ul></nav></header>
        <div role=banner>no sign-in</div><aside class=ad>no bikes</aside><main><article>{text}
        <aside>Fact: 32 spokes</aside></article><section class=newsletter-signup>no email</section></main>
        <footer>no copyright</footer>""",
    "blog of divs": """<body class="home has-sidebar"><div id=page><div id=masthead class=site-header>no title
        <div class=main-navigation>no menu</div></div><div id=content class=site-content>{text}<div
        class=comments-area>A comment.</div></div><div class="widget-area sidebar">no recent posts</div><div
        id=colophon class=site-footer>no engine</div></div>
        <div class="cc-window cc-banner" role=dialog>no cookies
        </div>""",
    "wiki": """<body><div id=content role=main>{text}<table class=infobox><tr><th>Spokes<td>32</table>
        <div id=toc
        role=navigation>no contents</div></div><div id=p-personal role=navigation>no log-in</div>
        <div id=footer
        role=contentinfo>no privacy</div>""",
    "behind a wall": """<body><div class=login-banner>no subscription</div><div class=advert>no advert</div>
        <div
        class=ad-slot>no sale</div><div class=article>{text}</div><div class=footer>no rights</div><div
        class=cookie-bar>no cookies</div><div id=onetrust-consent-sdk>no preferences</div>""",
    "forum": """<body><header>no logo<form role=search>no search</form></header><main><article>
        <header>Ann wrote:
        </header>{text}<footer>Ride on</footer></article></main><aside>no topics</aside>""",
    "old tables": """<body><table><tr><td>Home<td>{text}</table><div class=fc-consent-root>no consent</div>
        <div
        id=login-modal class=modal>no account</div><div id=footer>no webmaster</div>""",
}


def read(page: str) -> str:
    document = document_of(page, surroundings=SURROUNDINGS)
    return " ".join(document.text.split())


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_article_is_read_without_what_surrounds_it(name: str) -> None:
    found = read(LAYOUTS[name].format(text=TEXT))
    assert "Turn each nipple a little. Then spin the wheel, and look." in found
    assert "no " not in found


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("news", "Fact: 32 spokes"),
        ("blog of divs", "A comment."),
        ("wiki", "| Spokes | 32 |"),
        ("forum", "Ann wrote:"),
        ("forum", "Ride on"),
        ("old tables", "Home"),
    ],
)
def test_what_belongs_to_an_article_is_read_with_it(name: str, kept: str) -> None:
    assert kept in read(LAYOUTS[name].format(text=TEXT))


@pytest.mark.parametrize(
    "page",
    [
        "<div class=page-with-sidebar><p>a</p><p class=advertising-law>b</p></div>",
        "<div><p>a</p><div class=footer-notes>b</div></div>",
        "<div><div class=header>a</div></div><div class=header>b</div><div class=header></div>",
        "<main><p>a</p><div class=sidebar>b</div></main>",
        "<p>a</p><div class=menu>b</div>",
        "<body class=ad><div class=header><h1>t</h1><p>a</div>b",
    ],
)
def test_names_like_those_of_surroundings_cost_no_text(page: str) -> None:
    assert read(page).split() == ["a", "b"]


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
        'style="visibility: hidden"',
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
        ("<ol><li>a<li hidden>b<ol><li>c</ol><li>d</ol>", "1. a 2. d"),
        (
            "<table><tr><td>a<td hidden>b<td>c<tr hidden><td>d<td>e<tr><td>f<td>g</table>h",
            "| a | c | | f | g | h",
        ),
        ("<table><tr><td>a<table hidden><tr><td>x</table><td>b</table>", "| a | b |"),
        ("<table><tr><td>a<td>b<p hidden>c</table><ol><li>d<p hidden>e</ol><li>f", "| a | b | 1. d - f"),
        ("<body hidden><p>a</p></body>", "a"),
        ('<h1 hidden>a</h1><h1>b<span style="display:none">c</span></h1>', "b"),
        ("<ol><li><p>a</p><li><ul><li>b</ul><li></ol><ul><li></ul>c", "1. a - b c"),
        ("<ruby>東<rp>(<rt>とう<rp>)</ruby>京", "東京"),
        (
            "<table><tr><th>a<th>b<th>c<tr><td rowspan=2>d<td>e<td>f<tr><td>g<td>h<tr><td colspan=2>i<td>j",
            "| a | b | c | |-|-|-| | d | e | f | | d | g | h | | i | | j |",
        ),
        ("<table><tr><td rowspan=2>a<td>b<tr><td>c</table>", "| a | b | | a | c |"),
        (f"<table><tr><td rowspan=2>{'a' * 301}<td>b<tr><td>c</table>", f"{'a' * 301} b | | c |"),
        ("<title/><script src=x /><p>a</p>", "a"),
        ("a&#1;b&#2;c&#x4;d&#10;e", "abcd e"),
        ('<p>a</p><object data="x"/><div hidden="hidden"/><footer/><p>b</p>', "a b"),
        ("<nav class=a/>c</nav><p>b</p>", "b"),
        ("a<br/>b<img src=x/>c", "a bc"),
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
        ("<div id=onetrust-banner-sdk>We use cookies</div><p>a</p>", "a"),
    ],
)
def test_what_holds_the_text_is_no_surrounding(html: str, read: str) -> None:
    document = document_of(html, surroundings=SURROUNDINGS)
    assert document.text == read
