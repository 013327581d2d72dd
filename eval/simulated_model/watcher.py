"""Looking: the roles locate, observe, timeline, verify_video and match_frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from corpora.records import SPOKEN
from eval.simulated_model.analyst import open_answer
from eval.simulated_model.dials import draw
from eval.simulated_model.language import Clause, agreement, clauses, concepts, sentence, setting
from eval.simulated_model.perception import Fact, Frame, Perception, View, caption
from eval.simulated_model.questions import LEAST_AGREEMENT, all_facts, fact_scores, text_scores, understand
from eval.simulated_model.request import Request, memory_parts
from rag.words import content_words, lexical_overlap, word_set

SAME = 0.5
"""Share of what is remembered that must be seen for a yes."""
WRONG_OBJECT = 0.6
"""Weight of an action on another object than the one that is remembered."""


def verdict(truth: bool, request: Request, perception: Perception, point: str) -> bool:
    """A yes or no, wrong as often as the dials say."""
    share = perception.dials.wrong_no if truth else perception.dials.wrong_yes
    return truth != (draw("verdict", perception.seed, request.digest, point) < share)


def view_of(request: Request, perception: Perception, name: str = "video") -> View | None:
    """The block of that name as it is perceived; None where there is none."""
    block = next((block for block in request.blocks if block.name == name), None)
    return perception.view(block) if block else None


def locate(request: Request, perception: Perception) -> dict[str, Any]:
    """The frame or the windows that fit best; none where nothing does and nothing is an answer."""
    view = view_of(request, perception)
    must = "must be true" in request.system
    nothing = {
        "relevant": False,
        "windows": [],
        "frame": None,
        "confidence": 0.2,
        "reason": "It is not here.",
    }
    if view is None:
        return nothing
    if request.words.get("target") == "frame":
        memory = memory_parts(request.get("memory")) or {"key_moment": request.get("wanted")}
        scores = [_moment_score(memory, view, at) for at in range(len(view.frames))]
        best = max(range(len(scores)), key=lambda at: (scores[at], -at), default=None)
        if best is None or (scores[best] < SAME and not must):
            return {**nothing, "relevant": must}
        reason = f"At {view.frames[best].time:.1f} s it fits best."
        return {
            "relevant": True,
            "windows": [],
            "frame": best,
            "confidence": round(min(0.97, max(0.1, scores[best])), 3),
            "reason": reason,
        }
    spans = _spans(request.get("wanted"), view)[: request.count("count", 3)]
    if not spans and not must:
        return nothing
    whole = view.block.span or (0.0, 1.0)
    spans = spans or [(0.15, whole[0], min(whole[1], whole[0] + 10.0), "the likeliest place")]
    return {
        "relevant": True,
        "windows": [
            {"start": round(start, 2), "end": round(end, 2), "reason": reason}
            for _, start, end, reason in spans
        ],
        "frame": None,
        "confidence": round(min(0.97, max(0.1, spans[0][0])), 3),
        "reason": "That is where it is seen or said.",
    }


def _spans(wanted: str, view: View) -> list[tuple[float, float, float, str]]:
    """Score, start, end and reason of the stretches that speak to a question, best first, none twice."""
    asked = understand(wanted)
    clause = asked.clause if not asked.clause.empty else next(iter(clauses(wanted)), Clause())
    facts = all_facts([view])
    times = sorted(frame.time for frame in view.frames)
    low, high = view.block.span or (0.0, max(times, default=1.0) + 1.0)
    found = []
    if not clause.empty:
        scored = zip(fact_scores(asked, facts, clause), facts, strict=True)
        for score, fact in scored:
            if score >= LEAST_AGREEMENT:
                found.append((score, *_opened(fact.start, fact.end, times), sentence(fact.clause)))
    if asked.asks in ("text", "next", "announced") or not found:
        found += [
            (score, text.start - 2.0, text.end + 2.0, f"“{text.text}”")
            for score, text, _ in text_scores(asked, [view])[:3]
            if score >= 0.3
        ]
    if not found and asked.setting:
        near = [frame for frame in view.frames if len(asked.setting & frame.setting) * 2 > len(asked.setting)]
        if near:
            found.append(
                (LEAST_AGREEMENT, near[0].time, near[-1].time + 1.0, "the scene that is asked about")
            )
    kept: list[tuple[float, float, float, str]] = []
    for score, start, end, reason in sorted(found, key=lambda row: -row[0]):
        start, end = max(low, start), min(high, end)
        if end - start > 0.05 and not any(start < other[2] and end > other[1] for other in kept):
            kept.append((score, start, end, reason))
    return kept


def _opened(start: float, end: float, times: Sequence[float]) -> tuple[float, float]:
    """From the frame before to the frame after."""
    before = max((time for time in times if time < start), default=start - 1.0)
    after = min((time for time in times if time > end), default=end + 1.0)
    return before, after


def fit(text: str, frame: Frame, *, vague: bool = False) -> float:
    """How well a frame fits the description of a moment, in [0, 1].

    `vague`: what is remembered may be wrong in the object, at a cost.
    """
    named = [each for each in clauses(text) if each.action_id or each.kind_id or each.family]
    around = setting(text)
    clause = frame.clause
    acts = [agreement(clause, one) if clause else 0.0 for one in named]
    if vague and clause:
        acts += [WRONG_OBJECT * agreement(clause, replace(one, kind_id=None, family=None)) for one in named]
    share = len(around & frame.setting) / len(around) if around else None
    if not named:
        return share or 0.0
    act = max(acts)
    return act if share is None else 0.7 * act + 0.3 * share


def _moment_score(memory: Mapping[str, str], view: View, at: int) -> float:
    frame = view.frames[at]
    parts = [(fit(memory.get("key_moment", ""), frame, vague=True), 1.0)]
    for name, step in (("before", -1), ("after", 1)):
        if memory.get(name):
            other = _neighbour(view, at, step)
            parts.append((fit(memory[name], other, vague=True) if other else 0.0, 0.35))
    if heard := memory.get("auditory_memory"):
        near = [text for text in view.texts if text.start - 4 <= frame.time <= text.end + 4]
        parts.append((_said(heard, " ".join(text.text for text in near)), 0.25))
    return sum(score * weight for score, weight in parts) / sum(weight for _, weight in parts)


def _neighbour(view: View, at: int, step: int) -> Frame | None:
    """The first frame on one side that shows another event."""
    here, place = view.frames[at].key, at + step
    while 0 <= place < len(view.frames):
        frame = view.frames[place]
        if frame.clause is not None and frame.key != here:
            return frame
        place += step
    return None


def _said(heard: str, said: str) -> float:
    """Share of the words remembered that are said."""
    quoted = heard.partition("“")[2].partition("”")[0] or heard
    return lexical_overlap(content_words(quoted), word_set(said))


def observe(request: Request, perception: Perception) -> dict[str, Any]:
    """A caption of everything perceived, and which of the keywords are not in it."""
    view = view_of(request, perception)
    keywords = [line for line in request.get("keywords").splitlines() if line and line != "(none)"]
    if view is None:
        words, held = "Nothing can be made out.", ""
    else:
        words = caption(view)
        held = f"{words} {view.block.text}"
    stems = word_set(held)
    missing = [word for word in keywords if lexical_overlap(content_words(word), stems) < 1]
    asked = understand(request.get("question"))
    found = bool(view and (open_answer(asked, [view])[0] or _spans(request.get("question"), view)))
    return {
        "caption": words,
        "missing": missing,
        "needs_more_info": not found,
        "missing_visual_keyword": missing[0] if missing and not found else "",
        "reasoning": "The event that is asked about is here."
        if found
        else "The event that is asked about is not here.",
    }


def summarize(request: Request, perception: Perception) -> dict[str, Any]:
    """Everything perceived, and the words that came with it."""
    view = view_of(request, perception)
    asked = understand(request.get("question"))
    if view is None or not (open_answer(asked, [view])[0] or _spans(request.get("question"), view)):
        return {"relevant": False, "summary": "It holds nothing relevant."}
    return {"relevant": True, "summary": caption(view)}


def caption_window(request: Request, perception: Perception) -> dict[str, Any]:
    """A sentence for each action that is perceived, in their order."""
    view = view_of(request, perception)
    seen = [sentence(fact.clause) for fact in view.facts if fact.seen] if view else []
    return {"actions": [f"{named[0].upper()}{named[1:]}." for named in seen]}


def check_caption(request: Request, perception: Perception) -> dict[str, Any]:
    """Whether a caption names the event of a question."""
    asked = understand(request.get("question"))
    best = max((agreement(clause, asked.clause) for clause in clauses(request.get("caption"))), default=0.0)
    return {"sufficient": verdict(best >= LEAST_AGREEMENT, request, perception, "sufficient")}


def timeline(request: Request, perception: Perception) -> dict[str, Any]:
    """One event for each stretch of frames that show the same."""
    view = view_of(request, perception)
    if view is None or not view.frames:
        return {"events": []}
    low, high = view.block.span or (0.0, view.frames[-1].time + 1.0)
    events: list[dict[str, Any]] = []
    for at, frame in enumerate(view.frames):
        later = view.frames[at + 1].time if at + 1 < len(view.frames) else high
        one = replace(view, frames=(frame,), facts=_facts_at(view, frame), texts=())
        said = caption(one)
        start, end = max(low, frame.time), min(high, later)
        if events and events[-1]["description"] == said:
            events[-1]["end"] = round(end, 2)
        elif end > start:
            events.append({"start": round(start, 2), "end": round(end, 2), "description": said})
    return {"events": events}


def _facts_at(view: View, frame: Frame) -> tuple[Fact, ...]:
    return tuple(fact for fact in view.facts if fact.seen and fact.start <= frame.time <= fact.end)


def verify_video(request: Request, perception: Perception) -> dict[str, Any]:
    """Yes where enough of what is remembered is seen somewhere in the video."""
    view = view_of(request, perception)
    memory = memory_parts(request.get("memory"))
    named = " ".join(
        text for name, text in memory.items() if name not in ("auditory_memory", "constraint_kind")
    )
    asked = {one for one in concepts(named) if not one.startswith(("kind:", "family:", "style:"))}
    seen = (
        view.setting | {f"person:{frame.person}" for frame in view.frames if frame.person}
        if view
        else frozenset()
    )
    hits: list[float] = [1.0 if one in seen else 0.0 for one in sorted(asked)]
    for clause in clauses(named):
        if clause.action_id or clause.kind_id:
            best = max((agreement(fact.clause, clause) for fact in view.facts), default=0.0) if view else 0.0
            hits += [best, best]
    heard = memory.get("auditory_memory", "")
    spoken = " ".join(text.text for text in view.texts if text.kind != "screen") if view else ""
    audio = _said(heard, spoken) >= SAME if heard and spoken and "“" in heard else None
    share = sum(hits) / len(hits) if hits else (1.0 if audio else 0.0)
    yes = verdict(share >= SAME and audio is not False, request, perception, "video")
    return {
        "video_match": yes,
        "audio_match": audio,
        "confidence": round(min(0.97, max(0.05, share if yes else 1 - share)), 3),
        "reason": f"{share:.0%} of what is remembered is seen.",
    }


def match_frame(request: Request, perception: Perception) -> dict[str, Any]:
    """Each point by itself, from the one frame and the words around it."""
    candidate, reference = (view_of(request, perception, name) for name in ("candidate", "reference"))
    frame = candidate.frames[0] if candidate and candidate.frames else None
    text = bool(frame and fit(request.get("description"), frame) >= SAME)
    image = None
    if reference is not None:
        other = reference.frames[0] if reference.frames else None
        image = verdict(bool(frame and other and _alike(frame, other)), request, perception, "image")
    heard = request.get("heard")
    said = " ".join(line.text for line in candidate.texts) if candidate else ""
    audio = None
    if heard and heard != "(nothing)" and said and "“" in heard:
        audio = verdict(_said(heard, said) >= SAME, request, perception, "audio")
    return {
        "text_match": verdict(text, request, perception, "text"),
        "image_match": image,
        "audio_match": audio,
        "constraint_match": _constraint(request, perception, candidate, frame),
        "confidence": 0.8 if frame else 0.2,
        "reason": "The points were compared one by one.",
    }


def _alike(one: Frame, other: Frame) -> bool:
    """Whether two frames are of one scene: the same decor and the same event."""
    either = one.setting | other.setting
    shared = len(one.setting & other.setting) / len(either) if either else 0.0
    return shared >= SAME and (
        one.clause is None or other.clause is None or agreement(one.clause, other.clause) > 0
    )


def _constraint(
    request: Request, perception: Perception, candidate: View | None, frame: Frame | None
) -> bool | None:
    asked = request.get("constraint")
    kind, _, words = asked.partition(": ")
    if not asked or asked == "(none)":
        return None
    if kind == "audio":
        said = bool(candidate and any(text.kind in SPOKEN for text in candidate.texts))
        wanted = any(word in words.lower() for word in ("speak", "voice", "speech"))
        return (
            verdict(said == wanted, request, perception, "constraint")
            if candidate and candidate.texts
            else None
        )
    named = concepts(words)
    held = frozenset() if frame is None else frame.setting | {f"style:{frame.style}"}
    kinds = {one for one in named if one.startswith(("light:", "style:"))}
    if kinds:
        return verdict(bool(kinds & held), request, perception, "constraint")
    # Neither the size of the video nor what comes before or after is in one frame: as good as a guess.
    around = " ".join(text.text for text in candidate.texts) if candidate else ""
    guess = draw("constraint", perception.seed, request.digest) < SAME
    return verdict(_said(words, around) >= SAME or guess, request, perception, "constraint")
