"""A reasoner with simple rules that plays RACLO's roles, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag.reasoners.roles.searching import Hypothesis, ImaginedQueries, ImagineRequest
from rag.reasoners.roles.watching import Located, LocateRequest, VerifyRequest, VideoVerdict
from tests.fakes.role_methods import RoleMethods


class RecallingReasoner(RoleMethods):
    """Searches for video 7, knows it by its secret, and finds the moment at 40 s."""

    def __init__(
        self, queries: Sequence[str] = ("kettle video 7", "kettle"), *, accepts: bool = True, **failures: Any
    ) -> None:
        super().__init__(**failures)
        self.queries, self.accepts = tuple(queries), accepts

    @property
    def verified(self) -> list[VerifyRequest]:
        return self.requests_of("verify_video")

    def imagine_queries(self, request: ImagineRequest) -> ImaginedQueries:
        guess = Hypothesis(kind="literal", guess="a recording of kettles")
        return ImaginedQueries(
            thought="kettles", hypotheses=(guess,), chosen=0, queries=self.queries[: request.count]
        )

    def verify_video(self, request: VerifyRequest) -> VideoVerdict:
        known = self.accepts and any("secret" in line.text for line in request.view.texts)
        return VideoVerdict(video_match=known, confidence=0.9, reason="the secret" if known else "no secret")

    def locate(self, request: LocateRequest) -> Located:
        times = request.view.times
        at = min(range(len(times)), key=lambda i: abs(times[i] - 40.0))
        return Located(relevant=True, frame=at, confidence=0.8, reason="the lid")
