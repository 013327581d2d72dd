"""Prompts that chat clients send of their own for titles, tags and the like: answered without a search.

Open WebUI sends `### Task:` with the conversation in `<chat_history>` and the key of the JSON object that it
expects; LibreChat asks for a title after the conversation, or with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from rag.rendering.terminal import excerpt

TITLE_WORDS = 5
LONGEST_TITLE = 60
LONGEST_CHAT = 200_000
"""Characters of all messages; what is longer is taken for a question."""
HISTORY_TAGS = ("<chat_history>", "</chat_history>")
KEY = re.compile(r"\{\s*\"(\w+)\"\s*:")
TURN = re.compile(
    r"^(?:USER|User): (.*?)(?=^(?:USER|ASSISTANT|User|AI|Assistant): |\Z)", re.DOTALL | re.MULTILINE
)
TITLE_PROMPTS = re.compile(
    r"provide a concise, 5-word-or-less title for the conversation"
    r"|analyze this conversation and provide:\s*1\. the detected language"
    r"|generate a concise title \(max 40 characters\) for a conversation",
    re.IGNORECASE,
)


def housekeeping_reply(messages: Sequence[str]) -> str | None:
    """The reply to a client's own prompt; None for a question. `messages`: those of the user, in order."""
    if sum(map(len, messages)) > LONGEST_CHAT:
        return None
    *before, prompt = messages
    if TITLE_PROMPTS.search(prompt):
        asked = TURN.findall(prompt) or before
        return _title(asked) or "Conversation"
    task, _, rest = prompt.partition(HISTORY_TAGS[0])
    history, closed, end = rest.partition(HISTORY_TAGS[1])
    key = KEY.search(task + end)
    if not prompt.lstrip().startswith("### Task:") or not closed or key is None:
        return None
    asked = TURN.findall(history) or before
    reply = REPLIES.get(key[1], _question)(asked)
    return json.dumps({key[1]: reply}, ensure_ascii=False)


def _title(asked: Sequence[str]) -> str:
    """The first words of the first question."""
    words = asked[0].split() if asked else []
    return excerpt(" ".join(words[:TITLE_WORDS]), LONGEST_TITLE).rstrip("?!.,:; ")


def _question(asked: Sequence[str]) -> str:
    """The last question."""
    return excerpt(asked[-1], 1000) if asked else ""


REPLIES: dict[str, Callable[[Sequence[str]], str | list[str]]] = {
    "title": lambda asked: _title(asked) or "Conversation",
    "tags": lambda _: ["Videos"],
    "follow_ups": lambda _: [],
    "queries": lambda asked: [_question(asked)] if asked else [],
    "text": lambda _: "",
}
"""By the key of the object that is asked for; others get the last question."""
