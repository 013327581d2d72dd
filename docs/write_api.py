"""Write docs/reference/api.md from the docstrings of `rag`'s exports: `python docs/write_api.py [--check]`.

With `--check` nothing is written, and the exit status is 1 where the page is out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import griffe
from griffe2md import ConfigDict, render_object_docs

import rag
from rag import errors

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "reference" / "api.md"
HEAD = """# API reference

Everything that `rag` exports. Generated from the docstrings by `make docs`; do not edit.

"""
CONFIG = ConfigDict(
    heading_level=2,
    docstring_section_style="list",
    inherited_members=False,
    line_length=88,
    members_order="source",
    separate_signature=True,
    show_root_full_path=False,
    show_root_heading=True,
    show_signature_annotations=True,
    show_submodules=False,
    summary=False,
    filters=["!^_"],
)


@cache
def visit(module: str) -> griffe.Module:
    """A module of the tree, read once."""
    path = (ROOT / module.replace(".", "/")).with_suffix(".py")
    path = path if path.exists() else path.with_suffix("") / "__init__.py"
    return griffe.visit(module, filepath=path, code=path.read_text(encoding="utf-8"))


def load(module: str, name: str) -> griffe.Object:
    """An object from the module that defines it."""
    found = visit(module).members[name]
    if isinstance(found, griffe.Alias):
        target, _, name = found.target_path.rpartition(".")
        return load(target, name)
    return found


def error_lines(kind: type, depth: int = 0) -> Iterator[str]:
    """A kind of errors, and those below it, each with the first line of its docstring."""
    first = (kind.__doc__ or "").strip().splitlines()[0]
    yield f"{'    ' * depth}{kind.__name__:<{40 - 4 * depth}} {first}"
    for below in vars(errors).values():
        if isinstance(below, type) and kind in below.__bases__:
            yield from error_lines(below, depth + 1)


def page() -> str:
    """The page: one section for every object, sorted by name."""
    exports = [(module, name) for module, names in rag._MODULES.items() for name in names.split()]
    objects = [load(module, name) for module, name in exports if module != "rag"]
    sections = [
        render_object_docs(each, CONFIG).strip() for each in sorted(objects, key=lambda one: one.name)
    ]
    tree = "\n".join(error_lines(errors.RagError))
    sections.append(f"## Errors\n\n`rag.errors`:\n\n```text\n{tree}\n```")
    # Links to the pages of other projects lead nowhere here.
    return re.sub(r"\[([^\]]+)\]\(#[\w.]+\)", r"\1", HEAD + "\n\n".join(sections) + "\n")


def main() -> int:
    made = page()
    if "--check" in sys.argv[1:]:
        if TARGET.exists() and TARGET.read_text(encoding="utf-8") == made:
            return 0
        print(f"{TARGET.relative_to(ROOT)} is out of date: write it with `make docs`", file=sys.stderr)
        return 1
    TARGET.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
