"""docs/reference/settings.md, made from the settings model itself; a test compares, so the page cannot rot.

Write it anew with `python -m rag._cli.settings_page > docs/reference/settings.md`.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import sys
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from rag.settings import Settings

FLAGS = {
    "library": "--library",
    "seed": "--seed",
    "scan.include": "--include",
    "scan.exclude": "--exclude",
    "search.top_k": "--top-k",
    "search.threshold": "--threshold",
    "reasoner.record": "--record",
    "reasoner.replay": "--replay",
}
"""Settings that have a flag of their own."""

_UNITS = {
    "seconds": "seconds",
    "rate": "frames a second",
    "short_side": "pixels",
    "frame_budget": "frames",
    "batch": "images",
    "top_k": "clips",
    "max_calls": "calls",
    "max_tokens": "tokens",
    "total_tokens": "tokens",
}
"""By the end of a setting's name; one without any is a plain number, a word or a path."""

_HEAD = """# Settings

Made by `python -m rag._cli.settings_page > docs/reference/settings.md`; a test compares the two.

Defaults are overruled by `rag.toml` (in the working directory, or the file that `--config` names), that by
the environment, that by flags. An unknown name is refused in each of them. In the file, a section is a table:

```toml
seed = 1

[search]
top_k = 8
```

In the environment lists are JSON: `RAG_SCAN__EXCLUDE='["drafts/*"]'`.
"""

_SECTIONS = {
    "scan": "Which files are taken",
    "video": "How videos are decoded and cut",
    "encoder": "What pictures and sentences are encoded with",
    "ocr": "Text on the screen",
    "asr": "Speech",
    "search": "Retrieval and the threshold of answering",
    "localize": "Windows inside clips",
    "reasoner": "Who plays the roles: rewriting, planning, watching, answering, judging",
    "reasoner.planner": "A model of its own for planning",
    "reasoner.watcher": "A model of its own for looking at frames",
    "reasoner.judge": "A model of its own for judging answers",
}

_NOTES = {
    "reasoner": """
A language model on this machine, behind any OpenAI-compatible server (llama.cpp, Ollama, vLLM, LM Studio):

```toml
[reasoner]
kind = "openai"
base_url = "http://127.0.0.1:11434/v1"
model = "the name that the server lists"
```

Give the server a context that holds a question: five windows of 15 frames at 336 pixels are about 20,000
tokens (a patch of 28 x 28 pixels counted as one), and some servers cut a longer prompt without a word. Fewer
frames: `localize.frame_budget`. A model that reads words only takes `images = false`.

A model in this process; only safetensors are read, and no code that comes with the weights is run:

```toml
[reasoner]
kind = "transformers"
model = "/models/a-vision-language-model"
```

Planning (rewriting, facets, queries, plans, picking results), looking (locating, observing, timelines,
checking videos and frames) and judging may each have a model of their own; answering is done by the one of
`[reasoner]`:

```toml
[reasoner.planner]
model = "a larger model that reads words only"
images = false
```
"""
}
"""What stands below a section's table."""


@dataclass(frozen=True)
class Row:
    """One setting; every field in words, ready to print."""

    name: str
    """Dotted, as in `search.top_k`."""
    default: str
    unit: str
    allowed: str
    environment: str
    flag: str
    about: str


def rows() -> Iterator[Row]:
    """Every setting, in the order of the model."""
    yield from _rows_of(Settings, "")


def markdown() -> str:
    """The page: one table for the settings of a run, one for each section."""
    titles = {"": "Of every run", **_SECTIONS}
    tables: dict[str, list[Row]] = {}
    for row in rows():
        tables.setdefault(row.name.rpartition(".")[0], []).append(row)
    sections = (
        _table(section, titles[section], held) + _NOTES.get(section, "") for section, held in tables.items()
    )
    return _HEAD + "".join(sections)


def _table(section: str, title: str, held: list[Row]) -> str:
    heading = f"`{section}`: {title[0].lower()}{title[1:]}" if section else title
    lines = [
        f"\n## {heading}\n",
        "| setting | default | unit | allowed | environment | flag | |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in held:
        flag = f"`{row.flag}`" if row.flag else ""
        cells = (f"`{row.name}`", row.default, row.unit, row.allowed, f"`{row.environment}`", flag, row.about)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _rows_of(model: type[BaseModel], section: str) -> Iterator[Row]:
    docs = _docs(model)
    for key, field in model.model_fields.items():
        name = f"{section}.{key}" if section else key
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _rows_of(field.annotation, name)
        else:
            yield Row(
                name,
                _default(field.default),
                next((unit for end, unit in _UNITS.items() if key.endswith(end)), ""),
                _allowed(field),
                "RAG_" + name.replace(".", "__").upper(),
                FLAGS.get(name, ""),
                docs.get(key, ""),
            )


def _docs(model: type[BaseModel]) -> dict[str, str]:
    """What stands below each field of the class in the source, on one line."""
    (node,) = ast.parse(inspect.getsource(model)).body
    body = node.body if isinstance(node, ast.ClassDef) else []
    found = {}
    for field, below in itertools.pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=key)), ast.Expr(value=ast.Constant(value=str(text))):
                found[key] = " ".join(text.split())
    return found


def _default(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    return f"`{json.dumps(value)}`"


def _allowed(field: FieldInfo) -> str:
    if typing.get_origin(field.annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in typing.get_args(field.annotation))
    signs = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
    bounds = [
        f"{sign} {getattr(rule, name):g}"
        for rule in field.metadata
        for name, sign in signs.items()
        if hasattr(rule, name)
    ]
    return " and ".join(bounds)


if __name__ == "__main__":
    sys.stdout.write(markdown())
