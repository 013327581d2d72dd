"""VideoDetective itself, its ablations, and with a watcher that sees the truth."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from eval.runs.records import Query, Sample
from eval.tasks.longvideo.systems.corpus import Corpus, question_of, sampled
from eval.tasks.longvideo.videos import LabelledVideo
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.records import DetectiveResult
from rag.agents.video_detective.settings import PAPER, DetectiveSettings
from rag.reasoners.protocol import ReplyT, RequestT, Role
from rag.reasoners.roles import ChosenOption, Observation, ObserveRequest, Reasoner
from rag.reasoners.token_counting import TokenCountingReasoner
from rag.records import Usage
from rag.relevance import content_words


@dataclass(frozen=True)
class Detective:
    name: str
    corpus: Corpus
    chosen: DetectiveSettings = PAPER
    truthful: bool = False
    """The watcher's captions tell what truly happens in the frames' stretch."""
    _made: dict[str, VideoDetective] = field(default_factory=dict, compare=False)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            **dataclasses.asdict(self.chosen),
            "truthful_watcher": self.truthful,
            "tokens": self.corpus.token_count_method,
        }

    def answer(self, query: Query) -> Sample:
        found = self._detective(query).investigate(self.corpus.video_id(query), question_of(query))
        answer = found.answer
        reply = ChosenOption(
            choice=answer.choice,
            scores=tuple(option.score for option in answer.options),
            confidence=answer.confidence,
            explanation=answer.explanation,
        )
        sample = sampled(query, reply, found.selected.packs, answer.usage, **_told(found))
        return dataclasses.replace(sample, timings=dict(answer.timings))

    def _detective(self, query: Query) -> VideoDetective:
        key = query.video if self.truthful else ""
        if key not in self._made:
            self._made[key] = VideoDetective(
                self.corpus.library, self.chosen, reasoner=self._reasoner(query), must_choose=True
            )
        return self._made[key]

    def _reasoner(self, query: Query) -> Reasoner:
        reasoner = self.corpus.reasoner
        if not self.truthful:
            return reasoner
        video = self.corpus.videos[query.video]
        if isinstance(reasoner, TokenCountingReasoner):
            # Inside the count, so that its looks cost what any other watcher's would.
            return TokenCountingReasoner(TruthfulWatcher(self.corpus.library.engine.reasoner, video))
        return TruthfulWatcher(reasoner, video)


class TruthfulWatcher:
    """A reasoner that says of a stretch what happens in it, exactly: an upper bound for any watcher."""

    def __init__(self, reasoner: Reasoner, video: LabelledVideo) -> None:
        self._reasoner = reasoner
        self._video = video

        self.name = reasoner.name

    @property
    def fingerprint(self) -> str:
        return self._reasoner.fingerprint

    @property
    def reads_pixels(self) -> bool:
        return self._reasoner.reads_pixels

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        if isinstance(request, ObserveRequest):
            return cast(ReplyT, self._observation(request))
        return self._reasoner.run(role, request)

    def usage(self) -> Usage:
        return self._reasoner.usage()

    def _observation(self, request: ObserveRequest) -> Observation:
        view, video = request.view, self._video
        times = view.times or (view.start, view.end)
        start, end = times[0], times[-1]
        held = [event.sentence for event in video.events if event.start <= end and event.end > start]
        held += [card.text for card in video.cards if card.start <= end and card.end > start]
        caption = ". ".join(held) or "nothing happens"
        said = set(content_words(caption)) | {w for text in view.texts for w in content_words(text.text)}
        keywords = [word for facet in request.facets for word in facet.keywords]
        missing = tuple(dict.fromkeys(word for word in keywords if not set(content_words(word)) <= said))
        return Observation(caption=caption, missing=missing, needs_more_info=bool(missing))


def _told(found: DetectiveResult) -> dict[str, Any]:
    return {
        "looks": [
            {
                "policy": look.policy,
                "facets": list(look.facets),
                "span": [round(look.start, 3), round(look.end, 3)],
                "score": look.score,
                "confirmed": list(look.confirmed),
            }
            for look in found.looks
        ],
        "fallback": found.selected.fallback,
        "problems": list(found.plan.problems),
    }
