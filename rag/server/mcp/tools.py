"""The table of tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from rag.server.mcp import finding, frames, jobs, reading
from rag.server.mcp.rows import Arguments, Reply, Row
from rag.server.service import Service


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what a client is shown of it, and what it runs."""

    title: str
    description: str
    arguments: type[Arguments]
    result: type[Row]
    run: Callable[[Service, Any, Any], Reply]
    """Of the service, the library (None for one that needs none), and the arguments."""
    needs: Literal["models", "library", "jobs"] = "library"
    """What needs models takes its turn: questions use them one at a time."""
    read_only: bool = True

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.run.__name__


TOOLS = (
    Tool(
        "Search the library",
        "Find the moments of videos and the passages of documents that match a query, best first. Use it "
        "first, to find where something is seen, said, written on screen or described. Each result has a "
        "citation, `VIDEO_ID@START-END` or the id of a passage, which the other tools take, and the words"
        " that matched. `matched` is false where nothing matches: the results are then only the nearest. "
        "Scores compare within one search only. Does not answer questions: ask_library does.",
        finding.SearchArguments,
        finding.SearchResult,
        finding.search_library,
        "models",
    ),
    Tool(
        "Ask the library",
        "Answer a question from the videos and documents, open or with options, with a confidence and the"
        " citations that prove it. `matched` is false where the library has no answer. Takes longer than "
        "search_library; look at its citations with show_frames before you rely on what is seen in them.",
        finding.AskArguments,
        finding.AskResult,
        finding.ask_library,
        "models",
    ),
    Tool(
        "Find a moment in one video",
        "Find when in one video something happens: the windows that fit a query best, and the highest "
        "moments of the query's score over the whole video. Use it when the video is known; "
        "search_library looks in all. Scores compare within one call only.",
        finding.FindArguments,
        finding.FindResult,
        finding.find_in_video,
        "models",
    ),
    Tool(
        "Show frames of a video",
        "Look at a video: JPEG images of a citation, or of start to end seconds of a video. By default "
        "one contact sheet of the frames with their times; `sheet=false` gives single frames. Use it to "
        "check what is seen before you claim it. At most 8 frames a call, at most 768 pixels wide.",
        frames.ShowArguments,
        frames.ShowResult,
        frames.show_frames,
    ),
    Tool(
        "Read the transcript of a video",
        "Read what is said in a video, or written on screen, with times in seconds, from `start` to "
        "`end`. A long one is truncated, and `next` is the call that continues.",
        reading.TranscriptArguments,
        reading.TranscriptResult,
        reading.read_transcript,
    ),
    Tool(
        "List the videos",
        "List the videos of the library: id, title, duration, whether they have images and which kinds of"
        " text, and whether their file is still there. `query` filters by title and path, not by content:"
        " search_library does that.",
        reading.ListArguments,
        reading.ListResult,
        reading.list_videos,
    ),
    Tool(
        "Describe a video",
        "What is stored of one video: title, description, tags, chapters, shots with colour tone and "
        "style, other videos with the same content, and problems of its file.",
        reading.DescribeArguments,
        reading.DescribeResult,
        reading.describe_video,
    ),
)
"""The tools that only read."""
INDEX_TOOLS = (
    Tool(
        "Index a folder",
        "Start to index a folder or file that the user names, below the folders that this server may index. "
        "Returns a job at once; ask get_job how it is doing. With `dry_run` it only forecasts the time. "
        "search_library finds what was indexed when the job has ended.",
        jobs.StartArguments,
        jobs.JobResult,
        jobs.start_indexing,
        "jobs",
        read_only=False,
    ),
    Tool(
        "Look at a job",
        "The state of a job: of indexing, with progress in seconds of media, time to go and files with "
        "problems, or of an agent that was started on the page of `rag serve`. Without an id that of the "
        "newest job.",
        jobs.JobArguments,
        jobs.JobResult,
        jobs.get_job,
        "jobs",
    ),
    Tool(
        "Cancel a job",
        "Stop a job. What it has indexed stays.",
        jobs.CancelArguments,
        jobs.JobResult,
        jobs.cancel_job,
        "jobs",
        read_only=False,
    ),
)
"""Those of a server that may index."""


def schema_of(model: type[BaseModel], *, result: bool = False) -> dict[str, Any]:
    """The JSON schema of arguments or of a result, without the titles that repeat the names."""
    schema = model.model_json_schema(mode="serialization" if result else "validation")
    schema.pop("description", None)
    pruned = _pruned(schema)
    assert isinstance(pruned, dict)
    return pruned


def _pruned(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_pruned(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _pruned(value)
        for name, value in schema.items()
        if not (name == "title" and isinstance(value, str)) and not (name == "default" and value is None)
    }
