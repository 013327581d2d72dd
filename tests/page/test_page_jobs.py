"""The page, jobs: behaviours 14 and 15 of a folder that is added."""

from collections.abc import Callable
from typing import Any

from tests.fakes.page_world import Site, Tab

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
    assert "10 s of media: about 4 s, and 1.0 kB on disk" in job(tab).inner_text()
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
        running.get_by_text("3 s of 10 s of media").wait_for()
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
