"""One call of a role, with a client that replies by rote: repair, bounds, tokens, and the model's limits."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from corpora.records import Frames
from rag.errors import BudgetSpent, PromptTooLarge, ReplyInvalid
from rag.reasoners.examples import CHOICE, OPEN, sample_reading
from rag.reasoners.llm.fitting import ModelLimits
from rag.reasoners.llm.reasoner import LlmReasoner
from rag.reasoners.llm.refusals import ErrorStatus, form_refused, format_named, limits_refused
from rag.reasoners.prompts import ChatReply, Message
from rag.reasoners.roles.answers import ANSWER_CHOICE, ANSWER_OPEN
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.questions import ANCHOR_EVENT
from rag.reasoners.roles.watching import TIMELINE
from rag.settings import ReasonerSettings

ANCHOR = '{"description": "she polishes something", "position": "within"}'
CHOSEN = {"choice": "A", "confidence": 0.8, "explanation": "glass", "windows": [0], "passages": [0]}


class Scripted:
    """A client that says its lines in order, the last one for ever."""

    name = "scripted"

    def __init__(self, *lines: str | ChatReply | Exception) -> None:
        self.lines = list(lines)
        self.requests: list[tuple[Message, ...]] = []
        self.schemas: list[dict[str, Any]] = []

    def send(self, messages: Sequence[Message], schema: dict[str, Any], *, max_tokens: int) -> ChatReply:
        self.max_tokens = max_tokens
        self.requests.append(tuple(messages))
        self.schemas.append(schema)
        line = self.lines[min(len(self.requests), len(self.lines)) - 1]
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, ChatReply) else ChatReply(line)


def make_reasoner(client: Scripted, **settings) -> LlmReasoner:
    return LlmReasoner(client, ReasonerSettings(kind="openai", model="m", **settings))


def test_a_bad_reply_is_shown_its_error_and_repaired():
    client = Scripted("The answer is B.", '{"position": "after"}', ANCHOR)
    reasoner = make_reasoner(client)
    reasoner.run(ANCHOR_EVENT, OPEN)
    assert [message.speaker for message in client.requests[1][2:]] == ["assistant", "user"]
    assert client.requests[1][2].text == "The answer is B."
    assert "there is no JSON object in the reply" in client.requests[1][3].text
    assert "description: Field required" in client.requests[2][3].text
    assert len(client.requests[2]) == 4, "only the last bad reply is shown"
    usage = reasoner.usage()
    assert (usage.calls, usage.by_role["anchor_event"]["repairs"]) == (3, 2)


def test_repair_is_bounded():
    client = Scripted("nonsense", "more nonsense", "and more")
    with pytest.raises(ReplyInvalid, match="anchor_event in 3 attempts: there is no JSON"):
        make_reasoner(client, repairs=2).run(ANCHOR_EVENT, OPEN)
    assert len(client.requests) == 3


def test_a_runaway_or_empty_reply_is_not_fed_back_whole():
    client = Scripted("x" * 100_000, ChatReply("{", cut=True), ANCHOR)
    make_reasoner(client).run(ANCHOR_EVENT, OPEN)
    assert len(client.requests[1][2].text) == 2000
    assert "cut at 512 tokens" in client.requests[2][3].text


def test_a_model_that_reads_words_only_is_sent_no_image():
    with_images, without = Scripted(json.dumps(CHOSEN)), Scripted(json.dumps(CHOSEN))
    reasoner = make_reasoner(without, images=False)
    assert not reasoner.reads_pixels
    reasoner.run(ANSWER_CHOICE, sample_reading(CHOICE))
    make_reasoner(with_images).run(ANSWER_CHOICE, sample_reading(CHOICE))
    assert len(without.requests[0][1].images) == 0
    assert len(with_images.requests[0][1].images) == 8
    assert "This mirror is made of glass." in without.requests[0][1].text


def test_missing_counts_are_estimated_and_marked():
    client = Scripted(ChatReply(json.dumps(CHOSEN)))
    reasoner = make_reasoner(client)
    reasoner.run(ANSWER_CHOICE, sample_reading(CHOICE))
    row = reasoner.usage().by_role["answer_choice"]
    text = sum(-(-len(message.text.encode()) // 4) for message in client.requests[0])
    assert row["image_tokens"] == 8 * 3 * 2, "eight frames of 64 x 48, patches of 28"
    assert row["prompt_tokens"] == text + 48
    assert row["completion_tokens"] == -(-len(json.dumps(CHOSEN)) // 4)
    assert (row["estimated_text_calls"], row["estimated_image_calls"]) == (1, 1)


ANSWER = json.dumps({"text": "glass", "confidence": 0.7, "explanation": "It says so."})


def test_a_share_of_the_calls_is_kept_for_the_answer():
    spent = make_reasoner(Scripted(ANCHOR, ANCHOR, ANCHOR, ANSWER), max_calls=4)
    for _ in range(3):
        spent.run(ANCHOR_EVENT, OPEN)
    with pytest.raises(BudgetSpent, match=r"3 calls spent .*reasoner\.max_calls"):
        spent.run(ANCHOR_EVENT, OPEN)
    assert spent.run(ANSWER_OPEN, sample_reading(OPEN)).text == "glass"
    with pytest.raises(BudgetSpent, match="4 calls"):
        spent.run(ANSWER_OPEN, sample_reading(OPEN))


EMPTY = '{"events": []}'


def view(count: int = 16, side: int = 56) -> VideoView:
    images = np.stack([np.full((side, side, 3), at, np.uint8) for at in range(count)])
    return VideoView("a video", 0.0, float(count), frames=Frames(np.arange(count, dtype=np.float64), images))


def run(client: Scripted, asked: VideoView, **changes) -> dict[str, float]:
    reasoner = LlmReasoner(client, ReasonerSettings(kind="openai", model="m", **changes))
    reasoner.run(TIMELINE, asked)
    return dict(reasoner.usage().by_role["timeline"])


class Limited(Scripted):
    """Refuses more than `most` images; says how many that are where `says`."""

    def __init__(self, most: int, says: bool = False) -> None:
        super().__init__(EMPTY)
        self.most, self.says = most, says

    def send(self, messages, schema, **bounds):
        super().send(messages, schema, **bounds)
        if sum(len(message.images) for message in messages) > self.most:
            raise PromptTooLarge("too many", max_images=self.most if self.says else None)
        return ChatReply(EMPTY)


def shown(client: Scripted) -> list[int]:
    return [sum(len(message.images) for message in messages) for messages in client.requests]


def test_a_refused_prompt_is_sent_with_fewer_images_under_their_own_numbers():
    client = Limited(5)
    row = run(client, view())
    assert shown(client) == [16, 8, 4]
    assert (row["calls"], row["reduced"]) == (1, 1)
    assert "Frames: 2 at 2.0 s, 6 at 6.0 s, 10 at 10.0 s, 14 at 14.0 s" in client.requests[-1][1].text


def test_a_limit_that_the_server_names_is_kept_at_once():
    client = Limited(5, says=True)
    run(client, view())
    assert shown(client) == [16, 5]


def test_known_limits_hold_before_anything_is_sent():
    client = Scripted(EMPTY)
    row = run(client, view(), max_images=3)
    assert (shown(client), row["reduced"]) == ([3], 1)
    client = Scripted(EMPTY)
    row = run(client, view(count=200), context_tokens=2048)
    assert 1 <= shown(client)[0] < 200
    assert 1000 <= client.max_tokens < 2048
    row = run(client, view(), context_tokens=200_000, max_images=64)
    assert (shown(client)[-1], client.max_tokens, row["reduced"]) == (16, TIMELINE.reply_tokens, 0)


def test_images_get_smaller_and_texts_shorter_before_the_prompt_is_given_up():
    client = Scripted(PromptTooLarge("too long"))
    with pytest.raises(PromptTooLarge):
        run(client, view(count=4))
    assert shown(client) == [4, 2, 1, 1, 1, 1, 1]
    sides = [messages[1].images[0].width for messages in client.requests]
    assert sides[:4] == [56, 56, 56, 56]  # 56 pixels are below half of 336
    client = Scripted(PromptTooLarge("too long"))
    with pytest.raises(PromptTooLarge):
        run(client, view(count=1, side=400))
    assert [messages[1].images[0].width for messages in client.requests][:2] == [336, 168]


def refusal(said: str, code: int = 400) -> ErrorStatus:
    return ErrorStatus(code, said)


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        ("At most 4 image(s) may be provided in one prompt.", ModelLimits(None, 4)),
        ("This model's maximum context length is 4096 tokens, you asked for 5000", ModelLimits(4096)),
        ('{"type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 8192}', ModelLimits(8192)),
        ("input length exceeds the context length", ModelLimits()),
    ],
)
def test_refusals_of_length_and_images_are_known_by_their_words(said, limits):
    assert limits_refused(refusal(said)) == limits
    assert limits_refused(refusal(said, 401)) is None
    assert not form_refused(refusal(said))


def test_other_refusals_are_no_limits():
    assert limits_refused(refusal("no such model")) is None
    assert limits_refused(refusal("nginx", 413)) == ModelLimits()
    # Without its images a prompt asks about what is not shown.
    assert limits_refused(refusal("At most 0 image(s) may be provided in one prompt.")) is None
    assert format_named(refusal("'response_format.type' must be 'text'"))
    assert not format_named(refusal("no such model"))
