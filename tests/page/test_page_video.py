"""The page, a video: behaviours 1, 4, 9, 11, 12 and 13 of the player and its time axis."""

import re
from collections.abc import Callable
from typing import Any

from tests.fakes.page_world import Site, Tab

TIME = "() => document.querySelector('video').currentTime"
READY = "() => document.querySelector('video')?.readyState >= 2"


def at(tab: Tab) -> float:
    """Where the element is, seconds."""
    return tab.page.evaluate(TIME)


def open_tools(tab: Tab, site: Site, more: str = "") -> None:
    """The video of tools, paused."""
    tab.open(f"#/v/{site.tools}{more}")
    tab.wait(READY)
    tab.page.evaluate("() => document.querySelector('video').pause()")


def test_4_the_curve_of_the_query_covers_the_whole_video_and_keys_reach_its_peaks(
    tab: Tab, site: Site
) -> None:
    open_tools(tab, site, "?q=hammer")
    tab.wait("() => document.querySelector('.curve .line').getAttribute('d').length > 10")
    points = tab.page.locator(".curve .line").get_attribute("d").strip("M").split("L")
    first, last = float(points[0].split()[0]), float(points[-1].split()[0])
    assert first < 40
    assert last > 950
    label = tab.page.locator(".curve").get_attribute("aria-label")
    assert "highest at" in label
    assert "%" not in label
    tab.page.locator("h1").focus()
    tab.page.keyboard.press("]")
    tab.page.locator(".axis .window").wait_for()
    reached = tab.place
    tab.page.keyboard.press("]")
    tab.wait("before => location.hash !== before", reached)
    tab.page.get_by_role("button", name="Hits").click()
    ranks = tab.page.locator(".hits .rank").all_inner_texts()
    assert ranks[:2] == ["1", "2"]
    assert tab.page.locator(".hits .score").count() == 0


def test_a_marked_window_stays_when_the_state_of_the_server_changes(tab: Tab, site: Site) -> None:
    health = tab.page.request.get(f"{site.address}/v1/health").json() | {"models": "loading"}
    tab.page.route("**/v1/health", lambda route: route.fulfill(json=health))
    open_tools(tab, site)
    tab.page.locator("h1").focus()
    for time, key in ((3, "i"), (7, "o")):
        tab.page.evaluate(f"() => {{ document.querySelector('video').currentTime = {time} }}")
        tab.page.keyboard.press(key)
    length = tab.page.locator(".length", has_text="4 s")
    length.wait_for()
    health["models"] = "ready"
    tab.page.locator(".models").wait_for(state="detached")
    assert length.count() == 1


def test_9_sound_without_images_is_replaced_by_a_cut_of_the_window(tab: Tab, site: Site) -> None:
    tab.open(f"#/v/{site.hevc}?t=1,4")
    tab.wait("() => document.querySelector('video')?.videoWidth > 0")
    assert "/clip?start=1&end=4" in tab.page.evaluate("() => document.querySelector('video').src")
    reason = tab.page.locator(".reason")
    assert "hevc" in reason.inner_text()
    assert "Only the window plays" in reason.inner_text()
    # The clock is the file's, though the clip begins at 0.
    assert 0.9 <= float(tab.page.locator(".now").inner_text().split(":")[1]) < 4.1


def test_9_a_container_that_is_refused_is_cut_where_it_is_looked_at(tab: Tab, site: Site) -> None:
    tab.open(f"#/v/{site.mpeg4}")
    tab.wait("() => document.querySelector('video')?.videoWidth > 0")
    assert "/clip?start=0" in tab.page.evaluate("() => document.querySelector('video').src")


def test_1_a_video_of_the_library_leads_back_to_the_library(tab: Tab, site: Site) -> None:
    tab.open("#/library/videos?text=tools")
    tab.page.locator(f".card [href='#/v/{site.tools}']").first.click()
    tab.page.get_by_role("link", name="Back to the library").click()
    tab.settle()
    assert tab.place == "#/library/videos?text=tools"


def test_9_a_file_that_is_gone_says_so(tab: Tab, site: Site) -> None:
    tab.expected.append(site.gone)
    tab.open(f"#/v/{site.gone}")
    reason = tab.page.locator(".reason.failed")
    reason.wait_for()
    assert "gone.mp4: no longer exists; index the folder it was moved to" in reason.inner_text()
    assert reason.get_by_role("link").count() == 0


def test_9_a_file_that_does_not_play_shows_its_frame_though_its_subtitles_changed(
    tab: Tab, site: Site
) -> None:
    address = f"{site.address}/v1/videos/{site.tools}"
    changed = tab.page.request.get(address).json() | {"state": "changed"}
    tab.page.route(address, lambda route: route.fulfill(json=changed))
    for way in ("file", "remux", "clip*"):
        tab.page.route(f"{address}/{way}", lambda route: route.fulfill(body="", content_type="video/mp4"))
    tab.open(f"#/v/{site.tools}?t=3,5")
    link = tab.page.locator(".reason.failed").get_by_role("link", name="Look at the frame")
    link.wait_for()
    frame = tab.page.request.get(f"{site.address}{link.get_attribute('href')}")
    assert (frame.status, frame.headers["content-type"]) == (200, "image/jpeg")


def test_11_the_keyboard_does_what_the_sheet_says_and_every_key_has_a_control(tab: Tab, site: Site) -> None:
    open_tools(tab, site, "?q=hammer")
    page, press = tab.page, tab.page.keyboard.press
    page.locator("h1").focus()
    press(".")
    tab.wait(f"() => Math.abs(({TIME})() - 0.15) < 0.02")
    press(".")
    press(",")
    tab.wait(f"() => Math.abs(({TIME})() - 0.15) < 0.02")
    press("l")
    tab.wait("() => !document.querySelector('video').paused")
    press("l")
    assert page.evaluate("() => document.querySelector('video').playbackRate") == 2
    press("k")
    assert page.evaluate("() => document.querySelector('video').paused")
    page.evaluate("() => { document.querySelector('video').currentTime = 10 }")
    press("j")
    tab.wait(f"() => ({TIME})() < 9.8")
    press("k")
    page.evaluate("() => { document.querySelector('video').currentTime = 3 }")
    press("i")
    page.evaluate("() => { document.querySelector('video').currentTime = 7 }")
    press("o")
    assert "t=3,7" in tab.place
    press("s")
    page.get_by_role("button", name="Selected").wait_for()
    press("m")
    page.get_by_role("button", name="Mute", pressed=True).click()
    page.get_by_role("button", name="Mute", pressed=False).wait_for()
    press("c")
    page.get_by_role("button", name="Captions", pressed=True).wait_for()
    assert page.evaluate("() => document.querySelector('video').textTracks[0].mode") == "showing"
    press("?")
    sheet = page.get_by_role("dialog")
    assert {"J", "K", "L", ",", ".", "[", "]", "I", "O", "S", "M", "C", "F", "/", "?"} <= set(
        sheet.locator("kbd").all_inner_texts()
    )
    sheet.get_by_role("button", name="Close").click()
    for name in ("Backwards", "Pause|Play", "Faster", "One frame back", "One frame on", "Previous hit"):
        assert page.get_by_role("button", name=name.split("|")[-1]).count() >= 1
    for name in (
        "Next hit",
        "Window starts here",
        "Window ends here",
        "Selected",
        "Keys and help",
        "Full screen",
    ):
        assert page.get_by_role("button", name=name).count() == 1


def test_11_keys_do_nothing_while_typing_and_can_be_turned_off(tab: Tab, site: Site) -> None:
    open_tools(tab, site)
    tab.page.get_by_role("link", name="Back").focus()
    tab.page.keyboard.press("Tab")
    # The browser's own controls are no stops.
    assert tab.page.evaluate("() => document.activeElement.closest('.transport') !== null")
    field = tab.page.get_by_role("searchbox", name="Find in this video")
    field.press_sequentially("look . i")
    assert field.input_value() == "look . i"
    assert at(tab) == 0
    assert tab.page.locator(".axis .window").count() == 0
    tab.page.get_by_role("button", name="Keys and help").click()
    tab.page.get_by_label("Single keys are on").uncheck()
    tab.page.get_by_role("button", name="Close").click()
    tab.page.locator("h1").focus()
    tab.page.keyboard.press("i")
    assert tab.page.locator(".axis .window").count() == 0


def test_12_the_axis_has_shots_hits_chapters_speech_and_text(tab: Tab, site: Site) -> None:
    open_tools(tab, site, "?q=hammer")
    tab.wait("() => document.querySelector('.curve .hit').getAttribute('d').length > 5")
    assert tab.page.locator(".track.shots svg").get_attribute("aria-label") == "4 shots"
    assert tab.page.locator(".chapters button").all_inner_texts() == ["Tools", "Kitchen"]
    assert [track.split(":")[0] for track in text_tracks(tab)] == ["Speech", "On screen"]
    tab.page.get_by_role("button", name="Kitchen").click()
    tab.wait(f"() => Math.abs(({TIME})() - 12) < 0.1")


def text_tracks(tab: Tab) -> list[str]:
    """The names of the tracks of text."""
    found = tab.page.locator(".track.text svg")
    return [found.nth(index).get_attribute("aria-label") for index in range(found.count())]


def test_12_a_press_on_the_axis_seeks_and_the_transcript_follows_and_seeks(tab: Tab, site: Site) -> None:
    open_tools(tab, site)
    box = tab.page.locator(".axis").bounding_box()
    tab.page.mouse.click(box["x"] + box["width"] * 8 / 24, box["y"] + box["height"] - 30)
    tab.wait(f"() => Math.abs(({TIME})() - 8) < 0.2")
    line = tab.page.locator(".transcript [aria-current]")
    line.wait_for()
    assert "BERYLLIUM" in line.inner_text() or "beryllium" in line.inner_text()
    tab.page.locator(".transcript button", has_text="Put the hammer back").click()
    tab.wait(f"() => Math.abs(({TIME})() - 18) < 0.1")
    assert "Put the hammer back" in tab.page.locator(".transcript [aria-current]").inner_text()


def test_the_transcript_is_of_one_track_of_subtitles_at_first(tab: Tab, site: Site) -> None:
    tracks = {
        "en": {"source": ".en.srt", "language": "en"},
        "de": {"language": "de", "hearing_impaired": True},
    }
    said = [("Lift the lid.", "en"), ("Deckel auf. [Klick]", "de"), ("Pour slowly.", "en")]
    lines = [
        {"kind": "subtitle", "start": at, "end": at + 1, "text": text, "track": tracks[code]}
        for at, (text, code) in enumerate(said)
    ]
    shape = {"evidence": lines, "next": None}
    tab.page.route(f"**/v1/videos/{site.tools}/evidence*", lambda route: route.fulfill(json=shape))
    open_tools(tab, site)
    shown = tab.page.locator(".transcript li")
    assert ["Lift" in line or "Pour" in line for line in shown.all_inner_texts()] == [True, True]
    tab.page.get_by_label("Subtitle, German, for the hearing impaired").check()
    assert "Deckel auf. [Klick]" in shown.nth(1).inner_text()
    assert shown.count() == 3


def test_12_handles_trim_the_window(tab: Tab, site: Site) -> None:
    open_tools(tab, site, "?t=6,12")
    handle = tab.page.get_by_role("slider", name="Start of the window")
    box = handle.bounding_box()
    axis = tab.page.locator(".axis").bounding_box()
    tab.page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 40)
    tab.page.mouse.down()
    tab.page.mouse.move(axis["x"] + axis["width"] * 9 / 24, box["y"] + 40, steps=3)
    tab.page.mouse.up()
    start = float(tab.place.split("t=")[1].split(",")[0])
    assert abs(start - 9) < 0.2
    # The image followed the side that was dragged.
    tab.wait(f"start => Math.abs(({TIME})() - start) < 0.1", start)
    handle.press("ArrowLeft")
    assert abs(float(tab.place.split("t=")[1].split(",")[0]) - (start - 0.1)) < 0.001
    handle.press("Home")
    assert tab.place.endswith("t=0,12")
    # A side that is not in the view has no handle.
    for _ in range(3):
        tab.page.get_by_role("button", name="Zoom in").click()
    assert tab.page.get_by_role("slider", name="Start of the window").count() == 0
    for _ in range(3):
        tab.page.get_by_role("button", name="Zoom out").click()
    tab.page.get_by_role("slider", name="End of the window").press("End")
    assert abs(float(tab.place.split(",")[-1]) - 24) < 0.2


def test_12_hovering_scrubs_and_the_frames_come_on_demand(tab: Tab, site: Site) -> None:
    tab.open("#/search?q=beryllium&kind=video")
    shot = tab.page.locator(f"[data-citation^='{site.tools}@'] .shot").first
    box = shot.bounding_box()
    tab.page.mouse.move(box["x"] + 5, box["y"] + 20)
    tab.wait("() => document.querySelector('.shot.scrubbing')")
    tab.page.mouse.move(box["x"] + box["width"] * 0.93, box["y"] + 20)
    tab.wait(
        "() => { const image = document.querySelector('.scrubbing .under');"
        " return image.complete && image.naturalWidth && image.src.endsWith('t=22.2') }"
    )
    open_tools(tab, site)
    tab.page.get_by_role("button", name="Frames").click()
    frames = tab.page.locator(".board button")
    frames.first.wait_for()
    assert frames.count() > 2
    frames.last.click()
    tab.wait(f"() => ({TIME})() > 15")
    assert float(tab.page.evaluate(f"() => ({TIME})()")) <= 24


def test_13_links_citations_and_times_are_copied(tab: Tab, site: Site) -> None:
    open_tools(tab, site, "?t=6.5,11.25&q=hammer")
    copied = []
    for what in ("link", "citation", "times"):
        tab.page.get_by_role("button", name=f"Copy {what}").click()
        tab.page.get_by_text(f"{what.capitalize()} copied: ").wait_for()
        copied.append(tab.page.evaluate("() => navigator.clipboard.readText()"))
    link, citation, times = copied
    assert link == f"{site.address}/#/v/{site.tools}?t=6.5,11.25&q=hammer"
    assert citation == f"{site.tools}@6.5-11.25"
    assert times == "0:06.500 - 0:11.250"


def test_13_a_link_opens_the_moment_in_another_browser(open_tab: Callable[..., Tab], site: Site) -> None:
    tab = open_tab(site.address)
    tab.open(f"#/v/{site.tools}?t=6.5,11.25")
    tab.wait("() => document.querySelector('video')?.currentTime >= 6.4")
    assert tab.page.get_by_label("In", exact=True).input_value() == "0:06.50"
    assert tab.page.get_by_label("Out", exact=True).input_value() == "0:11.25"


def test_a_photograph_is_an_image_without_times(tab: Tab, site: Site) -> None:
    def photograph(route: Any) -> None:
        route.fulfill(
            json=route.fetch().json() | {"duration": 0.04, "media": {"play": "clip", "reason": "one"}}
        )

    tab.page.route(f"**/v1/videos/{site.tools}", photograph)
    tab.page.route("**/evidence*", lambda route: route.fulfill(json={"evidence": [], "next": None}))
    tab.open(f"#/v/{site.tools}?t=0,0.04")
    tab.wait("() => document.querySelector('video')?.poster")
    video = tab.page.locator("video")
    assert [video.get_attribute(name) for name in ("aria-label", "src", "controls")] == [
        "Photograph",
        None,
        None,
    ]
    tab.page.get_by_role("button", name="About").click()
    shown = tab.page.locator("main").inner_text()
    assert not re.search(r"\d:\d\d|\d s\b|frames/s|cut", shown), shown
    assert "More like this" in shown
