"""The page, ask and jobs: behaviours 3, 5 and 8 of an answer, 14 and 15 of a folder that is added."""

import threading
from collections.abc import Callable
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


def test_8_a_slow_question_says_so_and_can_be_cancelled(tab: Tab, site: Site, monkeypatch) -> None:
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


ADD = "#/library/add"


def job(tab: Tab) -> Any:
    """The newest job."""
    return tab.page.locator(".job").first


def forecast(tab: Tab, site: Site, kind: str) -> None:
    """Ask for the forecast of a folder, with the keyboard alone."""
    tab.open(ADD)
    tab.page.keyboard.type(str(site.root / kind))
    tab.page.keyboard.press("Enter")
    job(tab).filter(has_text=f"Forecast for root/{kind}").get_by_text("2 new files").wait_for()


def test_14_a_path_is_typed_at_once_and_the_forecast_comes_first(tab: Tab, site: Site) -> None:
    forecast(tab, site, "fine")
    assert tab.place == ADD, "the slash of the path is no key"
    assert tab.page.get_by_label("Folder on the server").input_value() == str(site.root / "fine")
    assert "10 s of media: about 4 s on two idle cores, and 1.0 kB on disk" in job(tab).inner_text()
    tab.page.get_by_role("button", name="Index “fine”").first.click()
    done = job(tab).filter(has_text="Index root/fine").get_by_text("2 files indexed")
    done.wait_for()


def test_14_a_folder_that_is_not_allowed_is_refused_with_the_reason(tab: Tab, site: Site) -> None:
    tab.expected.append("/v1/jobs")
    tab.open(ADD)
    tab.page.keyboard.type(str(site.root.parent))
    tab.page.keyboard.press("Enter")
    assert "--allow-index" in tab.page.get_by_role("alert").inner_text()


def test_14_15_progress_and_problems_live_through_a_reload_and_a_cancel_ends_the_work(
    tab: Tab, open_tab: Callable[..., Tab], site: Site
) -> None:
    forecast(tab, site, "stuck")
    tab.page.get_by_role("button", name="Index “stuck”").first.click()

    def runs(tab: Tab) -> Any:
        running = job(tab).filter(has_text="Index root/stuck")
        running.get_by_text("file 1 of 1").wait_for()
        # The file fails while the job runs.
        running.get_by_role("list", name="Files with problems").get_by_text("not a video").wait_for()
        assert running.get_attribute("data-state") == "running"
        bar = running.get_by_role("progressbar", name="Indexed")
        assert [bar.get_attribute(name) for name in ("value", "max")] == ["0.25", "1"]
        assert "\ufffd.mp4" in running.inner_text()
        return running

    runs(tab)
    tab.page.reload()
    tab.settle()
    running = runs(tab)
    other = open_tab(site.address)
    other.open(ADD)
    runs(other)
    (name,) = [one["job_id"] for one in site.service.jobs.all() if one["state"] == "running"]
    running.get_by_role("button", name="Cancel").click()
    for seen in (tab, other):
        seen.wait("id => document.querySelector(`[data-job='${id}']`).dataset.state === 'cancelled'", name)
    # What was cancelled can be begun again.
    tab.page.get_by_role("button", name="Index “stuck”").first.wait_for()


def test_15_a_job_that_waits_has_no_bar_and_a_forecast_loads_no_models(tab: Tab) -> None:
    common = {"kind": "index", "folder": "/root/fine", "problems": [], "problem_count": 0, "progress": None}
    asked = [("c", "queued", False), ("b", "running", True)]
    jobs = [
        {**common, "job_id": name, "state": state, "dry_run": dry, "created": f"2026-01-0{day}T00:00:00Z"}
        for day, (name, state, dry) in zip((2, 1), asked, strict=True)
    ]
    tab.page.route("**/v1/jobs", lambda route: route.fulfill(json={"jobs": jobs, "roots": ["/root"]}))
    tab.page.route("**/v1/jobs/b", lambda route: route.abort("aborted"))
    tab.open(ADD)
    waiting, looking = tab.page.locator("[data-job=c]"), tab.page.locator("[data-job=b]")
    assert waiting.get_by_role("progressbar").count() == 0
    assert "Looking" not in waiting.inner_text()
    assert looking.get_by_role("progressbar").count() == 1
    assert "models" not in looking.inner_text()
