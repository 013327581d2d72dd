"""A task whose solver asks a language model at `ASKING_URL`, twice a query, and the server it asks.

The server's replies depend on the request alone; when they come does not. Some are slightly off, some of no
use, and now and then it is busy.
"""

import hashlib
import os
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eval.runs.records import LETTERS, Output, Query, TaskInput
from eval.task import Prepared, ProgressCallback, SolverSpec, Task
from rag.questions import parse_question
from rag.reasoners.llm import open_llm_reasoner
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.questions import ANCHOR_EVENT, REWRITE_QUESTION
from rag.settings import ReasonerSettings, Settings
from tests.fakes.chat_server import ChatServer, chat_server, say, status

OPTIONS = ("glass", "wood", "steel")


class AskingSolver:
    """Not made for two threads: what one query leaves on it would show in another's output."""

    def __init__(self, reasoner: Reasoner) -> None:
        self._reasoner = reasoner
        self._words: list[str] = []

    @property
    def settings(self) -> Mapping[str, Any]:
        return {}

    def solve(self, asked: TaskInput) -> Output:
        self._reasoner.usage()
        self._words = []
        question = parse_question(asked.text, asked.options, asked.query_id)
        self._words.append(self._reasoner.run(ANCHOR_EVENT, question).description)
        self._words.append(self._reasoner.run(REWRITE_QUESTION, question).visual_query)
        usage = self._reasoner.usage()
        return Output(
            choice=LETTERS[len("".join(self._words)) % len(OPTIONS)],
            confidence=0.5,
            evidence={"words": list(self._words)},
            tokens={"prompt": usage.prompt_tokens, "completion": usage.completion_tokens},
        )


class AskingTask(Task[Reasoner]):
    name = "asking"
    about = "asks a model"

    @property
    def solvers(self) -> Mapping[str, SolverSpec[Reasoner]]:
        return {"asks": SolverSpec("asks", lambda reasoner, _: AskingSolver(reasoner))}

    def prepare(self, settings: Settings, progress: ProgressCallback | None = None) -> Prepared[Reasoner]:  # noqa: ARG002 (of Task)
        texts = [f"What is thing {at} made of?" for at in range(40)]
        queries = [
            Query(f"q{at}", text, OPTIONS, LETTERS[at % 3], "all", "", f"v{at}", (0.0, 0.0))
            for at, text in enumerate(texts)
        ]
        inputs = {query.query_id: TaskInput(query.query_id, query.text, query.options) for query in queries}
        own: dict[str, Any] = {"model": "m", "base_url": os.environ["ASKING_URL"], "repairs": 1}
        reasoner = open_llm_reasoner(ReasonerSettings(kind="openai", **own))
        return Prepared(queries, inputs, reasoner, {"none": "0"}, {"reasoner": reasoner.fingerprint})


def open_asking(data: Path | None = None) -> AskingTask:  # noqa: ARG001 (of open_task)
    return AskingTask()


@contextmanager
def asked_server(latency: float = 0.0) -> Iterator[ChatServer]:
    """`latency`: of a reply at most, in seconds, another each time."""
    chance = random.Random(0)

    def act(handler: Any, body: dict[str, Any]) -> None:
        time.sleep(chance.random() * latency)
        if chance.random() < 0.03:
            status(503, Retry_After="0")(handler, body)
            return
        text = str(body["messages"])
        own = random.Random(hashlib.sha256(text.encode()).digest())
        word = "x" * own.randrange(1, 9)
        reply = f'{{"description": "{word}", "visual_query": "{word}", "passage_queries": ["a", "b", "c"]'
        sloppy = own.random()
        ending = ",}" if sloppy < 0.2 else "" if sloppy < 0.3 else "}"
        said = "I cannot say." if own.random() < 0.3 else reply + ending
        say(said, {"prompt_tokens": 50 + len(word), "completion_tokens": 9})(handler, body)

    with chat_server([act]) as server:
        yield server
