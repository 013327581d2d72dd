"""Turns of questions in flight, and judgements by characters and rules."""

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
import threadpoolctl

from eval.runs.records import Output, Query, Score, TaskInput
from eval.runs.runner import answer_queries
from rag.reasoners.embedded.judge import judge
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.judge import JudgeRequest
from rag.reasoners.turns import taking_turns, turn_clock, waiting
from tests.fakes.embedded_reasoner import sentences


def test_the_clock_of_a_question_leaves_out_what_others_compute():
    lock, computing = threading.Lock(), threading.Event()

    def compute():
        with taking_turns(lock, threading.Event()):
            computing.set()
            time.sleep(0.3)

    with taking_turns(lock, threading.Event()):
        here, there = turn_clock(), time.perf_counter()
        with waiting():
            threading.Thread(target=compute).start()
            assert computing.wait(10)
        assert time.perf_counter() - there >= 0.3
        assert turn_clock() - here <= time.perf_counter() - there - 0.2


def test_queries_in_flight_ask_nothing_more_once_the_run_is_over(monkeypatch):
    replied, ended = threading.Event(), threading.Event()
    asked: list[str] = []
    threads: set[int] = set()

    class Solver:
        def solve(self, task_input: TaskInput) -> Output:
            threads.add(threading.get_ident())
            if task_input.query_id == "q0":
                return Output(choice="A")
            try:
                for _ in range(3):
                    with waiting():
                        asked.append(task_input.query_id)
                        replied.wait(10)
            finally:
                ended.set()
            return Output(choice="A")

    queries = [Query(f"q{at}", "?", ("x", "y"), "A", "all", "", "v", (0.0, 0.0)) for at in range(2)]
    inputs = {query.query_id: TaskInput(query.query_id, query.text, query.options) for query in queries}
    scorer = SimpleNamespace(score=lambda _, output: Score(output.choice == "A"))
    task: Any = SimpleNamespace(open_scorer=lambda *_: scorer)
    prepared: Any = SimpleNamespace(inputs=inputs, environment=None, skipped={})
    spec: Any = SimpleNamespace(given=None, open=lambda *_: Solver())
    limited: dict[int, int] = {}
    monkeypatch.setattr(
        threadpoolctl, "threadpool_limits", lambda *, limits: limited.update({threading.get_ident(): limits})
    )
    answers = answer_queries(task, prepared, spec, 0, (Solver(), scorer), queries, 2)
    assert next(answers).query_id == "q0"
    while not asked:
        time.sleep(0.01)
    answers.close()
    replied.set()
    assert ended.wait(10)
    assert asked == ["q1"]
    assert {limited[thread] for thread in threads} == {1}


@pytest.mark.parametrize(
    ("truth", "said", "right", "rule"),
    [
        ("glass", "glass", True, "exact"),
        ("Coca-Cola", "coca cola", True, "normalized"),
        ("glass", "This mirror is made of glass.", True, "words"),
        ("20", "19", False, "words"),
        ("red", "It is not red.", False, "words"),
        ("he puts the red mug on the shelf", "he puts the blue mug on the shelf", False, "embedding"),
        ("glass", "", False, "none"),
    ],
)
def test_the_embedded_judge_names_its_rule(truth, said, right, rule):
    verdict = judge(JudgeRequest("?", (truth,), said), SentenceVectors(sentences()))
    assert (verdict.is_correct, verdict.rule) == (right, rule), verdict
    assert verdict.by_match == (rule in ("exact", "normalized"))


def test_any_of_several_truths_is_right():
    request = JudgeRequest("?", ("steel", "glass"), "made of glass")
    assert judge(request, SentenceVectors(sentences())).is_correct
