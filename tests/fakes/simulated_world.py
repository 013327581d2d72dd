"""A few plain frames with a truth, for the simulated model: no video is rendered or decoded."""

import contextlib
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from eval.simulated_model.frames import FrameIndex, Video, jpeg_thumbnail
from eval.simulated_model.server import SimulatedModel, SimulatedModelServer, running
from rag.reasoners.llm.openai_client import OpenAIClient
from rag.reasoners.llm.reasoner import LlmReasoner
from rag.settings import ReasonerSettings

ACTS = (
    ("wipe", "cloth", "hammer"),
    ("plug", "wall_socket", "kettle"),
    ("hang", "hook", "towel"),
    ("weigh", "scale", "egg"),
    ("place", "stool", "book"),
    ("drop", "bin", "tomato"),
)
"""What happens in each video, 4 s each: action, place and object."""


def image(video: int, second: float) -> NDArray[np.uint8]:
    """uint8 (180, 320, 3): random cells that belong to the moment."""
    rng = np.random.default_rng([video, int(second * 4)])
    cells = rng.integers(0, 256, (9, 16, 3), dtype=np.uint8)
    return np.repeat(np.repeat(cells, 20, axis=0), 20, axis=1)


def jpeg(pixels: NDArray[np.uint8], quality: int = 90) -> bytes:
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "JPEG", quality=quality)
    return data.getvalue()


def truth(number: int) -> dict[str, Any]:
    """As a line of events.jsonl."""
    return {
        "scene": ("kitchen", "garage", "garden", "bedroom")[number % 4],
        "light": "warm",
        "style": "live",
        "person": "woman",
        "props": [{"prop": "globe", "color": "red"}],
        "events": [_event(at, number) for at in range(len(ACTS))],
        "cards": [{"start": 8.0, "end": 12.0, "text": f"Order number 12{number}4"}],
    }


def _event(at: int, number: int) -> dict[str, Any]:
    action, place, thing = ACTS[at]
    named = {"agent": "camera wearer", "action_id": action, "place": place}
    thing = ACTS[(at + number) % len(ACTS)][2] if action != "plug" else thing
    start, end = 4.0 * at, 4.0 * at + 4
    times = {"start": start, "end": end, "seen_from": start, "seen_until": end}
    return {**named, "kind_id": thing, **times}


def frame_index(count: int = 2) -> FrameIndex:
    times = (np.arange(96) / 4).astype(np.float32)
    return FrameIndex(
        Video(
            f"v{number}.mp4",
            truth(number),
            np.stack([jpeg_thumbnail(jpeg(image(number, time), 95)) for time in times.tolist()]),
            times,
        )
        for number in range(count)
    )


@contextlib.contextmanager
def simulated_reasoner(
    model: SimulatedModel | None = None, **settings: Any
) -> Iterator[tuple[LlmReasoner, SimulatedModelServer]]:
    """A language-model reasoner on a server of the simulated model, and the server."""
    with running(model or SimulatedModel(frame_index())) as server:
        chosen = ReasonerSettings(
            **{
                "kind": "openai",
                "base_url": server.base_url,
                "model": server.name,
                "max_calls": 10_000,
                **settings,
            }
        )
        yield LlmReasoner(OpenAIClient(chosen, first_wait=0.01), chosen), server
