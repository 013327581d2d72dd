"""Prompts are files; this renders them so that no material can pose as an instruction.

A prompt file (`<role>.md` beside the role) has a system and a user part. In both,
`{{name}}` is replaced by material inside a fence, `{{!name}}` by a bare word of
ours, and `{{images}}` marks where the shown windows go. The fence carries a tag
that occurs nowhere in the material, so nothing quoted can close it. Replacement
is one pass: braces inside material stay what they are.
"""

from __future__ import annotations

import hashlib
import io
import re
import wave
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.reasoners.protocol import Role

JPEG_QUALITY = 90
PLACEHOLDER = re.compile(r"\{\{(!?)([a-z_]+)\}\}")
PARTS = re.compile(r"\A<!-- system -->\n(.*)\n<!-- user -->\n(.*)\Z", re.DOTALL)
BARE = re.compile(r"[\w ,.-]*")


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """One frame as it is sent: JPEG bytes, size in pixels."""

    data: bytes
    width: int
    height: int


AUDIO_RATE = 16_000
"""Samples a second of audio that is sent."""

ReadAudio = Callable[[float], "NDArray[np.float32]"]
"""Seconds at most to mono float32 (n,) in [-1, 1] at `AUDIO_RATE`; empty where there is no sound."""


@dataclass(frozen=True, slots=True)
class EncodedAudio:
    """A stretch of sound as it is sent: WAV bytes (mono, 16 bits), length in seconds."""

    data: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: text, images and sound in order."""

    speaker: Literal["system", "user", "assistant"]
    parts: tuple[str | EncodedImage | EncodedAudio, ...]

    @property
    def text(self) -> str:
        """All text parts, joined."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def images(self) -> tuple[EncodedImage, ...]:
        """The images, in order."""
        return tuple(part for part in self.parts if isinstance(part, EncodedImage))

    @property
    def audio_seconds(self) -> float:
        """Length of all sound."""
        return sum(part.seconds for part in self.parts if isinstance(part, EncodedAudio))


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One reply, and what it cost where the model said so (None where it did not)."""

    text: str
    prompt_tokens: int | None = None
    """All tokens read, those of images among them."""
    completion_tokens: int | None = None
    image_tokens: int | None = None
    cut: bool = False
    """The reply ended at the token limit, not at its end."""
    reduced: bool = False
    """The prompt was larger than the model takes, so less of it was sent (`fitting`)."""


class ChatClient(Protocol):
    """One way to reach a model. Sends a conversation, waits for the whole reply."""

    name: str

    def send(self, messages: Sequence[Message], schema: dict[str, Any], *, max_tokens: int) -> ChatReply:
        """Raise `ReasonerError` or one of its kinds, `PromptTooLarge` among them; `schema` is the JSON
        schema of the reply wanted.

        `max_tokens`: of the reply, at most.
        """
        ...


@dataclass(frozen=True, slots=True)
class PromptItem:
    """Numbered material for a prompt: its name, its words, and the frames that belong to it.

    `images`: uint8 (h, w, 3) RGB, upright, in time order.
    """

    name: str
    text: str
    images: tuple[NDArray[np.uint8], ...] = ()
    image_names: tuple[str, ...] = ()
    """How `text` lists the images, `", ".join(image_names)`; empty where it does not."""
    zoomed: bool = False
    """Its frames are looked at closely, so they are sent at their own, larger size."""
    read_audio: ReadAudio | None = None
    """Its sound, for a model that takes audio."""


Material = str | Sequence[PromptItem]
_Part = str | EncodedImage | EncodedAudio


@dataclass(frozen=True, slots=True)
class Prompt:
    """A role's prompt file, parsed."""

    role: str
    version: str
    """12 hex digits over the file and the preamble: another wording, another version."""
    system: str
    user: str

    @property
    def placeholders(self) -> frozenset[str]:
        """Names of the variables that the text needs; those without a fence begin with `!`."""
        return frozenset(bare + name for bare, name in PLACEHOLDER.findall(self.system + self.user))


def load_prompt(role: Role[Any, Any]) -> Prompt:
    """The prompt of a role, from its file."""
    return _load(role.name, role.package)


@cache
def _load(name: str, package: str) -> Prompt:
    places = ((package, name), ("rag.reasoners.roles", "preamble"))
    texts = [files(place).joinpath(f"{file}.md").read_text(encoding="utf-8") for place, file in places]
    return parse_prompt(name, *texts)


def prompt_versions(roles: Iterable[Role[Any, Any]]) -> dict[str, str]:
    """Name of a role to the version of its prompt, for the record of a run."""
    return {role.name: load_prompt(role).version for role in roles}


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
    images: Sequence[PromptItem] | None = None,
    *,
    short_side: int,
    zoom_short_side: int | None = None,
    audio_seconds: float = 0.0,
) -> tuple[Message, Message]:
    """The system and the user message of one call.

    `variables`: material by name, or bare words of ours under `!name`.
    `images`: what `{{images}}` is replaced by; None where the prompt has no such place.
    `short_side`: of an image, in pixels at most; `zoom_short_side`: of zoomed ones, default the same.
    `audio_seconds`: of the sound of an item, at most; 0 for a model that takes none.
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

    def filled(template: str) -> tuple[_Part, ...]:
        parts: list[_Part] = []
        end = 0
        for match in PLACEHOLDER.finditer(template):
            parts.append(template[end : match.start()])
            name = match[1] + match[2]
            sides = (short_side, zoom_short_side or short_side)
            parts.extend(_material(name, given[name], tag, sides, audio_seconds))
            end = match.end()
        parts.append(template[end:])
        return _merged(parts)

    return Message("system", filled(prompt.system)), Message("user", filled(prompt.user))


def encode_image(image: NDArray[np.uint8], short_side: int) -> EncodedImage:
    """Frame uint8 (h, w, 3) RGB as JPEG, its short side at most `short_side` pixels (never enlarged)."""
    from PIL import Image

    height, width = image.shape[:2]
    scale = min(1.0, short_side / min(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    encoded = Image.fromarray(image)
    if size != (width, height):
        encoded = encoded.resize(size, Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    encoded.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return EncodedImage(buffer.getvalue(), *size)


def encode_audio(samples: NDArray[np.float32]) -> EncodedAudio:
    """Mono float32 (n,) in [-1, 1] at `AUDIO_RATE` as WAV of 16 bits."""
    import numpy as np

    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(AUDIO_RATE)
        plain = np.nan_to_num(np.asarray(samples, np.float64), nan=0.0)
        out.writeframes((np.clip(plain, -1, 1) * 32767).round().astype("<i2").tobytes())
    return EncodedAudio(buffer.getvalue(), round(len(samples) / AUDIO_RATE, 3))


def _material(
    name: str, value: Material, tag: str, short_sides: tuple[int, int], audio_seconds: float
) -> Iterable[_Part]:
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
                yield from (encode_image(image, short_sides[shown.zoomed]) for image in shown.images)
            if audio_seconds and shown.read_audio is not None:
                samples = shown.read_audio(audio_seconds)
                if len(samples):
                    sound = encode_audio(samples)
                    yield f"\nThe sound of {shown.name}, {sound.seconds:.1f} s from its start:\n"
                    yield sound


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


def _merged(parts: Iterable[_Part]) -> tuple[_Part, ...]:
    merged: list[_Part] = []
    for part in parts:
        last = merged[-1] if merged else None
        if isinstance(part, str) and isinstance(last, str):
            merged[-1] = last + part
        elif part:
            merged.append(part)
    return tuple(merged)
