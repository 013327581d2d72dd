"""Right by its characters, and by the rules of the embedded judge."""

import pytest

from rag.reasoners.embedded.judge import judge
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.judge import JudgeRequest
from tests.fakes.embedded_reasoner import sentences


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
