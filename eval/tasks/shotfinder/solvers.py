"""ShotFinder and its variants as solvers, and a control that reads metadata alone.

An output's evidence has all that the scorer needs: the searches, and each searched video with its shot.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from eval.runs.records import Output, ranked_clips
from eval.tasks.shotfinder.dataset import ShotInput
from eval.tasks.web_task import Variant, Variants, WebEnvironment, WebSolver, likeliest, require_reachable
from rag.agents.shotfinder.agent import find_shot
from rag.agents.shotfinder.constraints import memory_of
from rag.agents.shotfinder.records import (
    ASKED_FRAMES,
    MAIN,
    PAPER,
    SWEEPS,
    FoundShot,
    ShotRequest,
    ShotSettings,
    sweep,
)
from rag.errors import ReplyInvalid, Unanswered, WebError
from rag.reasoners.roles.searching import IMAGINE_QUERIES, ImagineRequest

OURS, ASKED, OFF = "shotfinder", "shotfinder-asked", "shotfinder-off"
OPEN = f"{ASKED_FRAMES}@64"
METADATA = "metadata-only"
VARIANTS = Variants(
    {
        ASKED: Variant(
            "as in the paper: frames by duration, the constraint is passed to the reasoner as text", PAPER
        ),
        OPEN: Variant(
            "as in the paper, for open models: the same with 64 frames of every video",
            sweep(*OPEN.split("@")),
        ),
        OURS: Variant(
            "ours: the paper's frames, the resolution compared with the video's", replace(MAIN, look="frames")
        ),
        "shotfinder-texts": Variant(
            "ours: as shotfinder, with title, description, speech and text on the screen", MAIN
        ),
        OFF: Variant(
            "control: the description alone, without the constraint", replace(PAPER, constraint_mode="off")
        ),
        "wo-imagination": Variant(
            "the description itself as the one search, 4 videos of it",
            replace(MAIN, look="frames", imagine=False, urls=4),
        ),
        METADATA: Variant(
            "control: opens no video; the most likely result by its metadata, and its middle",
            MAIN,
            "metadata",
        ),
    },
    {**SWEEPS, ASKED_FRAMES: ()},
    sweep,
    "figure 4",
)


@dataclass(frozen=True)
class ShotFinderSolver(WebSolver[ShotSettings]):
    """All variants are deterministic. `solve` raises `ReasonerUnreachable` where the reasoner is gone."""

    environment: WebEnvironment

    def solve(self, asked: ShotInput) -> Output:
        """Run the agent on one query."""
        request = ShotRequest(asked.description, asked.constraints)
        web = self.environment.web
        source = self.environment.frame_source
        run = find_shot(request, web, self.counted.reasoner, source, self.variant.settings)
        require_reachable(run.failure, asked.query_id)
        return Output(
            confidence=run.shot.score if run.shot is not None else 0.0,
            clips=ranked_clips(dict.fromkeys(look.video_id for look in run.looks)),
            evidence={
                "shot": None if run.shot is None else _as_json(run.shot),
                "looks": [
                    {"url": look.url, "video_id": look.video_id, "found": _span(look.found)}
                    for look in run.looks
                ],
                "missed": {look.url: look.missed for look in run.looks if look.missed},
                "queries": list(run.queries),
                "failure": run.failure,
                "failures": list(run.failures),
                "searches": run.searches,
            },
            tokens={"all": run.tokens},
            parse_failure=ReplyInvalid.__name__ in run.failures,
        )


class MetadataControl(ShotFinderSolver):
    """Reads titles, descriptions and tags alone; returns the middle of the most likely result."""

    def solve(self, asked: ShotInput) -> Output:
        """Return the middle of the most likely search result."""
        failure, guess, results = "", None, list[str]()
        try:
            guess, results = self._guess(asked)
        except (Unanswered, WebError) as error:
            # As in the agent: an unusable reply or page costs one query, not the run.
            failure = type(error).__name__
        usage = self.counted.reasoner.usage()
        return Output(
            clips=ranked_clips(dict.fromkeys(results)),
            evidence={"guess": guess, **({"failure": failure} if failure else {})},
            parse_failure=failure == ReplyInvalid.__name__,
            tokens={"all": usage.prompt_tokens + usage.completion_tokens},
        )

    def _guess(self, asked: ShotInput) -> tuple[dict[str, Any] | None, list[str]]:
        web, reasoner, settings = self.environment.web, self.counted.reasoner, self.variant.settings
        memory = memory_of(asked.description, asked.constraints)
        imagined = reasoner.run(IMAGINE_QUERIES, ImagineRequest(memory, settings.queries))
        results = {
            result.url: result
            for search in imagined.queries
            for result in web.search_videos(search, page_size=settings.results).results
        }
        listed = list(results.values())
        if not listed:
            return None, []
        picked = listed[likeliest(reasoner, listed, f"{asked.description} {asked.constraint}")]
        ids = [video for result in listed if (video := web.video_id(result.url)) is not None]
        return {"video_id": web.video_id(picked.url) or "", "frame": picked.duration / 2}, ids


def open_solver(variant: Variant[ShotSettings], environment: WebEnvironment, seed: int) -> ShotFinderSolver:
    """The solver of a variant."""
    kind = MetadataControl if variant.mode == "metadata" else ShotFinderSolver
    return kind(variant, environment, seed)


def _span(found: FoundShot | None) -> list[float] | None:
    """Start, frame and end in seconds."""
    return None if found is None else [found.start, found.frame, found.end]


def _as_json(found: FoundShot) -> dict[str, Any]:
    kept = ("url", "video_id", "start", "end", "frame", "score")
    return {name: getattr(found, name) for name in kept} | {"checks": [asdict(one) for one in found.checks]}
