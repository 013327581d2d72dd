"""What surrounds the article of a web page, on written pages in the style of common sites.

`{text}` stands for the article. Words of what surrounds it begin with "no".
"""

from __future__ import annotations

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
    "shop": """<body><div class=header>no basket</div><div class=breadcrumb>no path</div>
        <div class=product>{text}
        <table><tr><th>Weight<td>900 g</table></div><div class=newsletter>no letters</div><div class=footer>no
        imprint</div>""",
    "old tables": """<body><table><tr><td>Home<td>{text}</table><div class=fc-consent-root>no consent</div>
        <div
        id=login-modal class=modal>no account</div><div id=footer>no webmaster</div>""",
}


def read(page: str) -> str:
    document = document_of(page, surroundings=SURROUNDINGS)
    assert document is not None
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
        ("shop", "| Weight | 900 g |"),
        ("old tables", "Home"),
    ],
)
def test_what_belongs_to_an_article_is_read_with_it(name: str, kept: str) -> None:
    assert kept in read(LAYOUTS[name].format(text=TEXT))


@pytest.mark.parametrize(
    "page",
    [
        "<div class=page-with-sidebar><p>a</p><p class=advertising-law>b</p></div>",
        "<div><p>a</p><section class=cookies>b</section></div>",
        "<div><p>a</p><div class=footer-notes>b</div></div>",
        "<div><p>a</p><div class=login>b</div></div>",
        "<div><div class=header>a</div></div><div class=header>b</div><div class=header></div>",
        "<main><p>a</p><div class=sidebar>b</div></main>",
        "<p>a</p><div class=menu>b</div>",
        "<body class=ad><div class=header><h1>t</h1><p>a</div>b",
    ],
)
def test_names_like_those_of_surroundings_cost_no_text(page: str) -> None:
    assert read(page).split() == ["a", "b"]
