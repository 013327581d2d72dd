"""Whether a returned frame is the right one: by a judge, by CLIP's cosine, and by exact times.

The paper asks a model apart from the one under test with all that the search was made of (the description
and its constraint), the true frame and the returned one (section 4.4): a shot is right where text, image
and constraint match. The public code passes a sample where text or image matches on any candidate. Both
are scored here.

A failed search has the first stage at which it failed (section 5.3 and appendix G.2):

generator     no search shares a content word with the metadata of the right video
retriever     some do, and the right video is not among those that were searched
localizer     it was searched, and no shot or another of its shots was returned
verifier      its right shot was returned, and another video was preferred
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from corpora.records import Frames
from eval.runs.records import Output, Query, Score
from eval.tasks.shotfinder.dataset import ShotQuery
from eval.tasks.web_task import JudgedVideos, WebEnvironment, judge_settings
from rag.agents.shotfinder.constraints import measures_of
from rag.agents.shotfinder.records import FRAME_BUDGET
from rag.errors import BudgetSpent, ReasonerError, ReasonerUnreachable, UnreadableFile
from rag.reasoners.roles.material import ConstraintKind, VideoView
from rag.reasoners.roles.watching import MATCH_FRAME, MatchRequest
from rag.words import content_words, word_set

if TYPE_CHECKING:
    from numpy.typing import NDArray


AUDIO_CONTEXT = 5.0
"""Seconds of sound on both sides of a frame that is judged (appendix C.1: 10 s around it)."""
CLIP_THRESHOLD = 0.7
"""Appendix B: a cosine from here on counts as a match."""
NO_REFERENCE = "without a reference frame"
NO_FRAME = "without a frame to be judged by"
NO_VERDICT = "without a verdict"
SPENT = "whose budget was spent before anything was found"
"""Why a sample was not judged, as behind "n queries"."""
LENGTHS = ("under 3 minutes", "3 to 10 minutes", "over 10 minutes")
Stage = Literal["", "generator", "retriever", "localizer", "verifier"]
STAGES: tuple[Stage, ...] = ("generator", "retriever", "localizer", "verifier")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotScore(Score):
    """Scores of a solver that opens no video."""

    value: str
    """What the constraint asks for."""
    rules: Mapping[str, bool | None]
    """Verdict by each scoring rule; None where it does not apply."""
    stage: Stage
    topic: str
    length: str
    """The length of the right video: under 3 minutes, 3 to 10, over 10; empty where the web lacks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchScore(ShotScore):
    """Scores of a solver that opens videos."""

    judged: Sequence[Mapping[str, Any]]
    """`JudgedFrame.line` of every candidate's frame."""
    off_by: float | None
    """Seconds from the returned frame to the true shot, in the right video; 0 inside the shot."""
    gold_window_found: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class JudgedFrame:
    """One returned frame compared with the query. None: could not be compared."""

    text: bool | None
    """The judge: subjects and actions of the description are there."""
    image: bool | None
    """The judge: the same scene as the true frame."""
    constraint: bool | None
    """The judge: the constraint is met."""
    clip_image: float | None
    """Cosine with the true frame."""
    clip_text: float | None
    """Cosine with the description, in the library's image space."""
    truth: bool | None
    """Whether it is in the right shot of the right video."""
    moment: bool | None
    """In a shot that fits the description, whatever the constraint."""

    @property
    def strict(self) -> bool | None:
        """The paper's rule: text, image and constraint match. None where text or image was not compared; a
        constraint that nothing shown decides does not count."""
        if self.text is None or self.image is None:
            return None
        return self.text and self.image and self.constraint is not False

    @property
    def lenient(self) -> bool | None:
        """The public code's: either does. None where neither does and one of them was not compared."""
        if self.text or self.image:
            return True
        return None if self.text is None or self.image is None else False

    @property
    def by_clip(self) -> bool | None:
        """Appendix B: the cosine with the true frame reaches the threshold."""
        return None if self.clip_image is None else self.clip_image >= CLIP_THRESHOLD

    def line(self) -> dict[str, Any]:
        """Make the JSON row, with the verdicts of the rules."""
        return {**asdict(self), "strict": self.strict, "by_clip": self.by_clip}


@dataclass
class ShotScorer:
    """`folder`: of the data, for reference images.

    `score` raises `ReasonerUnreachable` where the reasoner is gone.
    """

    environment: WebEnvironment
    gold: Mapping[str, ShotQuery]
    folder: Path

    @cached_property
    def _videos(self) -> JudgedVideos:
        return JudgedVideos(self.environment)

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON, for the identity of a run."""
        return {**judge_settings(self.environment.reasoner), "threshold": CLIP_THRESHOLD}

    def score(self, query: Query, output: Output) -> ShotScore:
        """Score one output. Raises `ReasonerUnreachable`."""
        gold, evidence = self.gold[query.query_id], output.evidence
        if "looks" not in evidence:
            return _unopened(gold, evidence["guess"], self._length(gold))
        looks: Sequence[Mapping[str, Any]] = evidence["looks"]
        shot: Mapping[str, Any] | None = evidence["shot"]
        reference, missing = self._reference(gold)
        judged = {look["url"]: self.judge_frame(gold, reference, look) for look in looks if look["found"]}
        best = judged[shot["url"]] if shot is not None else None
        rules = self._rules(best, list(judged.values()), timed=gold.gold.timed, compared=not missing)
        right = rules["truth" if gold.gold.timed else "strict"]
        reason = missing or _unscored(shot, str(evidence["failure"]), right)
        correct = bool(right) and not reason
        metadata = [
            entry.text
            for url in gold.gold.urls
            if (entry := self.environment.web.catalogue.video(url)) is not None
        ]
        inside = next((look["found"] for look in looks if look["video_id"] == query.video), None)
        return SearchScore(
            correct=correct,
            unjudged=reason,
            value=gold.value,
            rules=rules,
            stage="" if reason or correct else failed_stage(gold, looks, evidence["queries"], metadata),
            judged=[each.line() for each in judged.values()],
            off_by=_off_by(gold, shot),
            gold_window_found=None if inside is None else (inside[0], inside[2]),
            topic=gold.topic,
            length=self._length(gold),
        )

    def _length(self, gold: ShotQuery) -> str:
        find = self.environment.web.catalogue.video
        entry = next((entry for url in gold.gold.urls if (entry := find(url)) is not None), None)
        if entry is None or not entry.duration:
            return ""
        return LENGTHS[sum(entry.duration >= limit for limit, _ in FRAME_BUDGET.steps)]

    def judge_frame(
        self, gold: ShotQuery, reference: VideoView | None, look: Mapping[str, Any]
    ) -> JudgedFrame:
        """Verdicts that an unusable reply does not give are None."""
        video_id, time = look["video_id"], look["found"][1]
        kind: ConstraintKind = "" if gold.task == "shot" else gold.task
        seen = self._frame(look["url"], time, AUDIO_CONTEXT if kind == "audio" else 0.0)
        truth, moment = true_shot(gold, video_id, time), true_moment(gold, video_id, time)
        if seen is None:
            return JudgedFrame(None, None, None, None, None, truth, moment)
        clip_image = _cosine(seen, reference.frame_vectors if reference is not None else None)
        tower = self.environment.library.engine.tower
        clip_text = _cosine(seen, None if tower is None else tower.encode_text([gold.description]))
        without_judge = JudgedFrame(None, None, None, clip_image, clip_text, truth, moment)
        judge = self._videos.judge
        request = MatchRequest(
            description=gold.description,
            candidate=self._described(seen, video_id, kind),
            reference=reference,
            constraint_kind=kind,
            constraint=gold.constraint,
        )
        try:
            match = judge.run(MATCH_FRAME, request)
        except ReasonerUnreachable:
            raise
        except ReasonerError:
            return without_judge
        # An image that was never compared is no mismatch.
        compared = reference is not None and (judge.reads_pixels or clip_image is not None)
        image = match.image_match if compared else None
        return JudgedFrame(
            match.text_match, image, match.constraint_match, clip_image, clip_text, truth, moment
        )

    def _frame(self, url: str, time: float, around: float = 0.0) -> VideoView | None:
        """One frame, with the sound of some seconds `around` it; None where it cannot be had."""
        return self._videos.frame(url, time, around, screen=False, metadata=False, audio=around > 0)

    def _described(self, seen: VideoView, video_id: str, kind: ConstraintKind) -> VideoView:
        """With what no frame shows: for a constraint on the resolution that of the file."""
        video = measures_of(self.environment.library, video_id).video
        if kind != "resolution" or video is None or not video.height:
            return seen
        return replace(seen, description=f"The file has {video.width} x {video.height} pixels.")

    def _reference(self, gold: ShotQuery) -> tuple[VideoView | None, str]:
        """The true frame, and why there is none where the verdict rests on it."""
        if gold.image:
            try:
                return self._image(self.folder / gold.image), ""
            except UnreadableFile as error:
                _log.warning("%s: %s; this query is not judged", gold.query_id, error)
                return None, "" if gold.gold.timed else NO_REFERENCE
        if gold.gold.timed:
            return self._frame(gold.gold.urls[0], gold.frame), ""
        return None, NO_REFERENCE

    def _image(self, path: Path) -> VideoView:
        """An image file as one frame, encoded as the library's are. Raises `UnreadableFile`."""
        from PIL import Image

        from indexers.registry import open_image_encoder

        try:
            with Image.open(path) as opened:
                pixels = np.asarray(opened.convert("RGB"), np.uint8)[None]
        except (OSError, ValueError) as error:
            raise UnreadableFile(f"{path}: cannot be read as an image: {error}") from error
        view = VideoView("", 0.0, 0.0, frame_times=np.zeros(1))
        if self._videos.judge.reads_pixels:
            view = replace(view, frames=Frames(np.zeros(1), pixels))
        engine = self.environment.library.engine
        if engine.tower is None or (meta := engine.reader.meta) is None or meta.image_encoder is None:
            return view
        encoder = open_image_encoder(meta.image_encoder.name, self.environment.encoder)
        return replace(view, frame_vectors=np.asarray(encoder.encode_images(pixels), np.float32))

    def _rules(
        self, best: JudgedFrame | None, judged: Sequence[JudgedFrame], *, timed: bool, compared: bool
    ) -> dict[str, bool | None]:
        """The verdict of each rule; None where it does not apply. No shot is wrong by every rule.

        `timed`: the gold times are known. `compared`: there is a true frame to compare with; without it
        even "no shot" is left out, so that a rule counts the same queries for every system.
        """
        nothing = False if compared else None
        untrue = False if timed else None
        return {
            "truth": best.truth if best is not None else untrue,
            "moment": best.moment if best is not None else untrue,
            "strict": best.strict if best is not None else nothing,
            "strict, any candidate": _any([each.strict for each in judged]) if judged else nothing,
            "lenient, any candidate": _any([each.lenient for each in judged]),
            "clip": best.by_clip if best is not None else nothing,
        }


def _unopened(gold: ShotQuery, guess: Mapping[str, Any] | None, length: str) -> ShotScore:
    """The score of a control without frames: by exact times alone."""
    found = () if guess is None else (guess["video_id"], guess["frame"])
    right = bool(found and true_shot(gold, *found))
    moment = bool(found and true_moment(gold, *found))
    timed = gold.gold.timed
    return ShotScore(
        correct=right,
        unjudged="" if timed else NO_FRAME,
        value=gold.value,
        rules={"truth": right, "moment": moment} if timed else {},
        stage="",
        topic=gold.topic,
        length=length,
    )


def true_shot(gold: ShotQuery, video_id: str, time: float) -> bool | None:
    """Tell whether a frame is in the gold shot; None where the gold time is unknown."""
    place = gold.gold
    return video_id == place.video_id and place.start <= time < place.end if place.timed else None


def true_moment(gold: ShotQuery, video_id: str, time: float) -> bool | None:
    """Tell whether a frame is in a shot that fits the description; None as by `true_shot`."""
    right = true_shot(gold, video_id, time)
    if right is None or right:
        return right
    return any(video_id == twin.video_id and twin.start <= time < twin.end for twin in gold.twins)


def failed_stage(
    gold: ShotQuery, looks: Sequence[Mapping[str, Any]], queries: Sequence[str], metadata: Sequence[str]
) -> Stage:
    """Name the stage that failed. `looks`: searched videos, `found`: start, frame and end of the shot.
    `metadata`: title, description and tags of each upload of the right video."""
    place = gold.gold
    own = [look for look in looks if look["url"] in place.urls or look["video_id"] == place.video_id]
    if own:
        found = [look for look in own if look["found"]]
        # Without gold times any shot of the right video may be the one.
        right = [
            look for look in found if not place.timed or true_shot(gold, look["video_id"], look["found"][1])
        ]
        return "verifier" if right else "localizer"
    words = {word for text in metadata for word in content_words(text)}
    return "retriever" if any(words & word_set(query) for query in queries) else "generator"


def _unscored(shot: Mapping[str, Any] | None, failure: str, right: bool | None) -> str:
    """Why a sample is neither right nor wrong; empty for one that is."""
    if shot is None:
        return SPENT if failure == BudgetSpent.__name__ else ""
    return NO_VERDICT if right is None else ""


def _any(verdicts: Sequence[bool | None]) -> bool | None:
    if any(verdicts):
        return True
    return None if None in verdicts else False


def _off_by(gold: ShotQuery, shot: Mapping[str, Any] | None) -> float | None:
    place = gold.gold
    if shot is None or not place.timed or shot["video_id"] != place.video_id:
        return None
    time = float(shot["frame"])
    return round(max(place.start - time, time - place.end, 0.0), 3)


def _cosine(view: VideoView, other: NDArray[np.float32] | None) -> float | None:
    """The cosine of the first rows, to 6 decimals; None where one is missing or the widths differ."""
    ours = view.frame_vectors
    if ours is None or other is None or not len(other) or ours.shape[1] != other.shape[1]:
        return None
    return round(float(ours[0].astype(np.float64) @ other[0].astype(np.float64)), 6)
