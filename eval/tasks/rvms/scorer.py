"""Scores a run against the target video: by address, content, frames, and exact times.

Rule          the address of a candidate is that of the video (section 3.2, the fast path).
Model+rule    the rule, or both judges accept a candidate by the global impression (table 1).
Frame         text and image of a located frame match the description and the reference frame (F.3); the
              sound around it too, where a sound is remembered and there is one to compare (F.4).
Truth         where every upload of the video is known: whether a candidate is one, and whether the
              moment is in the true shot of the original.
CLIP score    cosine of image embeddings from 0.7 on: a rule without a model, beside figure 9.

A failed sample has the first stage at which it failed (section 4.5 and appendix G):

generator     no search has the video among its results
retriever     one has, but none of its uploads became a candidate
verifier      it was a candidate, and another one was chosen
localizer     it was chosen, and its moment is more than 2 s off the event
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.runs.records import Output, Query, Score
from eval.tasks.rvms.dataset import RvmsSample, TargetUpload
from eval.tasks.web_task import JudgedVideos, WebEnvironment, judge_settings
from localization.sampling import midpoints
from rag.agents.raclo.records import PAPER
from rag.agents.raclo.verification import second_judge, shown, sound_lines, verify
from rag.agents.runtime.frame_source import WebVideo
from rag.errors import FileProblem, ReasonerError, ReasonerUnreachable
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.watching import MATCH_FRAME, MatchRequest
from rag.web.catalogue import address

if TYPE_CHECKING:
    from numpy.typing import NDArray


STAGES = ("generator", "retriever", "verifier", "localizer")
CLIP_SCORE = 0.7
EVENT_SLACK = 2.0
"""Seconds before and after the event in which a moment counts as on it."""
AUDIO_CONTEXT = 2.0
"""Seconds of sound on both sides of a frame that is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RvmsScore(Score):
    """Scores of any candidate, as in the paper, and (`answer`) of the chosen one. None: not applicable."""

    rule: bool
    model_rule: bool | None
    content: bool
    frame: bool | None
    in_shot: bool | None
    in_shot_answer: bool | None
    on_event: bool | None
    error: float | None
    """Least seconds between moment and key time over candidates that show the video."""
    answer_true: bool
    moment_id: str
    group: str
    topic: str
    candidates: Sequence[Mapping[str, Any]]
    """`CandidateScore.line` of each."""
    error_stage: str
    gold_window_found: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class CandidateScore:
    """One candidate against the target. None: cannot be decided."""

    url: str
    rule: bool
    true: bool
    """It shows the video, as the original, a mirror or a changed copy."""
    model: bool | None
    """Both judges accept it by the global impression; None for tasks without one."""
    video_score: float | None
    """Cosine of the mean image embeddings of the candidate and of the original."""
    frame: bool | None
    """The judge takes its located frame for the moment: text and image match."""
    frame_score: float | None
    """Cosine of the located frame and the reference frame."""
    in_shot: bool | None
    """Its moment is in the true shot; False for another video; None for tasks without a moment."""
    on_event: bool | None
    error: float | None
    """Seconds between its moment and the key time, where it shows the video."""

    def line(self) -> dict[str, Any]:
        """Make the JSON row; floats have 4 decimals."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in values.items()}


@dataclass
class RvmsScorer:
    """An unusable reply of the judge certifies nothing.

    `score` raises `ReasonerUnreachable` where the reasoner is gone.
    """

    environment: WebEnvironment
    gold: Mapping[str, RvmsSample]

    @cached_property
    def _videos(self) -> JudgedVideos:
        return JudgedVideos(self.environment)

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON, for the identity of a run."""
        return judge_settings(self.environment.reasoner)

    def score(self, query: Query, output: Output) -> RvmsScore:
        """Score one output. Raises `ReasonerUnreachable`."""
        sample, evidence = self.gold[query.query_id], output.evidence
        candidates: Sequence[Mapping[str, Any]] = evidence["found"]
        found = [self.check(sample, candidate) for candidate in candidates]
        chosen: int | None = evidence["chosen"]
        answer = None if chosen is None else found[chosen]
        right = moment_correct(sample, answer)
        correct = answer is not None and answer.true and right is not False
        stage = error_stage(found, answer, right, seen=was_found(evidence["results"], sample))
        return score_of_candidates(sample, found, answer, correct, stage, _gold_window(candidates, found))

    def check(self, sample: RvmsSample, candidate: Mapping[str, Any]) -> CandidateScore:
        """Compare one candidate of an output with the target."""
        upload = next((one for one in sample.uploads if _shows(one, candidate)), None)
        video, original = self._videos.video(candidate["url"]), self._videos.video(sample.url)
        time = candidate["moment"][1] if sample.asks_moment and candidate["moment"] is not None else None
        at = None if upload is None or time is None else time * upload.speed
        reference = self._videos.frame(sample.url, sample.key_time)
        located = time is not None and video is not None and original is not None
        return CandidateScore(
            url=candidate["url"],
            rule=address(candidate["url"]) == address(sample.url),
            true=upload is not None,
            model=self._accepted(sample, candidate, video),
            video_score=_video_cosine(video, original),
            frame=self._matches(sample, video, time, reference) if located else None,
            frame_score=self._frame_cosine(candidate["url"], time, reference) if located else None,
            in_shot=_inside(at, sample.shot, 0.0) if sample.asks_moment and sample.shot else None,
            on_event=_inside(at, sample.event, EVENT_SLACK) if sample.asks_moment and sample.event else None,
            error=None if at is None or sample.key_time is None else round(abs(at - sample.key_time), 3),
        )

    def _frame_cosine(self, url: str, time: float | None, reference: VideoView | None) -> float | None:
        views = (self._videos.frame(url, time), reference)
        first, second = (None if view is None else view.frame_vectors for view in views)
        return None if first is None or second is None else float(_unit(first[0]) @ _unit(second[0]))

    def _accepted(
        self, sample: RvmsSample, candidate: Mapping[str, Any], video: WebVideo | None
    ) -> bool | None:
        """The agent's own verdict where it asked for one; else the scorer asks."""
        if not sample.asks_video:
            return None
        if candidate["accepted"] is not None:
            return bool(candidate["accepted"])
        if video is None:
            return False
        reasoner, shown_video = self.environment.reasoner, video.seen_by(self.environment.reasoner)
        second = second_judge(reasoner)
        return _judged(lambda: verify(reasoner, second, sample.memory, shown_video, PAPER).agreed)

    def _matches(
        self, sample: RvmsSample, video: WebVideo | None, time: float | None, reference: VideoView | None
    ) -> bool | None:
        if video is None or time is None or reference is None:
            return None
        memory = sample.memory
        context = " ".join(part for part in (memory.before, memory.after) if part)

        def match() -> bool:
            start, end = max(0.0, time - AUDIO_CONTEXT), time + AUDIO_CONTEXT
            heard = bool(memory.auditory_memory)
            view = video.view(start, end, np.array([time]), transcript=heard, audio=heard)
            if heard:
                sounds = (line for line in sound_lines(video) if line.start < end and line.end > start)
                view = replace(view, texts=(*view.texts, *sounds))
            request = MatchRequest(
                description=memory.key_moment,
                candidate=view,
                reference=reference,
                constraint_kind="temporal" if context else "",
                constraint=context,
                auditory_memory=memory.auditory_memory,
            )
            found = self._videos.judge.run(MATCH_FRAME, request)
            # Without a remembered sound, and without one to compare, the sound decides nothing.
            sounds_other = heard and found.audio_match is False
            return found.text_match and bool(found.image_match) and not sounds_other

        return _judged(match)


def _judged(ask: Callable[[], bool]) -> bool:
    """The judge's verdict; False for an unusable reply. Raises `ReasonerUnreachable`."""
    try:
        return ask()
    except ReasonerUnreachable:
        raise
    except (ReasonerError, FileProblem):
        return False


def score_of_candidates(
    sample: RvmsSample,
    found: Sequence[CandidateScore],
    answer: CandidateScore | None,
    correct: bool,
    stage: str = "",
    window: tuple[float, float] | None = None,
) -> RvmsScore:
    """The score of a sample from those of its candidates."""
    rule = any(one.rule for one in found)
    errors = [one.error for one in found if one.error is not None]
    timed, video = sample.asks_moment, sample.asks_video
    # Without its time there is no reference frame to compare with.
    framed, shot, event = (
        timed and each is not None for each in (sample.key_time, sample.shot, sample.event)
    )
    return RvmsScore(
        correct=correct,
        rule=rule,
        model_rule=rule or any(bool(one.model) for one in found) if video else None,
        content=any(one.true for one in found),
        frame=any(bool(one.frame) for one in found) if framed else None,
        in_shot=any(bool(one.in_shot) for one in found) if shot else None,
        in_shot_answer=bool(answer and answer.in_shot) if shot else None,
        on_event=any(bool(one.on_event) for one in found) if event else None,
        error=min(errors) if errors else None,
        answer_true=bool(answer is not None and answer.true),
        moment_id=sample.moment_id,
        group=sample.group,
        topic=sample.topic,
        candidates=[one.line() for one in found],
        error_stage=stage,
        gold_window_found=window,
    )


def moment_correct(sample: RvmsSample, answer: CandidateScore | None) -> bool | None:
    """Whether the answer's moment is on the event; by the judge of frames where the event's time is unknown;
    None where the task has no moment."""
    if not sample.asks_moment or (sample.event is None and sample.key_time is None):
        return None
    if sample.event is not None:
        return bool(answer and answer.on_event)
    return bool(answer is not None and answer.frame)


def was_found(results: Sequence[Sequence[str]], sample: RvmsSample) -> bool:
    """Whether any upload of the video is a result of any search. `results`: addresses by search."""
    wanted = {address(upload.url) for upload in sample.uploads}
    return any(address(url) in wanted for urls in results for url in urls)


def error_stage(
    found: Sequence[CandidateScore], answer: CandidateScore | None, right: bool | None, *, seen: bool
) -> str:
    """One of `STAGES`; empty where nothing failed. `right`: of `moment_correct`; `seen`: of `was_found`."""
    if not any(one.true for one in found):
        return "retriever" if seen else "generator"
    if answer is None or not answer.true:
        return "verifier"
    return "localizer" if right is False else ""


def _gold_window(
    candidates: Sequence[Mapping[str, Any]], found: Sequence[CandidateScore]
) -> tuple[float, float] | None:
    """What was localized inside the original itself; a copy may have another clock."""
    for candidate, one in zip(candidates, found, strict=True):
        if one.rule and candidate["moment"] is not None:
            start, _, end = candidate["moment"]
            return start, end
    return None


def _shows(upload: TargetUpload, candidate: Mapping[str, Any]) -> bool:
    if address(upload.url) == address(candidate["url"]):
        return True
    return bool(upload.video_id) and upload.video_id == candidate["video_id"]


def _inside(at: float | None, span: tuple[float, float], slack: float) -> bool:
    return at is not None and span[0] - slack <= at < span[1] + slack


def _video_cosine(video: WebVideo | None, original: WebVideo | None) -> float | None:
    if video is None or original is None:
        return None
    means = []
    for one in (video, original):
        view = shown(one, midpoints(0.0, one.duration, PAPER.verify_frames), PAPER)
        if view.frame_vectors is None:
            return None
        means.append(_unit(view.frame_vectors.mean(axis=0)))
    return float(means[0] @ means[1])


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """(d,) float64 of length 1; a zero vector stays zero."""
    wide = vector.astype(np.float64)
    return np.asarray(wide / max(float(np.linalg.norm(wide)), 1e-12), np.float64)
