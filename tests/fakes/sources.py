"""The repository's own sources, for the tests that check them."""

import ast
import pkgutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("rag", "indexers", "corpora", "localization", "eval")
FOLDERS = (*PACKAGES, "tests", "benchmarks", "training")


def sources(*folders: str) -> Iterator[tuple[str, str]]:
    """Path relative to the root, and text, of every Python file under these folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


@cache
def statements(source: str) -> tuple[ast.stmt, ...]:
    """Every statement of the syntax tree, at any depth, found once in each process."""
    found: list[ast.AST] = [ast.parse(source)]
    for node in found:
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, block, ())
            found += inner if isinstance(inner, list) else ()
    return tuple(node for node in found if isinstance(node, ast.stmt))


def tracked(*suffixes: str) -> list[str]:
    """Every tracked or new file that git does not ignore and whose name ends so."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted({name for name in names if name.endswith(suffixes) and (ROOT / name).is_file()})


def module_names() -> list[str]:
    """Every importable module of the packages."""
    return [
        found.name
        for package in PACKAGES
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}.", onerror=lambda _: None)
    ]
