"""The control that opens no video: the likeliest result by its metadata, and the middle of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from eval.runs.records import ClipScore, Query, Sample
from eval.tasks.shotfinder.records import ShotQuery
from eval.tasks.shotfinder.scorer import true_moment, true_shot
from eval.tasks.shotfinder.solvers import NO_FRAME
from rag.agents.shotfinder.constraints import memory_of
from rag.agents.shotfinder.records import FoundShot
from rag.agents.video_browser.watcher import candidate
from rag.errors import BudgetSpent, ReplyInvalid, WebError
from rag.reasoners.roles import IMAGINE_QUERIES, SELECT_CANDIDATES, ImagineRequest, Reasoner, SelectRequest
from rag.reasoners.token_counting import with_token_counts

if TYPE_CHECKING:
    from rag.agents.shotfinder.settings import ShotSettings
    from rag.web import MockWeb


@dataclass
class MetadataControl:
    """A `System` that reads titles, descriptions and tags, and the words of the query with its constraint."""

    name: str
    chosen: ShotSettings
    queries: Mapping[str, ShotQuery]
    web: MockWeb
    reasoner: Reasoner

    def __post_init__(self) -> None:
        self._mind, _ = with_token_counts(self.reasoner)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {**asdict(self.chosen), "web": self.web.fingerprint, "reasoner": self.reasoner.fingerprint}

    def answer(self, query: Query) -> Sample:
        asked = self.queries[query.query_id]
        failure = ""
        try:
            found, results = self._guess(asked)
        except (ReplyInvalid, BudgetSpent, WebError) as error:
            # As the agent has it: what cannot be read or had costs a query, not the run.
            found, results, failure = None, [], type(error).__name__
        usage = self._mind.usage()
        timed = asked.gold.timed
        right = bool(true_shot(asked, found)) if found is not None else False
        moment = bool(true_moment(asked, found)) if found is not None else False
        return Sample(
            query_id=query.query_id,
            family=query.family,
            video=query.video,
            cluster=query.cluster,
            choice=None,
            correct=right,
            unshuffled_choice=None,
            clips=tuple(ClipScore(video, 1.0 / rank) for rank, video in enumerate(results, start=1)),
            evidence={
                "value": asked.value,
                "rules": {"truth": right, "moment": moment} if timed else {},
                # It opens no video, so that there is no frame to be judged by.
                **({} if timed else {"unjudged": NO_FRAME}),
                **({"failure": failure} if failure else {}),
                "stage": "",
            },
            parse_failure=failure == ReplyInvalid.__name__,
            tokens={"all": usage.prompt_tokens + usage.completion_tokens},
        )

    def _guess(self, asked: ShotQuery) -> tuple[FoundShot | None, list[str]]:
        web = self.web.session()
        memory = memory_of(asked.description, asked.constraints)
        imagined = self._mind.run(IMAGINE_QUERIES, ImagineRequest(memory, self.chosen.queries))
        results = {
            result.url: result
            for search in imagined.queries
            for result in web.search_videos(search, page_size=self.chosen.results).results
        }
        listed = list(results.values())
        if not listed:
            return None, []
        whole = f"{asked.description} {asked.constraint}"
        chosen = self._mind.run(
            SELECT_CANDIDATES, SelectRequest(whole, whole, tuple(candidate(result) for result in listed), 1)
        ).selected
        picked = listed[chosen[0]] if chosen else listed[0]
        ids = [video for result in listed if (video := web.video_id(result.url)) is not None]
        middle = picked.duration / 2
        video = web.video_id(picked.url) or ""
        guess = FoundShot(
            picked.url, picked.title, video, middle, middle + 0.001, middle, 0.0, 0.0, measured=False
        )
        return guess, list(dict.fromkeys(ids))
