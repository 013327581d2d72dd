"""A long synthetic video in a small library, and a reasoner of simple rules, for tests of VideoDetective."""

from pathlib import Path

import numpy as np

from rag.library import Library
from rag.questions import option_label
from rag.reasoners.roles.answers import ChosenOption, OpenAnswer
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.questions import Facets
from rag.reasoners.roles.reading import Reading
from rag.reasoners.roles.watching import Observation, ObserveRequest, Timeline, TimelineEvent
from rag.records import Question
from rag.settings import load_settings
from rag.store.reading import Reader
from rag.words import content_words, tokens
from tests.fakes.answer_world import THINGS, BagOfWords, ImageWords, build_library
from tests.fakes.role_methods import RoleMethods

SCRIPT = [
    (20.0 * part, 20.0 * part + 20.0, thing, f"Now someone shows the {thing} of part {part}")
    for part, thing in enumerate([*THINGS, *reversed(THINGS), *THINGS])
]
"""8 minutes: a thing is in view for 20 s, and its line is spoken all the while."""


def question(text: str = "Which thing is of part 9?", count: int = 4) -> Question:
    return Question("q", text, tuple(f"the {thing} of part 9" for thing in THINGS[3 : 3 + count]))


class RuleReasoner(RoleMethods):
    """Facets by words, captions by the words shown, an answer by the words of the packs."""

    reads_pixels = False

    @property
    def requests(self) -> list[ObserveRequest]:
        return self.requests_of("observe")

    def decompose_facets(self, asked: Question) -> Facets:
        labels = [option_label(index) for index in range(len(asked.options))]
        return Facets(
            query_keywords=tuple(tokens(asked.text)[:2]),
            option_keywords={
                label: tuple(word for word in tokens(option) if word in THINGS)
                for label, option in zip(labels, asked.options, strict=True)
            },
            semantic_queries=dict(zip(labels, asked.options, strict=True)),
            general_semantic_query=asked.text,
            vlm_query=asked.text,
        )

    def timeline(self, view: VideoView) -> Timeline:
        return Timeline(
            events=tuple(
                TimelineEvent(start=time, end=time + 1.0, description=f"something at {time:.0f}")
                for time in view.times[::8]
            )
        )

    def observe(self, request: ObserveRequest) -> Observation:
        caption = " ".join(text.text for text in request.view.texts) or "nothing is said"
        held = set(content_words(caption))
        missing = tuple(
            word
            for facet in request.facets
            for word in facet.keywords
            if not set(content_words(word)) <= held
        )
        return Observation(caption=caption, missing=missing, needs_more_info=bool(missing))

    def answer_choice(self, reading: Reading) -> ChosenOption:
        said = [set(tokens(text.text)) for window in reading.windows for text in window.texts]
        fits = [
            max((len(set(tokens(option)) & words) for words in said), default=0)
            for option in reading.question.options
        ]
        best = int(np.argmax(fits))
        windows = tuple(i for i, window in enumerate(reading.windows) if window.texts)[:1]
        return ChosenOption(
            choice=option_label(best), confidence=0.5, explanation="by shared words", windows=windows
        )

    def answer_open(self, reading: Reading) -> OpenAnswer:
        texts = [text.text for window in reading.windows for text in window.texts]
        return OpenAnswer(text=texts[0] if texts else "", confidence=0.5, explanation="the first words")


def open_world(folder: Path, *, images: bool = True) -> Library:
    """The video in a library whose encoders are those of `tests.fakes.answer_world`."""
    tower = ImageWords() if images else None
    if not (folder / "library").exists():
        build_library(folder / "library", {"workshop": SCRIPT}, {}, tower)
    library = Library(Reader.open(folder / "library"), load_settings())
    library.engine.__dict__.update(text_encoder=BagOfWords(), tower=tower)
    return library
