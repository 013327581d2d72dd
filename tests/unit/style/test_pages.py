"""Paths and links in the documentation lead to what exists, and its commands are taken."""

import re
from pathlib import Path

import pytest
import typer

from rag._cli.commands import app
from tests.fakes.pages import PAGES, commands, printed
from tests.fakes.sources import FOLDERS, PACKAGES, ROOT, sources, tracked

PATH_NAMED = re.compile(
    r"(?<![\w/.-])(?:rag|corpora|indexers|localization|eval|benchmarks|tests|docs)/[\w/.-]*\w"
)
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!\\)\]\(<?([^)<>\s]+)>?(?: \"[^\"]*\")?\)|(?:src|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)


def _missing_paths(text: str) -> list[str]:
    """Paths of the repository that a page names and that do not exist, unless their line says *planned*."""
    named = {path for line in text.splitlines() if "lanned" not in line for path in PATH_NAMED.findall(line)}
    return sorted(path for path in named if not (ROOT / path).exists())


def _anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = [
        re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in HEADING.findall(FENCE.sub("", page))
    ]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _broken_links(page: Path, text: str) -> list[str]:
    broken = []
    for match in LINK.finditer(FENCE.sub("", text)):
        target = match[1] or match[2]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page if not name else page.parent / name
        if not file.exists() or (
            anchor and file.suffix == ".md" and anchor not in _anchors(file.read_text(encoding="utf-8"))
        ):
            broken.append(target)
    return broken


def test_a_missing_path_is_found() -> None:
    text = "see `rag/answering.py`, rag/no_such.py and `corpora/gone/`"
    assert _missing_paths(text) == ["corpora/gone", "rag/no_such.py"]
    assert _missing_paths("`rag/web/` (*planned*)") == []


def test_pages_and_sources_name_paths_that_exist() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "docs/design/architecture.md"):
        page = (ROOT / name).read_text(encoding="utf-8")
        assert len(PATH_NAMED.findall(page)) > 2
        assert _missing_paths(page) == []
    missing = {name: _missing_paths(source) for name, source in sources(*PACKAGES, "benchmarks")}
    assert {name: paths for name, paths in missing.items() if paths} == {}


def test_a_broken_link_is_found(tmp_path) -> None:
    page = tmp_path / "page.md"
    text = (
        "# One `two`, three\n[a](page.md#one-two-three) [b](#one-two-three) [c](https://example.org/gone)\n"
    )
    page.write_text(text, encoding="utf-8")
    assert _broken_links(page, text) == []
    text += '[d](gone.md) [e](#gone) [f](page.md#gone) <img src="gone.png">\n```\n[g](in-code.md)\n```\n'
    assert _broken_links(page, text) == ["gone.md", "#gone", "page.md#gone", "gone.png"]


def test_every_internal_link_resolves() -> None:
    pages = tracked(".md")
    assert len(pages) > 15
    broken = {name: _broken_links(ROOT / name, (ROOT / name).read_text(encoding="utf-8")) for name in pages}
    assert {name: links for name, links in broken.items() if links} == {}


def test_the_repository_layout_names_every_folder() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = page.split("## Repository layout")[1].split("```")[1]
    named = set(re.findall(r"^ *(\w+)/ ", tree, flags=re.MULTILINE))
    folders = {path.parent.name for part in ("rag", "eval") for path in (ROOT / part).glob("*/__init__.py")}
    folders |= {"workbench", "bundled"}
    assert named == folders | {*FOLDERS, "docs"}


def refusal(words: list[str]) -> str | None:
    """Why the command line refuses these words; None where it takes them. Nothing is run."""
    command, context = typer.main.get_command(app), None
    try:
        while isinstance(command, typer.core.TyperGroup) and words and not words[0].startswith("-"):
            context = typer.Context(command, info_name="rag", parent=context)
            _, found, words = command.resolve_command(context, words)
            assert found is not None
            command = found
        command.make_context("rag", list(words), parent=context)
    except typer.TyperException as error:
        return error.format_message()
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_the_pages_are_taken(page: Path) -> None:
    assert {str(each): why for each in printed(page) if (why := refusal(each.words))} == {}


def test_a_command_that_is_none_is_found() -> None:
    text = "rag serach dog\nFOO=1 rag index \\\n    --no-such DIR\n"
    text += "rag search 'a; dog' --json > a.json | rag stats  # all\n"
    found = list(commands(text))
    assert [refusal(each.words) is None for each in found] == [False, False, True, True]
    assert "serach" in str(refusal(found[0].words))
    assert "--no-such" in str(refusal(found[1].words))
    assert (found[1].environment, found[2].into, found[3].piped) == ({"FOO": "1"}, "a.json", True)
    assert str(found[2]) == "search 'a; dog' --json"
