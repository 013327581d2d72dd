"""The questions of longvideo-workbench against the truth of its videos, and the options of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from eval.runs.records import LETTERS
from eval.tasks.longvideo.construction import EFFECTS, PLACES, Film, build_questions
from eval.tasks.longvideo.dataset import LongQuestion, query_of
from eval.tasks.longvideo.task import FULL
from eval.workbench.catalogue import action, place_name, predicate
from eval.workbench.story import Event


@cache
def questions() -> Sequence[LongQuestion]:
    return build_questions(FULL.films(), seed=FULL.plan.seed, shape=FULL.shape)


@cache
def videos() -> Mapping[str, Film]:
    return {film.name: film for film in FULL.films()}


def of_kind(kind: str) -> list[tuple[LongQuestion, Film, str]]:
    """Question, video, right option."""
    return [
        (asked, videos()[asked.video], asked.options[LETTERS.index(asked.answer)])
        for asked in questions()
        if asked.kind == kind
    ]


def sentence_of(event: Event) -> str:
    return f"{event.rewritten[0].upper()}{event.rewritten[1:]}."


def key(event: Event) -> tuple[str, str, str | None]:
    return event.agent, event.action_id, event.place


def test_options_are_four_shuffled_and_known_to_be_so() -> None:
    for asked in questions():
        assert len(set(asked.options)) == 4
        assert sorted(asked.order) == [0, 1, 2, 3]
        assert asked.order[LETTERS.index(asked.answer)] == 3
        assert query_of(asked).cluster == asked.video
    letters = Counter(asked.answer for asked in questions())
    assert min(letters.values()) > 312 / 4 * 0.7
    assert max(letters.values()) < 312 / 4 * 1.3


def test_needles_have_one_right_object() -> None:
    for asked, video, right in of_kind("needle"):
        part, at = next((n, event) for n, event in video.events if (event.start, event.end) == asked.window)
        alike = [event for event in video.of_part(part) if key(event) == key(at)]
        assert [f"the {event.patient}" for event in alike] == [right]
        here = {f"the {event.patient}" for event in video.of_part(part)}
        assert here & set(asked.options) == {right}
        elsewhere = {f"the {event.patient}" for _, event in video.events if event.action_id == at.action_id}
        assert set(asked.options) <= elsewhere | {right}


def test_causes_bring_about_what_is_asked() -> None:
    effects = {name: effect for effect, names in EFFECTS.items() for name in names}
    for asked, video, right in of_kind("cause"):
        part, at = next((n, event) for n, event in video.events if (event.start, event.end) == asked.window)
        clause = predicate(
            action(at.action_id).phrases["test"][0], "it", place_name(at.place) if at.place else None
        )
        assert right == f"Because the {at.agent} {clause}."
        assert effects[at.action_id].format(o=f"the {at.patient}") in asked.text
        assert all(option.startswith(f"Because the {at.agent} ") for option in asked.options)
        uses = [event for event in video.of_part(part) if event.patient == at.patient]
        assert uses == [at]


def test_orders_are_by_time() -> None:
    for asked, video, right in of_kind("order"):
        starts = {}
        for option in asked.options:
            (event,) = [event for _, event in video.events if sentence_of(event) == option]
            starts[option] = event.start
        ordered = sorted(starts, key=lambda option: starts[option])
        assert right == (ordered[0] if " first " in asked.text else ordered[-1])
        times = sorted(starts.values())
        assert all(later - earlier >= 90.0 for earlier, later in pairwise(times))


def test_counts_are_right() -> None:
    names = {name: scene for scene, name in PLACES.items()}
    for asked, video, right in of_kind("count"):
        if found := re.fullmatch(r"How many parts of the film take place in (.+)\?", asked.text):
            number = sum(part.story.scene == names[found[1]] for part in video.plan.parts)
        else:
            found = re.fullmatch(
                r"How many times in the whole film is it seen that somebody (.+)\?", asked.text
            )
            assert found is not None
            clauses = [
                predicate(action(event.action_id).phrases["test"][0], "something", place_name(event.place))
                for _, event in video.events
                if event.place
            ]
            number = clauses.count(found[1])
        assert right == str(number)


def test_texts_are_on_the_screen_and_lines_are_said() -> None:
    for asked, video, right in of_kind("text"):
        assert [card.text for card in video.plan.cards if (card.start, card.end) == asked.window] == [right]
        assert {card.text for card in video.plan.cards} >= set(asked.options)
    for asked, video, right in of_kind("spoken"):
        line = next(line for line in video.plan.lines if (line.start, line.end) == asked.window)
        if right.startswith("Part "):
            assert line.text.startswith(f"This is {right.lower()}.")
        else:
            assert line.text == right
            before = [other for other in video.plan.lines if other.start < line.start]
            assert before[-1].text in asked.text
