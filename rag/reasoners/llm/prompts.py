"""Prompts are files; this renders them so that no material can pose as an instruction.

A file in `rag/reasoners/prompts/` has a system and a user part. In both,
`{{name}}` is replaced by material inside a fence, `{{!name}}` by a bare word of
ours, and `{{images}}` marks where the shown windows go. The fence carries a tag
that occurs nowhere in the material, so nothing quoted can close it. Replacement
is one pass: braces inside material stay what they are.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rag.reasoners.llm.messages import Message, Picture, Shown, picture

Material = str | Sequence[Shown]

PLACEHOLDER = re.compile(r"\{\{(!?)([a-z_]+)\}\}")
PARTS = re.compile(r"\A<!-- system -->\n(.*)\n<!-- user -->\n(.*)\Z", re.DOTALL)
BARE = re.compile(r"[\w ,.-]*")


@dataclass(frozen=True, slots=True)
class Prompt:
    role: str
    version: str
    """12 hex digits over the file and the preamble: another wording, another version."""
    system: str
    user: str

    @property
    def placeholders(self) -> frozenset[str]:
        return frozenset(bare + name for bare, name in PLACEHOLDER.findall(self.system + self.user))


@cache
def load_prompt(role: str) -> Prompt:
    """The prompt of a role, from its file."""
    folder = files("rag.reasoners").joinpath("prompts")
    texts = [folder.joinpath(f"{name}.md").read_text(encoding="utf-8") for name in (role, "preamble")]
    return parse_prompt(role, *texts)


def prompt_versions(roles: Iterable[str]) -> dict[str, str]:
    """Role to the version of its prompt, for the record of a run."""
    return {role: load_prompt(role).version for role in roles}


def parse_prompt(role: str, text: str, preamble: str) -> Prompt:
    """Split a prompt file; raise `ValueError` if it has not exactly a system and a user part."""
    match = PARTS.match(text)
    if match is None or text.count("<!-- ") != 2:
        raise ValueError(f"prompt {role}: needs one system and one user part, in this order")
    version = hashlib.sha256(f"{preamble}\0{text}".encode()).hexdigest()[:12]
    return Prompt(role, version, f"{preamble.strip()}\n\n{match[1].strip()}", match[2].strip())


def render(
    prompt: Prompt,
    variables: Mapping[str, Material],
    images: Sequence[Shown] | None = None,
    *,
    short_side: int,
) -> tuple[Message, Message]:
    """The system and the user message of one call.

    `variables`: material by name, or bare words of ours under `!name`.
    `images`: what `{{images}}` stands for; None where the prompt has no such place.
    Raises `ValueError` if a variable is missing, unused, or not fit to stand bare.
    """
    given: dict[str, Material] = dict(variables)
    if images is not None:
        given["images"] = images
    wanted = prompt.placeholders - {"!tag"}
    if wanted != given.keys():
        missing, unused = sorted(wanted - given.keys()), sorted(given.keys() - wanted)
        raise ValueError(f"prompt {prompt.role}: undefined variables {missing}, unused variables {unused}")
    tag = _tag(given.values())
    given["!tag"] = tag

    def filled(template: str) -> tuple[str | Picture, ...]:
        parts: list[str | Picture] = []
        end = 0
        for match in PLACEHOLDER.finditer(template):
            parts.append(template[end : match.start()])
            name = match[1] + match[2]
            parts.extend(_material(name, given[name], tag, short_side))
            end = match.end()
        parts.append(template[end:])
        return _merged(parts)

    return Message("system", filled(prompt.system)), Message("user", filled(prompt.user))


def _material(name: str, value: Material, tag: str, short_side: int) -> Iterable[str | Picture]:
    if name.startswith("!"):
        if not isinstance(value, str) or not BARE.fullmatch(value):
            raise ValueError(f"variable {name}: {value!r} cannot stand without a fence")
        yield value
    elif isinstance(value, str):
        yield _fenced(name, value, tag)
    elif not value:
        yield "(none)"
    else:
        for index, shown in enumerate(value):
            yield ("\n\n" if index else "") + _fenced(shown.name, shown.text, tag)
            if shown.images:
                yield "\n"
                yield from (picture(image, short_side) for image in shown.images)


def _fenced(name: str, text: str, tag: str) -> str:
    # Undecodable bytes of file names travel as lone surrogates, which no server takes.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return f"[BEGIN {name} {tag}]\n{text}\n[END {name} {tag}]"


def _tag(values: Iterable[Material]) -> str:
    """Eight hex digits that occur in none of the values; the same for the same values."""
    texts = []
    for value in values:
        texts += [value] if isinstance(value, str) else [shown.text for shown in value]
    everything = "\0".join(texts)
    digest = hashlib.sha256(everything.encode("utf-8", "surrogatepass")).hexdigest()
    while digest[:8] in everything:
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return digest[:8]


def _merged(parts: Iterable[str | Picture]) -> tuple[str | Picture, ...]:
    merged: list[str | Picture] = []
    for part in parts:
        last = merged[-1] if merged else None
        if isinstance(part, str) and isinstance(last, str):
            merged[-1] = last + part
        elif part:
            merged.append(part)
    return tuple(merged)
