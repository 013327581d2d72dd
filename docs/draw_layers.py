"""Draw the packages and their imports: `python docs/draw_layers.py` writes docs/design/layers.svg.

Rows are the layers of the import-linter contract in pyproject.toml, top to bottom. An arrow means "imports";
it is left out where a longer path of arrows says so. `--check` writes nothing, and the exit status is 1
where the drawing is out of date.
"""

from __future__ import annotations

import sys
import tomllib
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "design" / "layers.svg"
TOP = ("rag._cli", "eval")
WIDTH, ROW, BOX, GAP, HEIGHT, ARROW = 760, 44, 140, 16, 30, 44
COLORS = {
    "rag": "#dbe9f6",
    "eval": "#f6e3cf",
    "indexers": "#dcefdc",
    "localization": "#e6dff2",
    "corpora": "#f3ecc8",
}


def layers() -> list[list[str]]:
    """Modules of each layer, top to bottom, as the contract names them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def imports(units: list[str]) -> set[tuple[str, str]]:
    """Pairs of units of which the first imports the second. A unit holds what is below it and in no other."""
    sys.path.insert(0, str(ROOT))
    graph = grimp.build_graph(*{name.partition(".")[0] for name in units}, cache_dir=None)

    def unit_of(module: str) -> str:
        return max((u for u in units if module == u or module.startswith(f"{u}.")), key=len)

    pairs = {
        (unit_of(module), unit_of(imported))
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
    }
    return {(a, b) for a, b in pairs if a != b}


def reduced(pairs: set[tuple[str, str]], units: list[str]) -> list[tuple[str, str]]:
    """`pairs` without those that follow from others, sorted. `units`: importers before what they import."""
    reach = {a: {b for b in units if (a, b) in pairs} for a in units}
    for a in reversed(units):
        reach[a] |= {far for near in reach[a] for far in reach[near]}
    return sorted((a, b) for a, b in pairs if not any(b in reach[near] for near in reach[a] - {b}))


def svg() -> str:
    rows = layers()
    packages = [*TOP, "rag", "indexers", "localization", "corpora"]
    inner = [row for row in rows if row[0].startswith("rag.") and row[0] not in TOP]
    places: dict[str, tuple[float, float, float, float]] = {}  # x, y, width, height
    y = 10.0
    for row in ([TOP[0]], [TOP[1]], ["rag"], ["indexers", "localization"], ["corpora"]):
        height = len(inner) * ROW + 34 if row == ["rag"] else HEIGHT
        width = 3 * BOX + 4 * GAP if row == ["rag"] else BOX
        left = (WIDTH - len(row) * width - (len(row) - 1) * 6 * GAP) / 2
        for place, name in enumerate(row):
            places[name] = (left + place * (width + 6 * GAP), y, width, height)
        y += height + ARROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y - ARROW + 10:g}" '
        'font-family="sans-serif" font-size="13">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>',
    ]
    for a, b in reduced(imports(packages), packages):
        (ax, ay, aw, ah), (bx, by, bw, _) = places[a], places[b]
        x1, x2 = ax + aw / 2, bx + bw / 2
        if aw > 2 * BOX:  # from below the nearest inner box
            x1 = x2
        lines.append(
            f'<path d="M{x1:g} {ay + ah:g} L{x2:g} {by - 1:g}" stroke="#555" marker-end="url(#tip)"/>'
        )
    for name, place in places.items():
        lines.append(_box(name, *place, top=name == "rag"))
    x0, y0, width, _ = places["rag"]
    for index, row in enumerate(inner):
        left = x0 + (width - len(row) * BOX - (len(row) - 1) * GAP) / 2
        for place, name in enumerate(row):
            top = y0 + 26 + index * ROW
            lines.append(_box(name, left + place * (BOX + GAP), top, BOX, HEIGHT, fill="#ffffff"))
    return "\n".join([*lines, "</svg>", ""])


def _box(
    name: str, x: float, y: float, width: float, height: float, *, top: bool = False, fill: str = ""
) -> str:
    text = y + (18 if top else height / 2 + 5)
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" '
        f'fill="{fill or COLORS[name.partition(".")[0]]}" stroke="#555"/>'
        f'<text x="{x + width / 2:g}" y="{text:g}" text-anchor="middle">{escape(name)}</text>'
    )


def main() -> int:
    image = svg()
    if "--check" in sys.argv[1:]:
        if TARGET.exists() and TARGET.read_text(encoding="utf-8") == image:
            return 0
        print(f"{TARGET.relative_to(ROOT)} is out of date. Write it: make docs", file=sys.stderr)
        return 1
    TARGET.write_text(image, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
