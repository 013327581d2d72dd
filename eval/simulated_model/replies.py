"""A reply as text: the JSON that a role answers with, and the forms in which models put it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from eval.simulated_model.dials import Dials, draw
from eval.simulated_model.request import Request

APOLOGY = "I'm sorry, but I can't help with identifying what happens in these images."
UNKNOWN_ROLE = "This message names no step that I know."
SLIPS: Mapping[str, Callable[[str], str]] = {
    "trailing_comma": lambda text: f"{text[:-1]},}}",
    "code_fence": lambda text: f"```json\n{text}\n```",
    "prose": lambda text: f"Sure, here is what I found.\n{text}\nI hope this helps!",
    "refusal": lambda _: APOLOGY,
}
"""Forms of a reply by their dials; a server that enforces JSON makes them impossible."""


def reply_text(
    reply: dict[str, Any], request: Request, dials: Dials, seed: int
) -> tuple[str, tuple[str, ...]]:
    """The reply's text, and the slips that are in it: the same request, the same slips."""
    free = () if request.structured else SLIPS
    slips = [name for name in free if draw("slip", seed, name, request.digest) < getattr(dials, name)]
    if "refusal" in slips:
        slips = ["refusal"]
    text = json.dumps(reply, ensure_ascii=False)
    for name in slips:
        text = SLIPS[name](text)
    return text, tuple(slips)
