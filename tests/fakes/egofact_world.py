"""Hand-made data of EgoFact, an encoder of words, and reasoners whose roles are scripted."""

import atexit
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.tasks.egofact.construction.records import EventStructure, FactPassage, Segment
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
from eval.tasks.egofact.construction.segments import CachedEncoder
from eval.tasks.egofact.records import ClipRow, EgoFactInput, Query
from eval.tasks.egofact.solvers.corpus import Corpus
from indexers.protocol import TextEncoder
from rag.errors import BudgetSpent, PromptTooLarge
from rag.reasoners.protocol import ReplyT, RequestT, Role
from rag.reasoners.roles.answers import ChosenOption
from rag.reasoners.roles.questions import AnchorEvent, RewrittenQuestion
from rag.records import Question, Usage
from rag.retrieval import Retriever
from rag.settings import Settings
from rag.store.reading import Reader
from tests.fakes.answer_world import BagOfWords, ImageWords, Script, blank_frames, build_library
from tests.fakes.role_methods import RoleMethods

THINGS = ("kettle", "hammer", "mug", "candle", "towel", "pencil", "razor", "sponge", "laptop", "trowel")
PLACES = ("bench", "rug", "stove", "ladder", "cupboard", "mat", "bucket", "trunk")
"""No two share a word with each other or with a thing."""


ONE_HOP = Query(
    query_id="q1",
    text="what is it?",
    options=("a", "b", "c", "d", "e", "f"),
    answer="B",
    family="temporal-1hop",
    clip_id="a:00000",
    window=(1.0, 3.5),
    seen=(1.5, 2.5),
    anchor=(4.0, 6.0),
    position="before",
    passage=None,
    option_passages=(None,) * 6,
    truth=("object-distractor", "true", *("object-distractor",) * 4),
    order=(0, 5, 1, 2, 3, 4),
    seed=7,
)
TWO_HOP = replace(
    ONE_HOP,
    query_id="q2",
    family="local-2hop",
    anchor=None,
    seen=None,
    position="within",
    passage="p2",
    option_passages=("p0", "p2", "p0", "p1", "p1", "p2"),
    truth=(
        "counterfact-distractor",
        "true",
        "fact-distractor",
        "counterfact-distractor",
        "fact-distractor",
        "counterfact",
    ),
)


class WordEncoder(TextEncoder):
    """A text is the sum of a fixed random vector for each of its words: shared words are all there is."""

    name, dim, backend, batch = "words", 256, "numpy", 1
    weights = fingerprint = "words"

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.stack([sum(map(_word, text.lower().split()), np.zeros(self.dim)) for text in texts])
        return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def _word(word: str) -> NDArray[np.float64]:
    digest = hashlib.blake2b(word.strip(".,?").encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "big")).standard_normal(256)


def words() -> CachedEncoder:
    return CachedEncoder(WordEncoder())


def event(
    thing: str,
    start: float,
    *,
    place: str = "bench",
    agent: str = "camera wearer",
    verb: str = "put",
    end: float | None = None,
) -> EventStructure:
    """ "the camera wearer puts the kettle onto the bench", two seconds long."""
    stop = start + 2.0 if end is None else end
    return EventStructure(
        rewritten=f"the {agent} {verb}s the {thing} onto the {place}",
        agent=agent,
        action=verb,
        patient=thing,
        patient_canonical=thing,
        patient_location=None,
        patient_destination=place,
        instrument=None,
        event_location=None,
        start=start,
        end=stop,
    )


def segment(name: str, description: str, events: Sequence[EventStructure]) -> Segment:
    return Segment(f"{name}:00000", f"videos/{name}.mp4", 0.0, 30.0, tuple(events), (), description)


def world(clips: int) -> list[Segment]:
    """Clips of four events 3 s apart, on ever other things at ever other places; no two clips look alike."""
    found = []
    for clip in range(clips):
        events = [
            event(
                THINGS[(clip + 3 * at) % len(THINGS)],
                1.0 + 5.0 * at,
                place=PLACES[(clip + at) % len(PLACES)],
                verb=("put", "throw", "hang", "turn")[at],
            )
            for at in range(4)
        ]
        found.append(segment(f"clip{clip:03d}", f"scene{clip} colour{clip} view{clip}", events))
    return found


def passages() -> list[FactPassage]:
    """Two for each thing, each of its own activity and with a fact of its own."""
    return [
        FactPassage(
            f"{thing}--{turn}",
            f"{thing}",
            f"The {thing} matters. Store it at {at * 2 + turn + 3} degrees in the {turn} box. Keep it dry.",
            thing,
            f"job {at} {turn}",
            f"It is stored at {at * 2 + turn + 3} degrees.",
            (f"It is stored at {at * 2 + turn + 43} degrees.", f"It is stored at {at} metres."),
        )
        for at, thing in enumerate(THINGS)
        for turn in range(2)
    ]


KETTLE = EgoFactInput(
    "q1", "In a video of a kitchen, what is lifted?", ("kettle", "drill", "lamp", "iron", "spoon", "knife")
)


class ScriptedReasoner(RoleMethods):
    """Answers A and looks for the kettle; other roles are given as functions."""

    name = fingerprint = "scripted"

    def rewrite_question(self, asked: Question) -> RewrittenQuestion:
        return RewrittenQuestion(visual_query="A video that shows a kettle.", passage_queries=asked.options)

    def anchor_event(self, _: Question) -> AnchorEvent:
        return AnchorEvent(description="a kettle")

    def answer_choice(self, _: Any) -> ChosenOption:
        return ChosenOption(choice="A", confidence=0.5, explanation="Seen.")


def open_corpus(
    folder: Path,
    videos: Script,
    rows: Sequence[ClipRow],
    played_by: Any,
    passages: Mapping[str, str] | None = None,
    **settings: Any,
) -> Corpus:
    """`rows`: of the benchmark; the library holds all clips of `videos`."""
    tower, words = ImageWords(), BagOfWords()
    reader = Reader.open(_library(json.dumps([videos, passages or {}])))
    chosen = Settings(**settings)
    engine = SimpleNamespace(
        reader=reader,
        tower=tower,
        text_encoder=words,
        reasoner=played_by,
        read_frames=blank_frames,
        new_retriever=lambda own=None: Retriever(reader, tower, words, own or chosen),
    )
    library: Any = SimpleNamespace(engine=engine, settings=chosen)
    return Corpus(rows, folder, library)


SPOILT = "candle"
"""Questions about it get a low score."""


@cache
def _library(rows: str) -> Path:
    """Of videos and passages in JSON; built once in each process, and only read."""
    above = Path(tempfile.mkdtemp(prefix="rag-egofact-"))
    atexit.register(shutil.rmtree, above)
    return build_library(above / "library", *json.loads(rows), ImageWords())


class BuildModel(ScriptedReasoner):
    """Each call counts 10 tokens; the last clip's screenshots get no readable reply. `left`: calls until it
    stops."""

    def __init__(self, left: int = 10**9) -> None:
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
        self._counted, self.left = 0, left

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        if not self.left:
            raise BudgetSpent("no call is left")
        self.left -= 1
        return super().run(role, request)

    def usage(self) -> Usage:
        new, self._counted = len(self.kept) - self._counted, len(self.kept)
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
    degrees = int(re.search(r"at (\d+) degrees", passage.text)[1])
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
