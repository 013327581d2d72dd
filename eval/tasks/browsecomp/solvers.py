"""Video-Browser and its variants as solvers (appendix B.1): settings of one agent.

`videos@N`, `loops@N` and `frames@N` are the points of figure 3; any N may be named.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from eval.runs.records import Output, TaskInput, ranked_clips
from eval.tasks.web_task import Variant, Variants, WebSolver, require_reachable
from rag.agents.video_browser.agent import run_video_browser
from rag.agents.video_browser.records import (
    ABLATION,
    EFFICIENCY,
    MAIN,
    PAPER,
    SCALING,
    BrowserSettings,
    scaling,
)
from rag.errors import ReplyInvalid, UsageError
from rag.records import Question

OPENED = ("watch", "reject", "summary")
"""Steps in which a video is opened."""


def _point(axis: str, value: str) -> BrowserSettings:
    if not value.isdecimal() or int(value) < 1:
        raise UsageError(f"no system {axis}@{value}: {axis} is a number of at least 1")
    return scaling(axis, int(value))


VARIANTS = Variants(
    {
        "video-browser": Variant("table 1: T = 5, K = 3, 16 sparse frames, windows at 1 fps", PAPER),
        "video-browser-screen": Variant("ours: the same, with text on the screen", MAIN),
        "pyramidal": Variant("table 2: T = 1, K = 3, 16 sparse frames, windows at 1 fps", EFFICIENCY),
        "pyramidal-screen": Variant(
            "ours: the same, with text on the screen", replace(EFFICIENCY, screen=True)
        ),
        "direct": Variant(
            "table 2: direct visual inference, T = 1, the first 3 results, 128 frames of each",
            replace(EFFICIENCY, paradigm="direct"),
        ),
        "direct-selected": Variant(
            "ours: direct visual inference of the 3 videos that stage 1 selects",
            replace(EFFICIENCY, localize=False, zoom_rate=1000.0),
        ),
        "summarization": Variant(
            "table 2: the same videos and frames as direct, each summarized as text first",
            replace(EFFICIENCY, paradigm="summarization"),
        ),
        "text-search": Variant(
            "pages of text and the metadata of results, no video", replace(EFFICIENCY, paradigm="text-search")
        ),
        "tool-free": Variant("the question alone", replace(EFFICIENCY, paradigm="tool-free")),
        "full": Variant("table 3: T = 1, K = 2", ABLATION),
        "wo-stage1": Variant("table 3: the first results unfiltered", replace(ABLATION, select=False)),
        "wo-stage2": Variant("table 3: whole videos to the analyst", replace(ABLATION, localize=False)),
        "wo-stage3": Variant("table 3: sparse frames to the analyst", replace(ABLATION, zoom=False)),
        "transcript-only": Variant("table 3: without frames", replace(ABLATION, images=False)),
        "visual-only": Variant("table 3: without transcripts", replace(ABLATION, transcript=False)),
    },
    SCALING,
    _point,
    "figure 3",
)


@dataclass(frozen=True)
class VideoBrowserSolver(WebSolver[BrowserSettings]):
    """All variants are deterministic. `solve` raises `ReasonerUnreachable` where the reasoner is gone."""

    def solve(self, asked: TaskInput) -> Output:
        """Run the agent on one question."""
        question = Question(asked.query_id, asked.text, asked.options)
        run = run_video_browser(
            question,
            self.environment.web,
            self.counted.reasoner,
            self.environment.frame_source,
            self.variant.settings,
            must_choose=True,
        )
        require_reachable(run.failure, asked.query_id)
        windows = [read.window for read in run.evidence]
        videos = dict.fromkeys(window.video_id for window in windows)
        opened = (step.data["url"] for step in run.steps if step.kind in OPENED and "url" in step.data)
        return Output(
            confidence=run.answer.confidence,
            clips=ranked_clips(videos),
            evidence={
                "answer": run.answer.text if run.answer.matched else "",
                "explanation": run.answer.explanation,
                "failure": run.failure,
                "failures": list(run.failures),
                "loops": run.loops,
                "searches": run.searches,
                "context": run.context,
                "tokens_by_role": run.answer.usage.spent_by_role,
                "sparse_image_tokens": run.sparse_image_tokens,
                "watched": [video.url for video in run.watched],
                "opened": list(dict.fromkeys(str(url) for url in opened)),
                "read": [[window.video_id, window.start, window.end, window.score] for window in windows],
                "queries": [step.data["query"] for step in run.steps if step.kind == "search"],
            },
            tokens={"all": run.tokens},
            parse_failure=run.failure == ReplyInvalid.__name__,
        )
