"""The page, search: behaviours 1, 2, 3, 6, 7 and 8 of a hit's way to its seconds."""

import io
import re
from collections.abc import Callable
from typing import Any

from PIL import Image

from rag.store.filters import path_matches
from tests.fakes.page_world import Site, Tab

CARD = "main .card"
COUNT_ABORTS = """
const abort = AbortController.prototype.abort
window.aborted = 0
AbortController.prototype.abort = function () { window.aborted += 1; return abort.call(this) }
"""


def best(tab: Tab) -> Any:
    return tab.page.locator(CARD).first


def test_1_one_click_plays_the_hit_in_a_loop_and_back_leads_to_the_list(tab: Tab, site: Site) -> None:
    tab.page.set_viewport_size({"width": 400, "height": 500})
    tab.open("#/search?q=hammer&kind=video")
    card = tab.page.locator(f"[data-citation^='{site.tools}@']")
    card.locator(".shot").scroll_into_view_if_needed()
    scrolled = tab.page.evaluate("() => scrollY")
    start, end = map(float, card.get_attribute("data-citation").split("@")[1].split("-"))
    card.locator(".shot").click()
    tab.wait(
        "() => document.querySelector('video')?.currentTime > 0 && !document.querySelector('video').paused"
    )
    assert start - 0.1 <= tab.page.evaluate("() => document.querySelector('video').currentTime") < end
    assert tab.place.startswith(f"#/v/{site.tools}?t={start:g},{end:g}&q=hammer")
    assert tab.page.locator(".axis .window").count() == 1
    # The loop: from just before its end to its start.
    tab.page.evaluate("end => { document.querySelector('video').currentTime = end - 0.3 }", end)
    tab.wait("end => document.querySelector('video').currentTime < end - 1", end)
    tab.page.go_back()
    tab.settle()
    assert tab.page.locator(CARD).count() > 0
    tab.wait("scrolled => Math.abs(scrollY - scrolled) <= 2", scrolled)


def test_2_every_result_says_why(tab: Tab) -> None:
    tab.open("#/search?q=beryllium hammer")
    cards = tab.page.locator(CARD)
    for at in range(cards.count()):
        assert cards.nth(at).locator(".kind").count() >= 1
    line = best(tab).locator(".evidence li", has_text="beryllium").first
    assert line.locator(".kind").inner_text() == "Subtitle"
    assert line.locator("time").inner_text() == "0:06"
    assert "beryllium" in line.locator("mark").all_inner_texts()


def test_2_a_document_is_searched_by_its_whole_path(tab: Tab) -> None:
    path, other = "/docs/notes [20*4].md", "/docs/notes 2.md"
    bodies: list[Any] = []

    def searched(route: Any) -> None:
        bodies.append(route.request.post_data_json)
        route.continue_()

    rows = [{"path": path, "status": "indexed", "reason": "", "state": "ok"}]
    listed = {"files": rows, "counts": {}, "total": 1, "next": None}
    tab.page.route("**/v1/files?*", lambda route: route.fulfill(json=listed))
    tab.page.route("**/v1/search", searched)
    tab.open("#/library/documents")
    tab.page.get_by_role("link", name="Search in it").click()
    tab.settle()
    assert "notes [20*4].md" in tab.page.locator(".chips").inner_text()
    tab.page.get_by_label("Search the library").fill("lamp")
    tab.page.keyboard.press("Enter")
    tab.wait("() => document.querySelector('main .summary, main [data-placeholder=nothing]')")
    globs = tuple(bodies[0]["filter"]["paths"])
    assert path_matches((path,), globs)
    assert not path_matches((other,), globs)
    assert not path_matches((f"/elsewhere{path}",), globs)


def test_2_what_a_filter_cannot_judge_is_counted(tab: Tab) -> None:
    tab.open("#/search?q=hammer&kind=video&tone=warm")
    assert "could not be judged" in tab.page.locator(".summary").inner_text()
    assert "warm" in best(tab).locator(".measured").inner_text()


def test_2_texts_of_the_library_are_text(tab: Tab) -> None:
    tab.open("#/search?q=lamp&kind=video")
    assert "<b>lamp</b>" in tab.page.locator(".cards").first.inner_text()
    assert tab.page.locator(".cards b").count() == 0


def test_3_nothing_found_loading_failed_and_nothing_indexed_are_four_states(
    tab: Tab, open_tab: Callable[..., Tab], empty_site: str
) -> None:
    problem = {
        "type": "urn:rag:problem:library-error",
        "title": "The library is damaged",
        "status": 500,
        "detail": "x: cut off",
    }
    # A change in what the server says of itself would search again, and take the button away.
    health = tab.page.request.get(f"{tab.address}/v1/health").json()
    tab.page.route("**/v1/health", lambda route: route.fulfill(json=health))
    tab.open()
    tab.page.locator(".totals").wait_for()
    held: list[Any] = []
    tab.page.route("**/v1/search", lambda route: held.append(route))
    with tab.page.expect_request("**/v1/search"):
        tab.page.goto(f"{tab.address}/#/search?q=xylophone")
    loading = tab.page.locator("main [data-placeholder=loading]")
    loading.wait_for()
    states = {loading.inner_text()}
    tab.expected.append("500")
    held[0].fulfill(status=500, content_type="application/problem+json", json=problem)
    failed = tab.page.locator("main [data-placeholder=failed]")
    failed.wait_for()
    said = failed.inner_text()
    assert "x: cut off" in said
    states.add(said)
    tab.page.unroute("**/v1/search")
    failed.get_by_role("button").click()
    nothing = tab.page.locator("main [data-placeholder=nothing]")
    nothing.wait_for()
    states.add(nothing.inner_text())
    other = open_tab(empty_site)
    other.open()
    empty = other.page.locator("main [data-placeholder=empty]")
    empty.wait_for()
    # The command makes the library that this server waits for.
    assert re.search(r"rag index FOLDER --library /\S+/library\n", empty.inner_text())
    assert len({*states, empty.inner_text()}) == 4


def test_3_while_the_first_folder_is_indexed_the_page_says_so(tab: Tab) -> None:
    tab.expected.append("/v1/jobs/1")
    job = {"job_id": "1", "kind": "index", "state": "running", "dry_run": False, "folder": "/videos"}
    health = {"status": "empty", "models": "cold", "problem": "none", "library": None, "indexing": True}
    tab.page.route("**/v1/health", lambda route: route.fulfill(json=health))
    tab.page.route("**/v1/jobs", lambda route: route.fulfill(json={"jobs": [job], "roots": ["/videos"]}))
    tab.page.goto(tab.address)
    empty = tab.page.locator("main [data-placeholder=empty]")
    empty.get_by_role("heading", name="being indexed").wait_for()
    empty.get_by_role("link", name="progress").click()
    tab.page.locator(".job").first.wait_for()
    assert tab.place == "#/library/add"


def test_3_the_nearest_miss_is_shown_on_request_only(tab: Tab) -> None:
    tab.open("#/search?q=xylophone&kind=video")
    tab.page.locator("main [data-placeholder=nothing]").wait_for()
    assert tab.page.locator(CARD).count() == 0
    tab.page.get_by_role("button", name="Show the nearest").click()
    best(tab).wait_for()
    assert "below the threshold of 0.30" in tab.page.locator("h2.nearest").inner_text()
    shown = [float(text) for text in tab.page.locator(".card .score").all_inner_texts()]
    assert max(shown) < 0.3


def test_3_what_no_search_finds_is_said_where_nothing_is_found(tab: Tab) -> None:
    def without_images(route: Any) -> None:
        shape = route.fetch().json()
        shape["library"] |= {"images": False, "unsearchable": ["What is seen in 3 videos: <b>do</b> this"]}
        route.fulfill(json=shape)

    tab.page.route("**/v1/health", without_images)
    tab.open("#/search?q=xylophone&kind=video")
    tab.page.locator("main [data-placeholder=nothing] .unsearchable").wait_for()
    assert "3 videos: <b>do</b> this" in tab.page.locator(".unsearchable").inner_text()
    assert tab.page.get_by_role("searchbox").get_attribute("placeholder") == "Said or written"
    tab.open("#/search?q=beryllium&kind=video")
    assert tab.page.get_by_role("link", name="More like this").count() == 0
    assert tab.page.locator(".upload").count() == 0
    tab.open("#/library")
    tab.page.locator(".unsearchable").wait_for()


def test_2_what_is_only_near_comes_after_the_matches_and_another_order_is_explained(
    tab: Tab, site: Site
) -> None:
    def show(*relevances: float) -> list[str]:
        results = [
            {
                "kind": "video",
                "path": f"/x/v{at}.mp4",
                "title": f"v{at}",
                "score": 0.5,
                "evidence": [],
                "video_id": site.tools,
                "start": 0.0,
                "end": 5.0,
                "citation": f"v{at}@0-5",
                "relevance": relevance,
            }
            for at, relevance in enumerate(relevances)
        ]
        shape = {"query": "x", "results": results, "matched": True, "threshold": 0.3}
        tab.page.unroute("**/v1/search")
        tab.page.route("**/v1/search", lambda route: route.fulfill(json=shape))
        tab.open(f"#/search?q=x{len(relevances)}")
        scores = tab.page.locator(".card .score")
        # The cards of the search before stay until the next ones come.
        scores.nth(len(relevances) - 1).wait_for()
        return scores.all_inner_texts()

    assert show(0.9, 0.2999) == ["0.90", "0.29"]
    assert tab.page.get_by_text("Sorted by images and text together").count() == 0
    assert show(0.9, 0.1, 0.31) == ["0.90", "0.31", "0.10"]
    assert tab.page.locator(".summary").inner_text().startswith("2 results")
    assert tab.page.locator("main .cards .name").all_inner_texts() == ["v0", "v2", "v1"]
    assert tab.page.locator("h2.nearest ~ .cards .score").all_inner_texts() == ["0.10"]
    assert "from 0 to 1" in best(tab).locator(".rating").get_attribute("title")
    assert best(tab).locator(".rating").inner_text() == "Relevance 0.90"
    assert show(0.5, 0.9, 0.1, 0.0) == ["0.50", "0.90", "0.10", "0.00"]
    assert tab.page.get_by_text("Sorted by images and text together").count() == 1


def test_6_filters_are_chips_in_the_address_that_can_be_taken_off(tab: Tab) -> None:
    tab.open("#/search?q=hammer")
    tab.page.get_by_role("button", name="Filter").click()
    filters = tab.page.get_by_role("form", name="Filters")
    filters.get_by_label("Kind").select_option("video")
    filters.get_by_label("Path").fill('tools.mp4, "a, b.mp4"')
    filters.get_by_label("From", exact=True).fill("0:05")
    filters.get_by_label("To", exact=True).fill("1:00")
    filters.get_by_label("Tone").select_option("warm")
    filters.get_by_label("Style").select_option("live")
    filters.get_by_label("Lines").fill("120")
    filters.get_by_label("After").fill("lamp")
    with tab.page.expect_request("**/v1/search") as sent:
        filters.get_by_role("button", name="Apply").click()
    assert sent.value.post_data_json["filter"] == {
        "paths": ["*tools.mp4*", "*a, b.mp4*"],
        "videos": None,
        "start": 5,
        "end": 60,
        "tone": "warm",
        "style": "live",
        "after": "lamp",
        "min_height": 120,
    }
    tab.settle()
    assert "tone=warm" in tab.place
    tab.page.get_by_role("button", name="Filter", exact=True).click()
    assert filters.get_by_label("Path").input_value() == 'tools.mp4, "a, b.mp4"'
    filters.get_by_label("Path").press("Escape")
    assert tab.page.locator("a.chip").count() == 9
    tab.page.get_by_role("link", name="Remove the filter Tone warm").click()
    tab.settle()
    assert "tone=" not in tab.place
    # The address alone has the state, in another tab as after a reload.
    tab.page.reload()
    tab.settle()
    assert tab.page.locator("a.chip").count() == 8
    tab.page.go_back()
    tab.page.get_by_role("link", name="Remove the filter Tone warm").wait_for()


def test_6_a_filter_alone_lists_what_meets_it(tab: Tab, site: Site) -> None:
    tab.open("#/search?tone=cold")
    shots = tab.page.locator(f"[data-citation^='{site.tools}@'] .measured")
    assert set(shots.all_inner_texts()) == {"cold, live"}
    assert "by path and time" in tab.page.locator(".summary").inner_text()
    # Nothing is ranked, and no evidence is asked for.
    assert tab.page.locator(".card .score, .card .evidence").count() == 0


def test_7_more_like_this_moment_from_a_hit_and_from_a_frame(tab: Tab, site: Site) -> None:
    tab.open("#/search?q=beryllium&kind=video")
    hit = tab.page.locator(f"[data-citation^='{site.tools}@']").first
    citation = hit.get_attribute("data-citation")
    with tab.page.expect_request("**/v1/search") as sent:
        hit.get_by_role("link", name="More like this").click()
    assert sent.value.post_data_json["like"] == citation
    tab.settle()
    assert best(tab).get_attribute("data-citation") != citation
    tab.open(f"#/v/{site.tools}")
    with tab.page.expect_request("**/v1/search") as sent:
        tab.page.get_by_role("button", name="More like this frame").click()
    assert sent.value.post_data_json["like"].startswith(f"{site.tools}@")


def test_7_an_image_that_is_chosen_is_searched_for(tab: Tab) -> None:
    file = io.BytesIO()
    Image.new("RGB", (900, 600), "red").save(file, "PNG")
    tab.expected.append("/v1/search")  # The library has no encoder of images.
    tab.open()
    with tab.page.expect_request("**/v1/search") as sent:
        tab.page.locator("input[type=file]").set_input_files(
            {"name": "a.png", "mimeType": "image/png", "buffer": file.getvalue()}
        )
    assert sent.value.post_data_json["image"].startswith("/9j/")
    assert "image=" in tab.place


def test_8_a_new_question_gives_up_the_old(tab: Tab) -> None:
    held: list[Any] = []
    tab.page.add_init_script(COUNT_ABORTS)
    tab.open()
    tab.page.route(
        "**/v1/search",
        lambda route: held.append(route) if "lamp" in route.request.post_data else route.continue_(),
    )
    field = tab.page.get_by_role("searchbox", name="Search the library")
    field.fill("lamp")
    with tab.page.expect_request("**/v1/search"):  # The start page shows a placeholder of its own.
        field.press("Enter")
    field.fill("hammer")
    field.press("Enter")
    # Cards of the view before may still be there.
    tab.page.locator("h1", has_text="hammer").wait_for()
    best(tab).wait_for()
    assert tab.page.evaluate("() => window.aborted") == 1


def test_8_more_results_on_demand(tab: Tab) -> None:
    tab.open("#/search?q=hammer&kind=video&top=1")
    assert tab.page.locator(CARD).count() == 1
    tab.page.get_by_role("button", name="More results").click()
    tab.wait("() => document.querySelectorAll('main .card').length > 1")
    assert "top=25" in tab.place
