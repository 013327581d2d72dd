"""What an able model would say in each role: to the examples of the roles, and inside an agent."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from rag.reasoners.prompts import load_prompt, render
from rag.reasoners.roles import ROLES


def play_example(request: dict[str, Any]) -> dict[str, Any]:
    """The reply of the example whose prompt this is."""
    return _examples()[_texts(request)]


@cache
def _examples() -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for role in ROLES.values():
        sent = role.reply if role.draft is None else role.draft.model
        for example in role.examples():
            call = role.prompt(example.request)
            system, user = render(load_prompt(role), call.variables, call.images, short_side=1)
            found[system.text, user.text] = example.reply.model_dump(include=set(sent.model_fields))
    return found


def play_role(system: str, user: str) -> dict[str, Any]:
    """A sound reply to a rendered prompt."""
    step = re.search(r"Step: (\w+)\.", system)[1]
    return globals()[f"_{step}"](user)


def play(request: dict[str, Any]) -> dict[str, Any]:
    """What an able model would say to a rendered prompt, and its answer from the first window shown."""
    system, user = _texts(request)
    windows = [int(number) for number in re.findall(r"\[BEGIN window (\d+) ", user)][:1]
    shared = {"confidence": 0.7, "explanation": "As shown.", "windows": windows}
    match re.search(r"Step: (\w+)\.", system)[1]:
        case "answer_choice":
            return {"choice": "B", **shared}
        case "answer_open":
            return {"text": "PLUM", **shared}
        case "anchor_event":
            return {"description": "a secret is named", "position": "within"}
        case "rewrite_question":
            count = int(re.search(r"queries wanted: (\d+)", user)[1])
            return {"visual_query": "A kettle.", "passage_queries": [f"kettle {at}" for at in range(count)]}
    return play_role(system, user)


def _texts(request: dict[str, Any]) -> tuple[str, str]:
    """The system and the user message of a chat request, without images."""
    system, user = (
        "".join(part.get("text", "") for part in parts) if isinstance(parts, list) else parts
        for parts in (message["content"] for message in request["messages"])
    )
    return system, user


def _number(pattern: str, user: str) -> int:
    return int(re.search(pattern, user)[1])


def _material(name: str, user: str) -> str:
    return re.search(rf"\[BEGIN {name} (\w+)\]\n(.*?)\n\[END {name} \1\]", user, re.DOTALL)[2]


def _span(user: str, name: str = "video") -> tuple[float, float]:
    start, end = re.search(r"Time: ([\d.]+) s to ([\d.]+) s", _material(name, user)).groups()
    return float(start), float(end)


def _decompose_facets(user: str) -> dict[str, Any]:
    labels = re.findall(r"^\((\w)\) ", _material("options", user), re.MULTILINE)
    return {
        "query_keywords": ["mirror"],
        "option_keywords": {label: ["glass"] for label in labels},
        "semantic_queries": dict.fromkeys(labels, "the mirror is polished"),
        "general_semantic_query": "a person polishes a mirror",
    }


def _imagine_queries(user: str) -> dict[str, Any]:
    count = _number(r"queries wanted: (\d+)", user)
    return {
        "thought": "A workshop.",
        "hypotheses": [{"kind": "literal", "guess": "a workshop video"}],
        "chosen": 0,
        "queries": [f"telescope workshop {at}" for at in range(count)],
    }


def _search_step(user: str) -> dict[str, Any]:
    """One search, and then the first two results of it."""
    if "(none)" in user.partition("Searches so far:")[2]:
        return {"thought": "A workshop.", "queries": ["telescope workshop"]}
    found = [int(number) for number in re.findall(r"^Result (\d+)", user, re.MULTILINE)]
    return {"thought": "These two.", "open": found[:2]}


def _plan(_user: str) -> dict[str, Any]:
    sub = [{"text": "What is it made of?", "status": "missing", "finding": ""}]
    return {"thought": "One part.", "sub_questions": sub, "focus": 0, "search_queries": ["mirror glass"]}


def _select_candidates(user: str) -> dict[str, Any]:
    count = _number(r"at most (\d+)", user)
    found = [int(number) for number in re.findall(r"\[BEGIN result (\d+) ", user)]
    return {"selected": found[:count], "reason": "They fit."}


def _locate(user: str) -> dict[str, Any]:
    start, end = _span(user)
    if "Wanted: frame" in user:
        frame = 0 if "Frames: " in user else None
        return {"relevant": True, "frame": frame, "confidence": 0.5}
    return {
        "relevant": True,
        "windows": [{"start": start, "end": end, "reason": "all of it"}],
        "confidence": 0.5,
    }


def _observe(_user: str) -> dict[str, Any]:
    return {"caption": "A mirror is polished.", "needs_more_info": False}


def _summarize(_user: str) -> dict[str, Any]:
    return {"relevant": True, "summary": "A mirror is polished."}


def _answer_unaided(_user: str) -> dict[str, Any]:
    return {"text": "PLUM", "confidence": 0.4, "explanation": "As is known.", "windows": [], "passages": []}


def _timeline(user: str) -> dict[str, Any]:
    start, end = _span(user)
    return {"events": [{"start": start, "end": end, "description": "A mirror is polished."}]}


def _verify_video(_user: str) -> dict[str, Any]:
    return {"video_match": True, "confidence": 0.8}


def _match_frame(user: str) -> dict[str, Any]:
    reference = True if "[BEGIN reference " in user else None
    asked = None if _material("constraint", user) == "(none)" else True
    return {"text_match": True, "image_match": reference, "constraint_match": asked, "confidence": 0.8}


def _judge(user: str) -> dict[str, Any]:
    return {"is_correct": _material("truth", user) in _material("prediction", user)}
