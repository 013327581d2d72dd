"""A model that plays the roles of EgoFact's construction over the clips of `egofact_world.world`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from eval.tasks.egofact.construction.records import FactPassage
from eval.tasks.egofact.construction.roles import (
    AnsweredQuestion,
    CheckReply,
    CheckRequest,
    Description,
    Distractors,
    EventReply,
    KeywordsReply,
    Narration,
    StatementsReply,
    Timeline,
)
from rag.errors import PromptTooLarge
from rag.records import Usage
from tests.fakes.egofact_corpus import ScriptedReasoner
from tests.fakes.egofact_world import THINGS, passages, world

SPOILT = "candle"
"""Questions about it get a low score."""


class BuildModel(ScriptedReasoner):
    """Each call counts 10 tokens; the last clip's screenshots get no readable reply."""

    def __init__(self) -> None:
        super().__init__(
            describe_screenshot=describe,
            narrate_timeline=narrate,
            timeline_keywords=lambda asked: KeywordsReply(
                keywords=dict.fromkeys(asked.scenarios[-1].split(), 5)
            ),
            event_structure=structure,
            write_distractors=distract,
            write_statements=write,
            check_choice=check,
        )
        self._counted = 0

    def usage(self) -> Usage:
        new, self._counted = len(self.requests) - self._counted, len(self.requests)
        return Usage(calls=new, prompt_tokens=8 * new, completion_tokens=2 * new)


def describe(asked: Any) -> Description:
    if "unreadable" in asked.scenarios:
        raise PromptTooLarge("too long")
    return Description(description=f"A bench at {float(asked.frame.times[0]):.1f} s.")


def narrate(asked: Timeline) -> Narration:
    shown = asked.scenarios[-1]
    return Narration(concise=f"the video that shows {shown}.", detailed=f"the video that shows {asked.text}")


def structure(text: str) -> EventReply:
    """Of "#C C puts the mug onto the bench", also without a place; of other lines no event."""
    found = re.fullmatch(r"#C C ((\w+)s the (\w+(?: \w+)?)(?: onto the (\w+))?)", text)
    if found is None:
        return EventReply(rewritten="", agent="", action="", patient="", patient_canonical="")
    said, action, patient, place = found.groups()
    return EventReply(
        rewritten=f"the camera wearer {said}",
        agent="camera wearer",
        action=action,
        patient=patient,
        patient_canonical=patient,
        patient_destination=place,
    )


def distract(asked: AnsweredQuestion) -> Distractors:
    others = [name for name in THINGS if name != asked.answer and name not in asked.question][:5]
    return Distractors(distractors=tuple(others), score=3 if asked.answer == SPOILT else 8)


def write(passage: FactPassage) -> StatementsReply:
    degrees = int(re.search(r"at (\d+) degrees", passage.text)[1])  # type: ignore[index]  # it is there
    wrong = tuple(f"It is stored at {degrees + more} degrees." for more in (40, 50, 60))
    return StatementsReply(
        activity=f"job {degrees}", fact=f"It is stored at {degrees} degrees.", counterfacts=wrong
    )


def check(asked: CheckRequest) -> CheckReply:
    """With texts the option that they name, or whose degrees they say; without, the second one."""
    context = " ".join(asked.context_texts)
    for at, option in enumerate(asked.question.options):
        number = re.search(r"at (\d+) degrees", option)
        if (f"at {number[1]} degrees" if number else option) in context:
            return CheckReply(choice="ABCDEF"[at])
    return CheckReply(choice="B")


def near(name: str) -> list[FactPassage]:
    """Raw passages about a thing: no activity, no statements."""
    return [
        FactPassage(one.passage_id, one.title, one.text, name, "") for one in passages() if one.object == name
    ]


def write_events(path: Path, clips: int) -> None:
    """A file of events of `clips` videos of 30 s, one more without a file, and one that is unreadable."""
    lines = []
    for at, clip in enumerate(world(clips)):
        name = f"videos/{clip.clip_id[:7]}.mp4"
        (path.parent / "videos").mkdir(exist_ok=True)
        (path.parent / name).write_bytes(b"a video")
        scenarios = ["unreadable"] if at == clips - 1 else [clip.description]
        lines += [
            {
                "video": name,
                "start": event.start,
                "end": event.end,
                "text": f"#C C {event.action}s the {event.patient} onto the {event.patient_destination}",
                "scenarios": scenarios,
            }
            for event in clip.events
        ]
    lines.append({"video": "videos/gone.mp4", "start": 1, "end": 2, "text": "opens a box"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
