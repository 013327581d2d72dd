"""A served library, a browser for all tests of the page, and what must be true after each of them."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rag
from rag.server import jobs as jobs_module
from rag.server.security import AccessPolicy, new_token
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.settings import Settings
from tests.fakes.page_world import DESKTOP, Site, Tab, build_page_world
from tests.fakes.served_library import served

CHROMIUM = (
    os.environ.get("RAG_CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
)
# No name resolves but our own: a request to anywhere else fails, and is in the list of requests.
OFFLINE = [
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-background-networking",
    "--disable-component-update",
    "--autoplay-policy=no-user-gesture-required",
]
# Of the videos whose files are gone.
NO_THUMBNAILS = [f"/v1/videos/{32 * digit}/thumbnail" for digit in "01"]
JOB_CHILD = Path(rag.__file__).parent.parent / "tests" / "fakes" / "job_child.py"
LAID_OUT = """
const style = new CSSStyleSheet();
style.replaceSync("* { content-visibility: visible !important }");
document.adoptedStyleSheets.push(style);
"""
"""Cards are laid out as they come in sight; until then their text is empty."""


@pytest.fixture(autouse=True)
def child(monkeypatch) -> None:
    """Jobs run a small program in place of `rag`."""
    monkeypatch.setattr(jobs_module, "COMMAND", (sys.executable, "-S", "-E", str(JOB_CHILD)))


@pytest.fixture(scope="session")
def playwright_api() -> Any:
    """Nothing is made for a browser that is not there."""
    playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium: install chromium-headless-shell, or name one in RAG_CHROMIUM")
    return playwright_api


@pytest.fixture(scope="session")
def site(request, tmp_path_factory) -> Iterator[Site]:
    request.getfixturevalue("playwright_api")
    world = build_page_world(tmp_path_factory.mktemp("page"))
    with served(world.service) as address:
        yield Site(**vars(world), address=address)


@pytest.fixture(scope="session")
def empty_site(tmp_path_factory) -> Iterator[str]:
    """The address of a server over a folder in which nothing is indexed."""
    folder = tmp_path_factory.mktemp("nothing")
    settings = Settings(library=folder / "library")
    with served(Service(settings, LibrarySession(settings), folder / "cache")) as address:
        yield address


@pytest.fixture
def empty_site_with_token(tmp_path) -> Iterator[tuple[str, str]]:
    """The same behind a token, and the token."""
    settings, token = Settings(library=tmp_path / "library"), new_token()
    service = Service(settings, LibrarySession(settings), tmp_path / "cache")
    with served(service, AccessPolicy(token=token)) as address:
        yield address, token


# Playwright's event loop runs in the thread of the tests while it is open; other files need their own.
@pytest.fixture(scope="module")
def browser(playwright_api: Any) -> Iterator[Any]:
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
        yield browser
        browser.close()


@pytest.fixture
def open_tab(browser: Any) -> Iterator[Callable[..., Tab]]:
    """Opens tabs; after the test each has asked our server only, and its console holds no error."""
    contexts, tabs = [], []

    def open_tab(address: str, **options: Any) -> Tab:
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        context.add_init_script(LAID_OUT)
        context.set_default_timeout(20_000)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab = Tab(context.new_page(), address, [], [], [*NO_THUMBNAILS])
        tab.page.on("request", lambda request: tab.requests.append(request.url))
        tab.page.on(
            "console",
            lambda line: tab.messages.append(f"{line.type}: {line.text} {line.location.get('url')}"),
        )
        tab.page.on("pageerror", lambda error: tab.messages.append(f"error: {error}"))
        contexts.append(context)
        tabs.append(tab)
        return tab

    yield open_tab
    for context in contexts:
        context.close()
    for tab in tabs:
        foreign = [url for url in tab.requests if not url.startswith((tab.address, "blob:", "data:"))]
        assert foreign == []
        unexpected = [
            line
            for line in tab.messages
            if line.startswith(("error", "warning")) and not any(part in line for part in tab.expected)
        ]
        assert unexpected == []


@pytest.fixture
def tab(open_tab: Callable[..., Tab], site: Site) -> Tab:
    return open_tab(site.address)
