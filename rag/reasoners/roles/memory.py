"""What somebody remembers of a video, as several roles take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ConstraintKind = Literal["", "temporal", "color", "style", "resolution", "audio"]


@dataclass(frozen=True, slots=True)
class Memory:
    """What one remembers of a video; any part may be empty.

    RVMS-Bench (RACLO, section 2.1) has the first five; a shot of ShotFinder is a `key_moment`
    with at most one constraint.
    """

    global_impression: str = ""
    key_moment: str = ""
    before: str = ""
    """Just before the key moment (temporal context)."""
    after: str = ""
    auditory_memory: str = ""
    constraint_kind: ConstraintKind = ""
    constraint: str = ""


def memory_text(memory: Memory) -> str:
    """One line a part that is there."""
    parts = {
        "The video as a whole": memory.global_impression,
        "The moment": memory.key_moment,
        "Just before it": memory.before,
        "Just after it": memory.after,
        "Heard": memory.auditory_memory,
        f"Also asked ({memory.constraint_kind or 'constraint'})": memory.constraint,
    }
    return "\n".join(f"{name}: {text}" for name, text in parts.items() if text) or "(nothing)"
