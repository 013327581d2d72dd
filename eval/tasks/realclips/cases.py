"""Queries about real clips, with gold: a JSON file beside the videos.

`videos` lists the files that are searched (`file`), those without a query too. A query
of `queries` is answered by each video of `relevant`, one of `moments` by the seconds
`start` to `end` of `video`, and one of `no_match` by no video at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from eval.runs.records import Query, TaskInput
from eval.tasks.published import validation_reason
from rag.errors import UsageError

FOUND, MOMENT, ABSENT = "found", "moment", "absent"
"""Families of queries: the video is asked for, its seconds are, and no video shows it."""

Text = Annotated[str, Field(min_length=1)]


class Named(BaseModel):
    """A video that is searched."""

    file: Text


class Case(BaseModel):
    """A query with its gold."""

    model_config = ConfigDict(extra="ignore")

    id: Text
    query: Text
    relevant: tuple[Text, ...] = ()
    video: str = ""
    start: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    end: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0

    def asked(self, family: str) -> Query:
        """The query of a family. Its interval is drawn with the first video that answers it."""
        video = self.video or next(iter(self.relevant), "")
        return Query(
            query_id=self.id,
            text=self.query,
            options=(),
            answer=video,
            family=family,
            video=video,
            cluster=video or self.id,
            window=(self.start, self.end),
        )


class Cases(BaseModel):
    """All queries of a file. A file without `queries`, `moments` and `no_match` is none."""

    model_config = ConfigDict(extra="ignore")

    videos: tuple[Named, ...] = ()
    queries: tuple[Case, ...] = ()
    moments: tuple[Case, ...] = ()
    no_match: tuple[Case, ...] = ()

    @model_validator(mode="after")
    def _has_gold(self) -> Cases:
        families = self.by_family
        ids = [case.id for cases in families.values() for case in cases]
        twice = next((each for at, each in enumerate(ids) if each in ids[:at]), None)
        if not ids:
            raise ValueError("no queries, moments or no_match")
        if twice is not None:
            raise ValueError(f"two queries have the id {twice}")
        for case in families[FOUND]:
            if not case.relevant:
                raise ValueError(f"query {case.id}: relevant names no video")
        for case in families[MOMENT]:
            if not case.video or case.end <= case.start:
                raise ValueError(f"moment {case.id}: it needs a video, and an end after its start")
        return self

    @property
    def by_family(self) -> Mapping[str, tuple[Case, ...]]:
        """The queries of each family."""
        return {FOUND: self.queries, MOMENT: self.moments, ABSENT: self.no_match}

    @property
    def files(self) -> tuple[str, ...]:
        """File names of all videos that are listed or asked about, sorted."""
        asked = [case.video for case in self.moments]
        listed = [video.file for video in self.videos]
        return tuple(sorted({*listed, *asked, *(name for case in self.queries for name in case.relevant)}))


def read_cases(folder: Path) -> tuple[Path, Cases]:
    """The one file of queries in a folder. Raises `UsageError` where there is none, or more than one."""
    found: dict[Path, Cases] = {}
    reasons = []
    for path in sorted(folder.glob("*.json")):
        try:
            found[path] = Cases.model_validate_json(path.read_bytes())
        except ValidationError as error:
            reasons.append(f"{path.name}: {validation_reason(error)}")
    if len(found) != 1:
        names = ", ".join(path.name for path in found)
        why = f"several files of queries: {names}" if found else "; ".join(reasons) or "no JSON file"
        raise UsageError(f"{folder}: realclips needs one file with queries, moments or no_match; {why}")
    return next(iter(found.items()))


def inputs_of(cases: Cases) -> dict[str, TaskInput]:
    """What a solver sees of each query, by its id: of a moment, the video whose seconds are asked for."""
    return {
        case.id: TaskInput(case.id, case.query, video=case.video if family == MOMENT else "")
        for family, held in cases.by_family.items()
        for case in held
    }
