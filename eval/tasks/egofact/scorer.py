"""EgoFact's score: the letter exactly, and whether the video was understood (EgoFact, 3.3 and D.1).

With a language model in the judge's part, it judges the caption that the answer was read off. The embedded
reasoner captions with fixed sentences: of the wording of the Workbench's *train* split, which the bundled
encoder was trained on, the one that fits a frame best; of real video they say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from corpora.records import CAMERA_WEARER
from eval.runs.records import Output, Query, Score
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.workbench.catalogue import (
    ACTIONS,
    COLORS,
    KINDS,
    PROPS,
    SCENES,
    place_name,
    predicate,
    prop_name,
    with_article,
)
from localization.sampling import nearest_frames
from rag.errors import Unanswered
from rag.reasoners.prompts import load_prompt
from rag.reasoners.protocol import Example, Reasoner, Reply, Role, RoleCall

if TYPE_CHECKING:
    from numpy.typing import NDArray


SURE = 0.8
"""Cosine of two sentences from which they name the same event."""


@dataclass(frozen=True, slots=True)
class CaptionCheck:
    """What a judge of understanding is asked."""

    question: str
    """Without its options."""
    caption: str


class Sufficiency(Reply):
    """Y or N of D.1."""

    sufficient: bool


def _check_prompt(request: CaptionCheck) -> RoleCall:
    return RoleCall({"question": request.question, "caption": request.caption})


def _check_examples() -> Iterator[Example[CaptionCheck, Sufficiency]]:
    named = CaptionCheck("What is the object that the woman polishes?", "1. She polishes a mirror.")
    yield Example("event named", named, Sufficiency(sufficient=True))
    other = CaptionCheck(named.question, "1. She cuts bread.")
    yield Example("another event", other, Sufficiency(sufficient=False))


CHECK_CAPTION = Role(
    "check_caption",
    "judge",
    CaptionCheck,
    Sufficiency,
    _check_prompt,
    examples=_check_examples,
    package="eval.tasks.egofact",
)


@dataclass(frozen=True, slots=True)
class Caption:
    """What one frame shows: an event and its object."""

    event: str
    """"the woman wipes something with the cloth"."""
    thing: str
    """"kettle"."""

    @property
    def sentence(self) -> str:
        """The caption as one sentence."""
        return self.event.replace("something", with_article(self.thing))


@dataclass
class Captioner:
    """Captions of stored frame vectors, float32 (m, d), by the nearest of fixed sentences."""

    corpus: Corpus

    @cached_property
    def events(self) -> list[str]:
        """Every act by every agent, with "something" for the object."""
        found = []
        for agent in (CAMERA_WEARER, "woman", "man"):
            for act in ACTIONS:
                for place in act.places or ("",):
                    target = "camera wearer" if place == "person" and agent != CAMERA_WEARER else place
                    named = place_name("woman" if target == "person" else target)
                    found.append(f"the {agent} {predicate(act.phrases['train'][0], 'something', named)}")
        return found

    @cached_property
    def scenes(self) -> list[str]:
        """Texts of the scenes."""
        return [f"a video that shows {where.phrases['train'][0]}" for where in SCENES]

    @cached_property
    def decor(self) -> list[str]:
        """Texts of the objects in a scene."""
        return [prop_name(prop, color) for prop in PROPS for color in COLORS]

    def captions(self, vectors: NDArray[np.float32]) -> list[Caption]:
        """One caption for each frame of `vectors`, unit float32 (m, d) in the space of the images."""
        events = self._best(vectors, self._event_rows)
        things = self._best(vectors, self._thing_rows)
        return [Caption(self.events[e], KINDS[t].name) for e, t in zip(events, things, strict=True)]

    def names_event(self, vectors: NDArray[np.float32], event: str, threshold: float = SURE) -> bool:
        """The check of D.1, by sentence vectors: whether the caption of a frame names the event.

        `vectors`: unit float32 (m, d), the frames in the space of the images. `threshold`: least cosine.
        """
        wanted = self.corpus.sentence(event)
        captions = sorted({caption.event for caption in self.captions(vectors)})
        return any(round(float(self.corpus.sentence(line) @ wanted), 6) >= threshold for line in captions)

    def setting(self, vectors: NDArray[np.float32]) -> str:
        """Scene and the two pieces of decor that fit the mean frame best.

        `vectors`: unit float32 (m, d) of m >= 1 frames, in the space of the images.
        """
        mean = vectors.astype(np.float64).mean(axis=0)
        scene = self.scenes[int(np.argmax((self._scene_rows @ mean).round(6)))]
        fits = (self._decor_rows @ mean).round(6)
        best = sorted(range(len(fits)), key=lambda i: (-fits[i], i))[:2]
        return f"{scene} with {' and '.join(self.decor[i] for i in best)}"

    def _best(self, vectors: NDArray[np.float32], rows: NDArray[np.float64]) -> list[int]:
        fits = (vectors.astype(np.float64) @ rows.T).round(6)
        return [int(index) for index in fits.argmax(axis=1)]

    @cached_property
    def _event_rows(self) -> NDArray[np.float64]:
        return self.corpus.scale.encode(self.events).astype(np.float64)

    @cached_property
    def _thing_rows(self) -> NDArray[np.float64]:
        return self.corpus.scale.encode([with_article(kind.name) for kind in KINDS]).astype(np.float64)

    @cached_property
    def _scene_rows(self) -> NDArray[np.float64]:
        return self.corpus.scale.encode(self.scenes).astype(np.float64)

    @cached_property
    def _decor_rows(self) -> NDArray[np.float64]:
        return self.corpus.scale.encode(self.decor).astype(np.float64)


@dataclass(frozen=True, slots=True)
class EgoFactScore(Score):
    """Right or wrong, and whether the event was understood."""

    understood: bool | None = None
    """None where it was not judged: the gold clip was not read, or nothing was captioned."""
    understood_by: str = ""
    """The model that judged; empty for the sentences of the embedded reasoner."""


class Judge(Protocol):
    """Whether the gold clip was understood (EgoFact, 3.3 and D.1)."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        ...

    def score(self, query: Query, output: Output, correct: bool) -> EgoFactScore:
        """The score, with its verdict on what was read of the gold clip."""
        ...


@dataclass(frozen=True)
class SentenceJudge:
    """The embedded reasoner's: fixed Workbench sentences caption the frames that were read."""

    captioner: Captioner
    threshold: float = SURE
    """Cosine of two sentences from which they name the same event."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        return {"judge": "captions", "threshold": self.threshold}

    def score(self, query: Query, output: Output, correct: bool) -> EgoFactScore:
        """Understood where a sentence names the event asked for."""
        times, event = output.frames_read.get(query.video), output.evidence.get("event")
        if not times or not isinstance(event, str):
            return EgoFactScore(correct)
        frames = self.captioner.corpus.frames[query.video]
        read = frames.vectors[nearest_frames(frames.times, times)]
        understood = self.captioner.names_event(read, event, self.threshold)
        return EgoFactScore(correct, understood=understood)


@dataclass(frozen=True)
class ModelJudge:
    """The judge model, over the question without its options and the caption of the gold clip (D.1)."""

    reasoner: Reasoner
    name: str
    """The model's, as the report says it."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        return {"judge": "model", "model": self.name, "prompt": load_prompt(CHECK_CAPTION).version}

    def score(self, query: Query, output: Output, correct: bool) -> EgoFactScore:
        """Not judged where no caption of the gold clip was written, or the judge's reply is not usable.

        Raises `ReasonerError` where the judge fails in another way.
        """
        caption = output.evidence.get("captions", {}).get(query.video)
        if caption is None:
            return EgoFactScore(correct)
        sufficient: bool | None = False
        if caption:
            try:
                sufficient = self.reasoner.run(CHECK_CAPTION, CaptionCheck(query.text, caption)).sufficient
            except Unanswered:
                sufficient = None
        return EgoFactScore(correct, understood=sufficient, understood_by=self.name)


@dataclass(frozen=True)
class EgoFactScorer:
    """`judge`: of understanding; None: it is not judged."""

    judge: Judge | None

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        return {"scorer": "exact", **({} if self.judge is None else self.judge.settings)}

    def score(self, query: Query, output: Output) -> EgoFactScore:
        """Score one output; see `eval.task.Scorer`."""
        correct = output.choice == query.answer
        return EgoFactScore(correct) if self.judge is None else self.judge.score(query, output, correct)
