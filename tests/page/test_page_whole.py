"""The page as a whole: behaviours 17, 18, 20 and 24: files, selects, no other origin, accessibility."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.page_world import DESKTOP, Site, Tab

RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]
NARROW = {"width": 320, "height": 600}


def places(site: Site) -> dict[str, str]:
    """The address of each view."""
    return {
        "welcome": "",
        "search": "#/search?q=hammer&tone=warm",
        "passages": "#/search?q=kettle",
        "nothing": "#/search?q=xylophone&kind=video",
        "ask": "#/ask?q=What is the hammer made of?&o=beryllium&o=wood",
        "passage": f"#/p/{site.passage}?q=descale",
        "video": f"#/v/{site.tools}?t=6,11&q=hammer",
        "library": "#/library",
        "documents": "#/library/documents",
        "files": "#/library/files",
        "add": "#/library/add",
        "selects": "#/selects",
    }


def add_three(tab: Tab) -> list[str]:
    """Three hits into the tray, and their citations."""
    tab.open("#/search?q=hammer&kind=video&top=50")
    found = [card.get_attribute("data-citation") for card in tab.page.locator("main .card").all()]
    taken = [citation for citation in found if not citation.startswith(("0000", "1111"))][:3]
    for citation in taken:
        tab.page.locator(f"[data-citation='{citation}'] button[aria-label^='Add to']").click()
    assert len(taken) == 3
    return taken


def test_17_files_that_are_gone_changed_or_unreadable_are_listed_with_what_to_do(
    tab: Tab, site: Site
) -> None:
    tab.open("#/library")
    gone = tab.page.locator(f".card:has([href='#/v/{site.gone}'])")
    assert gone.locator(".state").inner_text() == "missing"
    tab.page.get_by_role("link", name="Files").click()
    rows = tab.page.locator(".files li")
    rows.first.wait_for()
    assert any("gone.mp4" in row and "missing" in row for row in rows.all_inner_texts())
    advice = tab.page.locator("main").inner_text()
    assert "rag remove PATH" in advice
    assert "rag index FOLDER" in advice
    tab.page.get_by_role("link", name="Gone or changed").click()
    rows.filter(has_text="odd.mp4").wait_for(state="detached")
    tab.page.get_by_role("link", name="Failed").click()
    rows.filter(has_text="not a video").wait_for()
    assert rows.all_inner_texts()[0].startswith("/texts/odd.mp4")


def test_18_selects_are_kept_trimmed_ordered_noted_and_exported(tab: Tab) -> None:
    first, second, third = add_three(tab)
    assert tab.page.locator(".badge").inner_text().startswith("3")
    tab.open("#/selects")
    rows = tab.page.locator(".select")
    assert [row.get_attribute("data-citation") for row in rows.all()] == [first, second, third]
    tab.page.get_by_role("button", name="Move select 3 up").click()
    assert [row.get_attribute("data-citation") for row in rows.all()] == [first, third, second]
    start = first.split("@")[1].split("-")[0]
    rows.first.get_by_role("button", name=re.compile("Out 0.1 s earlier")).click()
    rows.first.get_by_label("Note").fill("the good one")
    rows.first.get_by_label("Note").press("Tab")
    trimmed = rows.first.get_attribute("data-citation")
    assert trimmed != first
    assert trimmed.split("@")[1].split("-")[0] == start
    tab.page.reload()
    tab.settle()
    assert rows.first.get_attribute("data-citation") == trimmed
    assert rows.first.get_by_label("Note").input_value() == "the good one"
    tab.page.get_by_label("OpenTimelineIO").check()
    tab.page.get_by_label("Handles").fill("0.5")
    tab.page.get_by_label("Handles").press("Tab")
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="Export 3 selects").click()
    name = download.value.suggested_filename
    assert name.endswith(".otio")
    timeline = json.loads(download.value.path().read_bytes())
    assert timeline["OTIO_SCHEMA"].startswith("Timeline")
    assert "the good one" in json.dumps(timeline)
    tab.page.locator(".exported").first.wait_for()
    assert tab.page.locator(".exported").all_inner_texts() == ["exported as otio"] * 3
    rows.first.get_by_role("button", name=re.compile("Remove")).click()
    assert rows.count() == 2


def test_a_page_without_its_token_has_a_field_for_it(
    open_tab: Callable[..., Tab], empty_site_with_token: tuple[str, str]
) -> None:
    address, token = empty_site_with_token
    tab = open_tab(address)
    tab.expected.append("401")
    tab.page.goto(address)
    field = tab.page.get_by_label("Token")
    assert tab.page.get_by_role("alert").count() == 0
    field.fill("wrong")
    field.press("Enter")
    tab.page.get_by_text("not the server's token").wait_for()
    field.fill(token)
    field.press("Enter")
    tab.page.locator("main [data-placeholder=empty]").wait_for()
    assert token not in tab.page.url


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    package = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing"
    )
    return package.Axe().axe_script


def violations(tab: Tab, rules: list[str]) -> list[Any]:
    """Name and places of what axe-core finds."""
    run = "only => axe.run(document, {runOnly: only, resultTypes: ['violations']})"
    found = tab.page.evaluate(run, rules)["violations"]
    return [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in found]


def test_20_24_every_view_is_accessible_in_both_schemes_fits_320_pixels_and_asks_one_origin(
    open_tab: Callable[..., Tab], site: Site, axe: str
) -> None:
    tab = open_tab(site.address, color_scheme="light", reduced_motion="reduce")
    policy = tab.page.goto(site.address).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    add_three(tab)
    found: dict[str, list[Any]] = {}
    for name, place in places(site).items():
        tab.open(place)
        if not tab.page.evaluate("() => 'axe' in window"):
            tab.page.evaluate(axe)
        found[name] = violations(tab, RULES)
        # The scheme changes colours and nothing else.
        tab.page.emulate_media(color_scheme="dark")
        found[name] += violations(tab, ["color-contrast"])
        tab.page.emulate_media(color_scheme="light")
        tab.page.set_viewport_size(NARROW)
        if (width := tab.page.evaluate("() => document.documentElement.scrollWidth")) > NARROW["width"]:
            found[name] += [width]
        tab.page.set_viewport_size(DESKTOP)
    assert {name: problems for name, problems in found.items() if problems} == {}
    # What was asked of whom, and that nothing was refused by the policy, is checked as after every test.
    assert len({request.split("/")[2] for request in tab.requests if request.startswith("http")}) == 1


def test_24_reduced_motion_plays_nothing_by_itself(open_tab: Callable[..., Tab], site: Site) -> None:
    tab = open_tab(site.address, reduced_motion="reduce")
    tab.open(f"#/v/{site.tools}?t=6,11")
    tab.wait("() => document.querySelector('video')?.currentTime >= 6")
    assert tab.page.evaluate("() => document.querySelector('video').paused")


def test_24_a_change_of_view_is_announced_and_the_theme_is_kept(tab: Tab) -> None:
    tab.open("#/search?q=hammer")
    assert re.match(r"\d+ results?,", tab.page.locator("[data-count]").inner_text())
    assert tab.page.locator("[data-count]").get_attribute("aria-live") == "polite"
    tab.page.get_by_role("navigation", name="Views").get_by_role("link", name="Library").click()
    tab.settle()
    assert tab.page.evaluate("() => document.activeElement.textContent") == "Library"
    tab.page.get_by_role("button", name="Colours: system").click()
    tab.page.get_by_role("button", name="Colours: light").click()
    tab.page.reload()
    tab.settle()
    assert tab.page.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == "dark"
