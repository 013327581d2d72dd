"""Three questions on a synthetic corpus, with ground truth: one hop, two hops, temporal."""

from __future__ import annotations

import random
from collections.abc import Sequence

from eval.demo_question import DemoQuestion
from eval.workbench.catalogue import KINDS, Kind, action, allows, indefinite, kind, place_name, predicate
from eval.workbench.jobs import CorpusPlan, video_jobs
from eval.workbench.passages import WorldPassage, world_passages
from eval.workbench.seeds import stream
from eval.workbench.story import ClipStory, Event
from eval.workbench.video import Render

DEMO_PLAN = CorpusPlan(seed=20, split="test", clips=10, render=Render(fps=6))
OPTIONS = 6
PICK = 1
"""Which questions are asked: a pick that is answered right; see docs/design/workbench.md for its share."""


def demo_questions() -> tuple[DemoQuestion, ...]:
    """Each is about another clip."""
    stories = [job.clip() for job in video_jobs(DEMO_PLAN)[0]]
    rng = stream("demo", DEMO_PLAN.split, DEMO_PLAN.seed, PICK)
    lone = [story for story in stories if _unlike(story)]
    rng.shuffle(lone)
    one, two, after = lone[0], lone[1], next(story for story in lone[2:] if len(story.events) > 2)
    return (_one_hop(one, rng), _two_hops(two, rng), _in_time(after, rng))


def demo_passages() -> list[WorldPassage]:
    """Those about the objects that are handled in its clips: what its questions may need, and others."""
    handled = {event.kind_id for job in video_jobs(DEMO_PLAN)[0] for event in job.clip().events}
    return [passage for passage in world_passages() if passage.kind_id in handled]


def _unlike(story: ClipStory) -> bool:
    """Whether no two events of a clip are the same act, so that each can be asked for by itself."""
    return len({(event.agent, event.action_id, event.place) for event in story.events}) == len(story.events)


def _one_hop(story: ClipStory, rng: random.Random) -> DemoQuestion:
    event = rng.choice(story.events)
    text = f"In a video that shows {story.description}, what is the object that {_done(event)}?"
    return _named("one-hop", text, event, story, rng)


def _in_time(story: ClipStory, rng: random.Random) -> DemoQuestion:
    at = rng.randrange(len(story.events) - 1)
    anchor, event = story.events[at], story.events[at + 1]
    before = _done(anchor, indefinite(anchor.patient))
    asked = f"After {before}, what is the object that {_done(event)}?"
    text = f"In a video that shows {story.description}. {asked}"
    return _named("temporal", text, event, story, rng)


def _two_hops(story: ClipStory, rng: random.Random) -> DemoQuestion:
    event = rng.choice(story.events)
    text = (
        f"In a video that shows {story.description}, which statement is true about the object that "
        f"{_done(event)}?"
    )
    pairs = []
    for used in [kind(event.kind_id), *_others(event, story, 2, rng)]:
        passage = _passage(used, rng)
        statement = passage.statements[0]
        pairs += [f"When {passage.activity}. {s}" for s in (statement.fact, statement.counterfacts[0])]
    return _shuffled("two-hop", text, pairs, rng)


def _named(question_id: str, text: str, event: Event, story: ClipStory, rng: random.Random) -> DemoQuestion:
    names = [event.patient, *(other.name for other in _others(event, story, OPTIONS - 1, rng))]
    return _shuffled(question_id, text, [indefinite(name) for name in names], rng)


def _shuffled(question_id: str, text: str, options: Sequence[str], rng: random.Random) -> DemoQuestion:
    """The first option is the right one before they are shuffled."""
    order = list(range(len(options)))
    rng.shuffle(order)
    right = "ABCDEF"[order.index(0)]
    return DemoQuestion(question_id, text, tuple(options[index] for index in order), right)


def _others(event: Event, story: ClipStory, count: int, rng: random.Random) -> list[Kind]:
    """Other things that the same could be done with, those in use elsewhere in the clip first."""
    act = action(event.action_id)
    used = [kind(other.kind_id) for other in story.events if other.kind_id != event.kind_id]
    near = [thing for thing in used if allows(act, thing)]
    rest = [k for k in KINDS if allows(act, k) and k not in used and k.kind_id != event.kind_id]
    return (near[: count - 1] + rng.sample(rest, count))[:count]


def _passage(used: Kind, rng: random.Random) -> WorldPassage:
    return rng.choice([p for p in world_passages() if p.kind_id == used.kind_id])


def _done(event: Event, thing: str = "") -> str:
    """What happens, with a gap where `thing` is empty: "the camera wearer plugs into the wall socket"."""
    place = place_name(event.place) if event.place else None
    return f"the {event.agent} {predicate(action(event.action_id).phrases['test'][0], thing, place)}"
