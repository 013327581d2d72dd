"""Write the screenshots of the README, docs/images/*.webp, from the library that `rag demo` makes.

Needs the extra `serve`, playwright and Chromium (`RAG_CHROMIUM`, or chromium-headless-shell on the path):

    .venv/bin/rag demo && .venv/bin/python docs/write_screenshots.py demo/.rag
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import sync_playwright

from eval.workbench.demo import demo_questions

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1280, "height": 860}
CHROMIUM = os.environ.get("RAG_CHROMIUM") or shutil.which("chromium-headless-shell")
LOADED = "() => [...document.images].every(image => image.complete)"
PLAYS = "() => document.querySelector('video')?.currentTime > 0"


def save(page: Any, name: str) -> None:
    """The window as WebP."""
    page.wait_for_function(LOADED)
    page.wait_for_timeout(2500)
    Image.open(io.BytesIO(page.screenshot())).save(IMAGES / name, quality=82, method=6)
    print(f"{name}: {(IMAGES / name).stat().st_size / 1000:.0f} kB")


def write(address: str) -> None:
    """Both screenshots, of the page at `address`."""
    IMAGES.mkdir(exist_ok=True)
    question = demo_questions()[0]
    options = "".join(f"&o={quote(option)}" for option in question.options)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page(viewport=SIZE)
        page.goto(f"{address}#/ask?q={quote(question.text)}{options}")
        page.locator("article.answer").wait_for(timeout=120_000)
        cited = page.locator(".citations .card a").first.get_attribute("href")
        page.wait_for_function(PLAYS)
        save(page, "ask.webp")
        page.close()
        page = browser.new_page(viewport=SIZE, color_scheme="dark")
        window = cited.split("&q=")[0]
        page.goto(f"{address}{window}&q={quote('a plate on the scale')}")
        page.wait_for_function(PLAYS)
        page.get_by_role("button", name="Hits").click()
        page.locator(".hits img").first.wait_for()
        save(page, "video.webp")
        browser.close()


def main() -> None:
    """Serve the library that is named on a free port, and photograph it."""
    command = ["rag", "serve", "--library", sys.argv[1], "--port", "0"]
    command[0] = str(Path(sys.executable).with_name("rag"))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            write(server.stdout.readline().strip())
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
