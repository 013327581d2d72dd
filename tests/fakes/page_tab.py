"""A tab of a browser on the served page, and where that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.fakes.page_world import PageWorld

DESKTOP = {"width": 1280, "height": 900}


@dataclass
class Site(PageWorld):
    """The world, where it is served."""

    address: str = ""


@dataclass
class Tab:
    """A tab of the browser, and what it did."""

    page: Any
    address: str
    requests: list[str]
    messages: list[str]
    expected: list[str]
    """Parts of console messages that a test causes itself."""

    def open(self, place: str = "") -> None:
        """Open an address of the page, `#/search?q=lamp`, and wait until nothing loads."""
        self.page.goto(f"{self.address}/{place}")
        self.settle()

    def settle(self) -> None:
        """Wait until the view is rendered and nothing in it loads."""
        self.page.wait_for_function(
            "() => document.querySelector('main')?.childElementCount"
            " && !document.querySelector('main [data-placeholder=loading]')"
        )

    def wait(self, condition: str, given: Any = None) -> None:
        """Wait for a function of JavaScript, `() => ...`: the policy refuses strings."""
        self.page.wait_for_function(condition, arg=given)

    @property
    def place(self) -> str:
        """The part of the address that is the state of the view."""
        return self.page.evaluate("() => location.hash")
