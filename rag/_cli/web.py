"""`rag web`: build a frozen web of videos and pages, and serve it to browsers and other people's agents."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpora.escaping import visible
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr, print_lines
from rag._cli.session import Force, Host, Port, Session, given_path, with_session
from rag.rendering.terminal import counted

if TYPE_CHECKING:
    from rag.web.building import BuildReport

app = typer.Typer(
    help="Build and serve a frozen web of videos and pages; fetch alone visits the live web.",
    rich_markup_mode=None,
)


@app.command("build")
@with_session({"library": "library"}, without=("library",))
def build(
    session: Session,
    folder: Annotated[Path, argument("DIR", "Where the web goes.", parser=given_path)],
    sources: Annotated[
        list[Path] | None,
        argument(
            "[SOURCE]...",
            "Videos with or without .info.json, JSON lines about videos, documents; folders of them.",
            show_default=False,
        ),
    ] = None,
    library: Annotated[Path | None, option("--library DIR", "Also all that this library holds.")] = None,
    force: Force = False,
) -> int:
    """Write web.jsonl and pages.jsonl into DIR. Files are named in them, not copied."""
    policy = session.overwrite_policy(force, *(sources or ()))
    from rag.web.building import build_web

    def report_path(path: str) -> None:
        if session.verbose:
            echo_stderr(path)

    if library is None:
        report = build_web(folder, sources or [], progress=report_path, policy=policy)
    else:
        with session.open_library() as opened:
            report = build_web(folder, sources or [], library=opened, progress=report_path, policy=policy)
    for problem in report.problems:
        echo_stderr(f"{problem.path}: {problem.reason}")
    session.report("rag.web.build/1", report, _built(report))
    return report.exit_code


@app.command("fetch")
@with_session(without=("library", "config", "verbose"))
def fetch(
    session: Session,
    lists: Annotated[
        list[Path],
        argument("LIST...", "Files with addresses of videos: published rows, pools, or an address a line."),
    ],
    out: Annotated[Path, option("--out DIR", "Where the videos go.", parser=given_path)],
    height: Annotated[int, option("--height N", "Lines of a picture, at most.", min=1)] = 720,
) -> int:
    """Download the videos that published lists name, by yt-dlp.

    It is the one command that visits the live web. The same command continues where it stopped;
    DIR/.gone.jsonl lists what could not be had.
    """
    from rag.web.fetching import GONE, fetch_videos

    def report_address(number: int, count: int, url: str) -> None:
        echo_stderr(f"{number} of {count}: {visible(url)}")

    report = fetch_videos(out, lists, height=height, progress=report_address)
    for gone in report.gone:
        echo_stderr(visible(f"{gone.path}: {gone.reason}"))
    lines = [
        f"{counted(report.fetched, 'video')} downloaded, {report.kept} there already, {len(report.gone)} of "
        f"{report.listed} not to be had" + (f" ({report.folder}/{GONE})" if report.gone else ""),
        f"make a web of it with: rag web build WEB {report.folder}",
    ]
    session.report("rag.web.fetch/1", report, lines)
    return report.exit_code


@app.command("serve")
@with_session(without=("library", "as_json"))
def serve(
    session: Session,
    folder: Annotated[Path, argument("DIR", "A web's folder, with its web.jsonl.")],
    host: Host = "127.0.0.1",
    port: Port = 8640,
) -> int:
    """Serve the web in DIR over HTTP.

    As the YouTube Data API v3 and serper.dev, with watch pages and media. Prints its base
    URL on stdout, and with -v every request on stderr; runs until it is interrupted.
    """
    from rag.listening import is_loopback, require_serving

    require_serving()
    from rag.web import open_web
    from rag.web.serving.app import serve as run

    if not is_loopback(host):
        echo_stderr(f"rag: {host}: every machine that reaches this address can use the web and its videos")
    web = open_web(os.fspath(folder), encoder=session.settings.encoder)
    run(web, host, port, started=lambda base: print_lines([base]), verbose=session.verbose > 0)
    return 0


def _built(report: BuildReport) -> Iterator[str]:
    yield (
        f"{counted(report.videos, 'video')} ({report.with_file} to download, {report.with_transcript} with "
        f"transcript, {report.aliases} re-uploads) and {counted(report.pages, 'page')} of text"
    )
    yield f"serve it with: rag web serve {report.folder}"
