"""The page, ask: behaviours 3, 5 and 8 of an answer and its proof."""

import threading
from typing import Any
from urllib.parse import quote

from tests.fakes.answer_world import BagOfWords
from tests.fakes.page_world import Site, Tab

QUESTION = "What is the hammer made of?"


def ask(question: str = QUESTION, *options: str) -> str:
    """The address of a question."""
    return f"#/ask?q={quote(question)}" + "".join(f"&o={quote(option)}" for option in options)


def test_5_an_answer_has_confidence_scored_options_and_proof_that_loops(tab: Tab) -> None:
    tab.open(ask(QUESTION, "beryllium", "wood"))
    answer = tab.page.locator("article.answer")
    assert "beryllium" in answer.locator(".text").inner_text()
    confidence = float(answer.locator(".confidence b").inner_text())
    assert 0.5 < confidence <= 1
    scores = [float(text) for text in answer.locator(".options b").all_inner_texts()]
    assert len(scores) == 2
    assert abs(sum(scores) - 1) < 0.01
    assert "%" not in answer.locator(".options").inner_text()
    assert answer.locator(".citations .card").count() >= 1
    tab.wait("() => document.querySelector('.loop video')?.currentTime > 0")
    assert tab.page.evaluate("() => document.querySelector('.loop video').muted")
    start = tab.page.evaluate("() => document.querySelector('.loop video').currentTime")
    tab.wait("at => document.querySelector('.loop video').currentTime !== at", start)


def test_5_a_passage_opens_at_its_words(tab: Tab, site: Site) -> None:
    tab.open(f"#/p/{site.passage}?q=descale&a=vinegar %26 water")
    mark = tab.page.locator(".reading mark.exact")
    mark.wait_for()
    assert mark.all_inner_texts() == ["vinegar & water"]
    assert tab.page.locator("h1").inner_text() == "Kettles, pages 12-13"
    assert tab.page.title().startswith("Kettles, pages 12-13")
    tab.open(f"#/p/{site.passage}?q=descale&a=soap")
    tab.page.locator(".reading mark").first.wait_for()
    assert tab.page.locator(".reading mark").all_inner_texts() == ["Descale"]
    tab.open("#/search?q=descale&kind=passage")
    name = tab.page.locator(".card.passage .name")
    name.first.wait_for()
    assert name.first.inner_text() == "Kettles, pages 12-13"


def test_5_a_passage_has_headings_and_tables_and_its_cited_row_is_marked(tab: Tab, site: Site) -> None:
    rows = "| Code | Meaning |\n|-|-|\n| E03 | over \\| under |\n| E07 | too hot |"
    text = f"Before you weld.\n\nCodes\n\n{rows}\n\nNever weld\nthe tank."
    passage = {"kind": "passage", "passage_id": site.passage, "path": "/a.md", "title": "KX", "text": text}
    tab.page.route("**/v1/citations/*", lambda route: route.fulfill(json={"citation": passage}))
    tab.open(f"#/p/{site.passage}?a={quote('E07 | too hot')}")
    table = tab.page.get_by_role("region", name="Table: Code, Meaning").get_by_role("table")
    assert table.get_by_role("columnheader").all_inner_texts() == ["Code", "Meaning"]
    assert table.get_by_role("cell").all_inner_texts() == ["E03", "over | under", "E07", "too hot"]
    assert tab.page.locator("mark.exact").all_inner_texts() == ["E07", "too hot"]
    assert tab.page.locator(".reading h2").all_inner_texts() == ["Codes"]
    assert tab.page.locator(".reading p").count() == 2


def test_5_the_line_that_holds_the_answer_comes_first(tab: Tab, site: Site) -> None:
    lines = ["the telescope", "a telescope again", "telescope", "at the Goddard center"]
    evidence = [
        {"kind": "asr", "text": text, "start": float(at), "end": at + 1.0} for at, text in enumerate(lines)
    ]
    cited = {"kind": "video", "path": "/x/a.mp4", "video_id": site.tools, "start": 0.0, "end": 5.0}
    cited |= {"citation": f"{site.tools}@0-5", "score": 0.5, "evidence": evidence, "proof": [3, 0, 1, 2]}
    passage = {"kind": "passage", "path": "/x/a.md", "passage_id": site.passage, "citation": site.passage}
    row = "NASA center | Greenbelt"
    passage |= {"title": "Webb", "text": f"{'The places. ' * 20}| {row} |", "score": 1.0}
    answer = {
        "answer": {
            "matched": True,
            "text": "Goddard",
            "choice": None,
            "confidence": 0.9,
            "explanation": f"The row “{row}”",
        },
        "citations": [cited, passage],
        "options": [],
        "timings": {},
        "usage": {},
    }
    tab.page.route("**/v1/ask", lambda route: route.fulfill(json=answer))
    tab.open(ask("Where is the telescope?"))
    first = tab.page.locator(".citations .evidence li").first
    assert first.locator(".words").inner_text() == "at the Goddard center"
    assert first.locator("mark").all_inner_texts() == ["Goddard"]
    assert tab.page.locator(".citations .name").all_inner_texts() == ["1 a.mp4", "2 Webb"]
    assert tab.page.locator(".citations .score").count() == 0
    card = tab.page.locator(".citations .passage .page")
    assert card.inner_text() == f"… {row} |"
    assert quote(row, safe="").replace("%20", "+") in str(card.get_attribute("href"))


def test_3_an_answer_that_nothing_supports_shows_the_nearest_on_request(tab: Tab) -> None:
    tab.open(ask("Which enzyme breaks down lactose in milk?"))
    nothing = tab.page.locator("main [data-placeholder=nothing]")
    nothing.wait_for()
    # What the command line explains it by.
    why = nothing.get_by_role("status").inner_text()
    assert "below 0.30" in why or "speaks to the question" in why
    assert tab.page.locator(".confidence").count() == 0
    assert tab.page.locator(".citations").count() == 0
    shown = tab.page.get_by_role("button", name="Show the nearest")
    if shown.count():
        shown.click()
        assert tab.page.locator(".citations .card").count() >= 1
        assert "not proof" in tab.page.locator(".proof h2").inner_text()


def test_8_a_slow_question_says_so_and_can_be_cancelled(tab: Tab, site: Site, monkeypatch: Any) -> None:
    gate = threading.Event()
    encode = BagOfWords.encode_text

    def wait(self: BagOfWords, texts: Any) -> Any:
        gate.wait(20)
        return encode(self, texts)

    monkeypatch.setattr(BagOfWords, "encode_text", wait)
    health = tab.page.request.get(f"{site.address}/v1/health").json() | {"models": "loading"}
    tab.page.route("**/v1/health", lambda route: route.fulfill(json=health))
    try:
        tab.page.goto(f"{site.address}/{ask('Is the brush clean?')}")
        said = tab.page.locator(".placeholder-loading [role=status]")
        said.wait_for()
        assert said.inner_text() == "Loading the models, for the first question"
        tab.page.get_by_role("button", name="Cancel").click()
        given_up = tab.page.locator("main [data-placeholder=nothing]")
        assert "given up" in given_up.inner_text()
        # That what the server says of itself changes asks no question again.
        health["models"] = "ready"
        tab.page.locator(".models").wait_for(state="detached")
        assert "given up" in given_up.inner_text(timeout=1000)
    finally:
        gate.set()
    tab.page.get_by_role("button", name="Ask it again").click()
    tab.page.locator("article.answer").wait_for()
