"""Write the images of the README, docs/images/*.webp and docs/start/contact-sheet.png, from `rag demo`.

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

from corpora.outputs import OverwritePolicy
from eval.photographs import demo_questions
from rag import Library
from rag._cli.show import render_sheet

IMAGES = Path(__file__).parent / "images"
SHEET = Path(__file__).parent / "start" / "contact-sheet.png"
SEARCHED = "a rocket"
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
        page.wait_for_function(PLAYS)
        save(page, "ask.webp")
        page.close()
        page = browser.new_page(viewport=SIZE, color_scheme="dark")
        page.goto(f"{address}#/search?q={quote(SEARCHED)}")
        found = page.locator(".card a").first
        found.wait_for()
        page.goto(address + found.get_attribute("href"))
        page.wait_for_function(PLAYS)
        page.get_by_role("button", name="Hits").click()
        page.locator(".hits img").first.wait_for()
        save(page, "video.webp")
        browser.close()


def write_sheet(library: str) -> None:
    """The contact sheet of what the last question is answered by."""
    asked = demo_questions()[-1]
    with Library.open(library) as opened:
        cited = opened.ask(asked.text, options=asked.options).citations[0]
    render_sheet(cited, SHEET, policy=OverwritePolicy(force=True))


def main() -> None:
    """Serve the library that is named on a free port, and photograph it."""
    write_sheet(sys.argv[1])
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
