"""The simulated model: what it makes of frames and prompts, and each dial."""

from __future__ import annotations

import base64
import json
import threading
from typing import Any

import httpx
import numpy as np
import pytest

from corpora.records import Frames
from eval.simulated_model.dials import Dials, preset
from eval.simulated_model.language import Clause, agreement, clause_of, clauses, setting
from eval.simulated_model.model import SimulatedModel
from eval.simulated_model.replies import APOLOGY, GERMAN
from eval.simulated_model.request import read_request
from eval.workbench.catalogue import ACTIONS, KINDS, SPLITS, place_name, predicate
from rag.errors import ReasonerError, UsageError
from rag.reasoners.prompts import Message, load_prompt, render
from rag.reasoners.protocol import Role
from rag.reasoners.roles.answer_choice import ANSWER_CHOICE
from rag.reasoners.roles.judge import JUDGE, JudgeRequest
from rag.reasoners.roles.locate import LOCATE, LocateRequest
from rag.reasoners.roles.match_frame import MATCH_FRAME, MatchRequest
from rag.reasoners.roles.material import Memory, VideoView
from rag.reasoners.roles.observe import OBSERVE, ObserveRequest
from rag.reasoners.roles.plan import PLAN, PlanRequest
from rag.reasoners.roles.timeline import TIMELINE, TimelineRequest
from rag.reasoners.roles.verify_video import VERIFY_VIDEO, VerifyRequest
from rag.records import Question
from tests.fakes.simulated_world import ACTS, frame_index, image, jpeg, simulated_reasoner

INDEX = frame_index()
PERFECT = Dials()
HAMMER = Question(
    "q", "What is the object that the camera wearer wipes with the cloth?", ("towel", "hammer", "egg")
)


def shown(video: int = 0, times: tuple[float, ...] = (1.0, 5.0, 9.0, 13.0, 17.0, 21.0)) -> VideoView:
    at = np.array(times)
    frames = Frames(at, np.stack([image(video, time) for time in times]))
    return VideoView("", 0.0, 24.0, frame_times=at, frames=frames)


def body(role: Role[Any, Any], request: Any, **more: Any) -> dict[str, Any]:
    """A chat completion of the role's own prompt."""
    call = role.prompt(request)
    messages = render(load_prompt(role), call.variables, call.images, short_side=336)
    return {"messages": [_sent(message) for message in messages], **more}


def _sent(message: Message) -> dict[str, Any]:
    parts = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {
            "type": "image_url",
            "image_url": {"url": f"data:image/jpeg;base64,{base64.b64encode(part.data).decode()}"},
        }
        for part in message.parts
    ]
    return {"role": message.speaker, "content": parts}


def reply_to(sent: dict[str, Any], dials: Dials = PERFECT, seed: int = 0) -> str:
    return SimulatedModel(INDEX, dials, seed).complete(read_request(sent)).text


def answer(role: Role[Any, Any], request: Any, dials: Dials = PERFECT, seed: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(reply_to(body(role, request), dials, seed))
    return found


def listed(reply: dict[str, Any]) -> int:
    """Entries of all its lists."""
    return sum(len(value) for value in reply.values() if isinstance(value, list))


class TestLanguage:
    @pytest.mark.parametrize("action", ACTIONS, ids=lambda each: each.action_id)
    def test_every_wording_of_the_world_is_understood(self, action: Any) -> None:
        for phrase in (phrase for split in SPLITS for phrase in action.phrases[split]):
            for place in action.places or (None,):
                named = "woman" if place == "person" else place
                said = f"the man {predicate(phrase, 'the egg', place_name(named) if named else None)}"
                assert clause_of(said) == Clause("man", action.action_id, named, "egg"), said

    def test_every_name_of_a_thing_is_known(self) -> None:
        for thing in KINDS:
            for name in (thing.name, *thing.aliases.values()):
                assert clause_of(f"the woman wipes the {name} with the cloth").kind_id == thing.kind_id, name

    def test_clauses_keep_their_order_and_settings_their_colours(self) -> None:
        text = (
            "In a video that shows yard work on the grass with a blue kite in cold light. After the woman "
            "opens the book, what is the object that the man hangs on the hook?"
        )
        assert clauses(text) == [Clause("woman", "open", None, "book"), Clause("man", "hang", "hook")]
        assert setting(text) == {"scene:garden", "prop:blue kite", "light:cold"}

    def test_what_excludes_each_other_does_not_agree(self) -> None:
        asked = Clause("man", "hang", "hook", "egg")
        assert agreement(asked, asked) == 1
        assert agreement(Clause("man", "hang", "hook", "book"), asked) == 0
        assert 0 < agreement(Clause("man", "hang", "hook"), asked) < 1


class TestPerception:
    def test_frames_are_recognized_with_their_truth(self) -> None:
        found = answer(OBSERVE, ObserveRequest(HAMMER, shown()))
        assert "the camera wearer wipes a hammer with the cloth" in found["caption"]
        assert "a red globe" in found["caption"]
        assert "Order number 1204" in found["caption"]
        assert found["needs_more_info"] is False

    def test_noise_is_no_frame_of_any_video(self) -> None:
        rng = np.random.default_rng(5)
        noise = jpeg(rng.integers(0, 256, (180, 320, 3), dtype=np.uint8))
        assert INDEX.recognize([noise]) == [None]

    def test_a_stretch_is_of_one_video_and_near_the_time_that_is_said(self) -> None:
        images = [jpeg(image(1, time), 75) for time in (2.0, 2.25, 9.5)]
        found = INDEX.recognize(images, [2.0, 2.25, 9.5])
        assert [(one.video.name, one.time) for one in found] == [
            ("v1.mp4", 2.0),
            ("v1.mp4", 2.25),
            ("v1.mp4", 9.5),
        ]

    def test_nothing_is_perceived_at_zero_and_more_at_more(self) -> None:
        held = []
        for share in (0.0, 0.4, 0.7, 1.0):
            dials = Dials(objects=share, actions=share)
            caption = answer(OBSERVE, ObserveRequest(HAMMER, shown()), dials)["caption"]
            held.append({thing for _, _, thing in ACTS if f" {thing} " in caption})
        assert held[0] == set()
        assert held[0] <= held[1] <= held[2] <= held[3] == {thing for _, _, thing in ACTS}

    def test_false_objects_are_of_the_same_family(self) -> None:
        dials = Dials(objects=0.0, false_objects=1.0)
        caption = answer(OBSERVE, ObserveRequest(HAMMER, shown()), dials)["caption"]
        (thing,) = [one.kind_id for one in clauses(caption) if one.action_id == "wipe"]
        assert thing != "hammer"
        families = {one.kind_id: one.family for one in KINDS}
        assert families[thing] == families["hammer"]

    def test_false_actions_are_added(self) -> None:
        times = {
            len(answer(TIMELINE, TimelineRequest(shown()), Dials(false_actions=share))["events"])
            for share in (0.0, 1.0)
        }
        named = [
            clauses(answer(OBSERVE, ObserveRequest(HAMMER, shown()), Dials(false_actions=share))["caption"])
            for share in (0.0, 1.0)
        ]
        assert len(named[1]) == len(named[0]) + 1
        assert times == {len(ACTS)}

    def test_misread_text_has_other_figures(self) -> None:
        caption = answer(OBSERVE, ObserveRequest(HAMMER, shown()), Dials(reading=0.0))["caption"]
        assert "Order number" in caption
        assert "Order number 1204" not in caption


class TestAnswers:
    def test_the_moment_is_located(self) -> None:
        memory = Memory(key_moment="I think the frame shows how somebody hangs a towel on the hook.")
        found = answer(LOCATE, LocateRequest(memory.key_moment, shown(), "frame", memory=memory))
        assert found["frame"] == 2
        asked = "What is the object that the camera wearer weighs on the scale?"
        (window, *_) = answer(LOCATE, LocateRequest(asked, shown()))["windows"]
        assert window["start"] <= 13.0 < window["end"]

    def test_two_videos_are_distinguished(self) -> None:
        memory = Memory(
            global_impression="It was filmed in a kitchen, with a red globe. A woman came into view."
        )
        right, wrong = (
            answer(VERIFY_VIDEO, VerifyRequest(memory, shown(video)))["video_match"] for video in (0, 1)
        )
        assert right
        other = Memory(global_impression="It was filmed in a garden, with a blue kite. A man came into view.")
        assert not answer(VERIFY_VIDEO, VerifyRequest(other, shown(0)))["video_match"]
        assert isinstance(wrong, bool)

    def test_yes_and_no_are_wrong_as_often_as_the_dials_say(self) -> None:
        def verdicts(text: str, dials: Dials) -> list[bool]:
            return [
                answer(MATCH_FRAME, MatchRequest(text, shown(0, (1.0,))), dials, seed)["text_match"]
                for seed in range(60)
            ]

        right, wrong = "somebody wipes a hammer with the cloth", "somebody hangs a towel on the hook"
        assert all(verdicts(right, Dials()))
        assert not any(verdicts(wrong, Dials()))
        assert 15 <= sum(verdicts(right, Dials(wrong_no=0.5))) <= 45
        assert 15 <= sum(verdicts(wrong, Dials(wrong_yes=0.5))) <= 45


class TestReplies:
    SENT = body(OBSERVE, ObserveRequest(HAMMER, shown()))

    def test_the_same_request_has_the_same_reply_and_another_seed_another(self) -> None:
        sent = body(ANSWER_CHOICE, _blind(HAMMER))
        assert reply_to(sent) == reply_to(sent)
        assert len({reply_to(sent, seed=seed) for seed in range(20)}) > 1

    def test_concurrent_requests_have_the_replies_of_single_ones(self) -> None:
        sent = [
            body(MATCH_FRAME, MatchRequest(f"somebody wipes a {thing} with the cloth", shown(0, (1.0,))))
            for _, _, thing in ACTS
        ]
        dials = Dials(wrong_yes=0.5, wrong_no=0.5, rate_limited=0.4, unavailable=0.3)
        alone = [reply_to(one, dials) for one in sent]
        with simulated_reasoner(dials, index=INDEX) as (_, server):
            found: dict[int, str] = {}

            def ask(at: int) -> None:
                while (
                    answer := httpx.post(f"{server.base_url}/chat/completions", json=sent[at])
                ).status_code != 200:
                    assert answer.status_code in (429, 503)
                found[at] = answer.json()["choices"][0]["message"]["content"]

            threads = [threading.Thread(target=ask, args=(at,)) for at in reversed(range(len(sent)))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert [found[at] for at in range(len(sent))] == alone

    @pytest.mark.parametrize(
        ("dial", "held"),
        [
            ("trailing_comma", ",}"),
            ("prose", "I hope this helps"),
            ("code_fence", "```json"),
            ("refusal", APOLOGY),
        ],
    )
    def test_form_slips_are_in_the_text_and_not_under_a_schema(self, dial: str, held: str) -> None:
        dials = Dials(**{dial: 1.0})
        assert held in reply_to(self.SENT, dials)
        for kind in ("json_schema", "json_object"):
            assert held not in reply_to({**self.SENT, "response_format": {"type": kind}}, dials)

    def test_other_slips_change_the_content(self) -> None:
        assert json.loads(reply_to(self.SENT, Dials(other_language=1.0)))["caption"] == GERMAN
        assert (
            "the colour of the sky" in json.loads(reply_to(self.SENT, Dials(unknown_keyword=1.0)))["missing"]
        )
        plain = json.loads(reply_to(self.SENT))
        assert set(json.loads(reply_to(self.SENT, Dials(extra_field=1.0)))) - set(plain)
        located = body(LOCATE, LocateRequest("frame", shown(), "frame", must_choose=True))
        numbers = json.loads(reply_to(located, Dials(number_as_text=1.0)))
        assert any(isinstance(numbers[name], str) for name in ("frame", "confidence"))
        planned = PlanRequest(HAMMER)
        more = answer(PLAN, planned, Dials(extra_entry=1.0))
        assert listed(more) == listed(answer(PLAN, planned)) + 1

    def test_presets_differ_and_dials_are_checked(self) -> None:
        assert preset("small").objects < preset("strong").objects
        assert preset("strong", {"perception": 0.2}).actions == 0.2
        for name, changes in (("huge", {}), ("small", {"speed": 1.0}), ("small", {"refusal": 1.5})):
            with pytest.raises(UsageError):
                preset(name, changes)


class TestServer:
    def test_models_and_usage(self) -> None:
        with simulated_reasoner(Dials(context_tokens=20_000), index=INDEX) as (reasoner, server):
            (card,) = httpx.get(f"{server.base_url}/models").json()["data"]
            assert (card["id"], card["max_model_len"]) == (server.name, 20_000)
            reasoner.run(OBSERVE, ObserveRequest(HAMMER, shown()))
            usage = reasoner.usage()
            assert usage.prompt_tokens > usage.image_tokens == 6 * 12 * 7
            assert httpx.get(f"{server.base_url.removesuffix('/v1')}/counts").json() == {"observe replies": 1}

    @pytest.mark.parametrize(
        ("dials", "words"),
        [
            (Dials(images=5), "At most 5 image(s) may be provided in one request."),
            (Dials(context_tokens=900), "maximum context length is 900 tokens"),
        ],
    )
    def test_what_is_too_much_is_refused_in_the_words_of_vllm(self, dials: Dials, words: str) -> None:
        with simulated_reasoner(dials, index=INDEX, max_tokens=100) as (_, server):
            answer = httpx.post(
                f"{server.base_url}/chat/completions", json={**TestReplies.SENT, "max_tokens": 100}
            )
            assert answer.status_code == 400
            assert words in answer.json()["message"]

    @pytest.mark.parametrize("sent", [{}, {"messages": []}, {"messages": [{"role": "tool"}]}, [1]])
    def test_what_is_no_chat_is_refused(self, sent: Any) -> None:
        with simulated_reasoner(index=INDEX) as (_, server):
            assert httpx.post(f"{server.base_url}/chat/completions", json=sent).status_code == 400

    def test_another_model_is_not_there(self) -> None:
        with simulated_reasoner(index=INDEX) as (_, server):
            sent = {**TestReplies.SENT, "model": "other"}
            assert httpx.post(f"{server.base_url}/chat/completions", json=sent).status_code == 404

    def test_passing_failures_pass_and_lasting_ones_last(self) -> None:
        asked = JudgeRequest("What is it?", ("a hammer",), "It is the hammer.")
        with simulated_reasoner(Dials(rate_limited=0.3, unavailable=0.2), index=INDEX) as (reasoner, _):
            assert reasoner.run(JUDGE, asked).is_correct
        with (
            simulated_reasoner(Dials(unavailable=1.0), index=INDEX) as (reasoner, _),
            pytest.raises(ReasonerError),
        ):
            reasoner.run(JUDGE, asked)

    def test_a_foreign_prompt_has_no_json(self) -> None:
        sent = {"messages": [{"role": "user", "content": "Hello"}]}
        assert "{" not in reply_to(sent)


def _blind(question: Question) -> Any:
    from rag.reasoners.roles.anchor_event import AnchorEvent
    from rag.reasoners.roles.reading import Reading
    from rag.reasoners.roles.rewrite_question import RewrittenQuestion

    rewritten = RewrittenQuestion(visual_query="A video.", passage_queries=question.options)
    return Reading(question, rewritten, AnchorEvent(description="it"), (), (), must_choose=True)
