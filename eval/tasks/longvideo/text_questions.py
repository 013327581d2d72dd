"""Questions that words decide: what can be read on the screen, and what is said."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator

from eval.tasks.longvideo.records import Draft
from eval.tasks.longvideo.videos import LabelledVideo, Spoken
from eval.tasks.longvideo.visual_questions import clip_with

_ANNOUNCED = re.compile(r"This is part (?P<number>\d+)\.")
_TITLE = re.compile(r"\d+  ")
_DIGITS = re.compile(r"[A-Z]?\d+")


def readings(video: LabelledVideo, rng: random.Random) -> Iterator[Draft]:
    """What does the note say? Wrong options are notes of other parts, of the same wording if there are."""
    notes = [card for card in video.cards if not _TITLE.match(card.text)]
    seen = Counter(card.text for card in notes)
    fit = [card for card in notes if card.part in video.alone and seen[card.text] == 1]
    for card in rng.sample(fit, len(fit)):
        form = _form(card)
        alike = sorted({other.text for other in notes if _form(other) == form} - {card.text})
        others = sorted({other.text for other in notes if _form(other) != form})
        wrong = rng.sample(alike, min(3, len(alike)))
        wrong += rng.sample(others, 3 - len(wrong))
        shown = clip_with(video.parts[card.part].description)
        text = f"{shown}, what does the note on the screen say?"
        yield Draft("text", text, card.text, tuple(wrong), (card.start, card.end))


def sayings(video: LabelledVideo, rng: random.Random) -> Iterator[Draft]:
    """Which part is announced where this is seen, and what is said next after a part is announced."""
    announced = {
        line.part: int(found["number"]) for line in video.lines if (found := _ANNOUNCED.match(line.text))
    }
    forms = [("number", part) for part in announced if part in video.alone]
    forms += [("next", part) for part in announced]
    for form, part in rng.sample(forms, len(forms)):
        draft = _announced(video, rng, part, announced) if form == "number" else _said_next(video, rng, part)
        if draft is not None:
            yield draft


def _announced(video: LabelledVideo, rng: random.Random, part: int, announced: dict[int, int]) -> Draft:
    line = next(line for line in video.lines if line.part == part and _ANNOUNCED.match(line.text))
    others = sorted(number for number in announced.values() if number != announced[part])
    wrong = tuple(f"Part {number}" for number in rng.sample(others, 3))
    shown = clip_with(video.parts[part].description)
    text = f"{shown}, which part of the film does the voice announce?"
    return Draft("spoken", text, f"Part {announced[part]}", wrong, (line.start, line.end))


def _said_next(video: LabelledVideo, rng: random.Random, part: int) -> Draft | None:
    here = [line for line in video.lines if line.part == part]
    if len(here) < 2:
        return None
    told = {line.text for line in here}
    others = sorted(
        {line.text for line in video.lines if not _ANNOUNCED.match(line.text) and line.text not in told}
    )
    if len(others) < 3:
        return None
    text = f"After the voice says “{here[0].text}”, what does it say next?"
    return Draft("spoken", text, here[1].text, tuple(rng.sample(others, 3)), (here[1].start, here[1].end))


def _form(card: Spoken) -> str:
    """The wording of a note without its numbers."""
    return _DIGITS.sub("#", card.text)
