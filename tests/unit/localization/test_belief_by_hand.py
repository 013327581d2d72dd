"""The equations of VideoDetective on numbers that can be followed by hand."""

import math

import numpy as np
import pytest

from localization.belief import BeliefField, diffused, distinct, diverse, graph_nms, hybrid_prior, strongest
from localization.graph import affinity_graph, centred, cut_segments, neighbours_of, normalized, sampled
from localization.lexical import fused_score, inverse_frequencies, lexical_score, raised, semantic_score


def test_one_frame_a_second_out_of_two() -> None:
    times = [0.0, 0.5, 1.0, 1.48, 2.02, 2.5, 5.0]
    assert sampled(times).tolist() == [0, 2, 4, 6]
    assert sampled(times, 2.0).tolist() == [0, 1, 2, 4, 5, 6]
    assert sampled([]).tolist() == []


def test_a_fragment_joins_the_neighbour_it_looks_like() -> None:
    red, green, near_green = np.array([1.0, 0]), np.array([0, 1.0]), np.array([0.6, 0.8])
    rows = np.stack([red] * 12 + [near_green] * 3 + [green] * 12)
    cut = cut_segments(np.arange(27.0), rows, end=27.0)
    assert cut.first.tolist() == [0, 12]
    assert cut.last.tolist() == [12, 27]
    assert cut.ends.tolist() == [12.0, 27.0]
    assert cut.centres.tolist() == [6.0, 19.5]
    assert (cut.at(11.9), cut.at(12.0), cut.at(99.0), cut.at(-1.0)) == (0, 1, 1, 0)
    mean = (3 * near_green + 12 * green) / 15
    assert cut.vectors[1] == pytest.approx(mean / np.linalg.norm(mean))


def test_affinity_of_three_segments() -> None:
    rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]])
    graph = affinity_graph(rows, [0.0, 30.0, 60.0], neighbours=2).toarray()
    near, far = math.exp(-1), math.exp(-2)
    assert graph[0, 1] == pytest.approx(0.6 * 0.6 + 0.4 * near, abs=1e-6)
    assert graph[0, 2] == pytest.approx(0.4 * far, abs=1e-6)
    assert graph[1, 2] == pytest.approx(0.4 * near, abs=1e-6)
    one = affinity_graph(rows, [0.0, 30.0, 60.0], neighbours=1).toarray()
    # Node 0 and node 2 both choose node 1, which chooses node 0 alone: its edge to 2 is halved.
    assert one[0, 2] == 0
    assert one[1, 2] == pytest.approx(0.2 * near, abs=1e-6)


def test_one_step_of_diffusion() -> None:
    graph = affinity_graph(np.eye(2)[[0, 0]], [0.0, 1.0])
    moved = normalized(graph)
    assert moved.toarray() == pytest.approx(np.array([[0, 1], [1, 0]]))
    assert diffused([1.0, 0.0], moved, iterations=1) == pytest.approx([0.4, 0.6])
    assert diffused([1.0, 0.0], moved, iterations=0).tolist() == [1.0, 0.0]
    assert diffused([1.0, 0.0], moved, iterations=200) == pytest.approx([0.625, 0.375])


def test_the_prior_is_half_image_half_timeline() -> None:
    visual = [[0.2, 0.8, -0.4], [0.6, 0.0, -0.2]]
    semantic = [[0.0, 0.4, 1.0]]
    assert hybrid_prior(visual, semantic).tolist() == [0.3, 0.6, 0.4]
    assert hybrid_prior(visual, np.zeros((0, 3))).tolist() == [0.6, 0.8, -0.2]
    assert hybrid_prior(np.zeros((0, 3)), np.zeros((0, 3))).tolist() == [0.0, 0.0, 0.0]


def test_the_next_anchor_is_an_unvisited_neighbour_even_where_beliefs_are_negative() -> None:
    rows = np.eye(4)[[0, 0, 0, 1]]
    graph = affinity_graph(rows, [0.0, 1.0, 2.0, 4000.0], neighbours=2)
    field = BeliefField(graph, [-0.5, -0.2, -0.9, 0.7], iterations=0)
    assert strongest([-0.5, -0.2], [True, False]) == 0
    field.observe(1, -0.1)
    assert field.next_neighbour(1) == 0
    field.observe(0, -0.1)
    assert field.next_neighbour(1) == 2
    field.observe(2, -0.1)
    assert field.next_neighbour(1) is None
    assert field.widest_gap() == 3
    field.observe(3, 0.0)
    assert field.widest_gap() is None


def test_an_observation_spreads_to_the_neighbours_alone() -> None:
    rows = np.eye(4)[[0, 0, 1, 1]]
    graph = affinity_graph(rows, [0.0, 10.0, 5000.0, 5010.0], neighbours=1)
    field = BeliefField(graph, np.zeros(4))
    field.observe(0, 1.0)
    assert field.belief[1] > 0.2
    assert field.belief[2:].tolist() == [0.0, 0.0]
    assert neighbours_of(graph, 0)[0].tolist() == [1]


def test_what_spreads_is_the_surprise_or_all_of_it() -> None:
    """Two segments that are one another's only neighbours: I - 0.6 W has the inverse [1, .6] / .64."""
    graph = affinity_graph(np.eye(2)[[0, 0]], [0.0, 1.0])
    prior = [0.5, 0.1]
    found = BeliefField(graph, prior, iterations=200)
    assert found.belief.tolist() == prior
    found.observe(0, 0.5)
    assert found.belief == pytest.approx(prior)
    found.observe(0, 0.82)
    assert found.belief == pytest.approx([0.5 + 0.32 / 0.64, 0.1 + 0.32 * 0.6 / 0.64])
    found.observe(1, 0.1)
    assert found.belief == pytest.approx([1.0, 0.4])
    whole = BeliefField(graph, prior, iterations=200, carried="all")
    whole.observe(0, 0.5)
    # Nothing was learnt, and yet the belief in the first falls and that in the second rises.
    assert whole.belief == pytest.approx([0.625 * 0.5 + 0.375 * 0.1, 0.375 * 0.5 + 0.625 * 0.1])


def test_centred_rows_have_what_they_share_taken_away() -> None:
    rows = np.array([[0.8, 0.6], [0.8, -0.6]])
    assert centred(rows) == pytest.approx(np.array([[0.0, 1.0], [0.0, -1.0]]))
    assert centred(rows[[0, 0]]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert centred(np.zeros((0, 2))).shape == (0, 2)


def test_a_cosine_counts_from_what_is_ordinary() -> None:
    assert raised(0.7, 0.4) == pytest.approx(0.5)
    assert raised(0.3, 0.4) == 0.0
    assert raised(1.0, 1.0) == 0.0


def test_graph_nms_suppresses_neighbours() -> None:
    rows = np.eye(4)[[0, 0, 1, 2]]
    graph = affinity_graph(rows, [0.0, 1.0, 4000.0, 8000.0], neighbours=1)
    belief = [0.9, 0.8, 0.3, -0.1]
    assert graph_nms(belief, graph, count=2) == [0, 2]
    assert graph_nms(belief, graph, count=4) == [0, 2, 1]
    negative = [np.array([0.0, 0.0, 0.0, -1.0])]
    # A negative prior times a negative belief is no agreement: nothing speaks for node 3.
    assert graph_nms(belief, graph, negative, count=1) == [0]
    assert graph_nms([-1.0] * 4, graph, [np.array([0.1, 0.3, 0.2, 0.0])], count=3) == [1]


def test_duplicates_are_held_against_every_frame_taken() -> None:
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.02, 0.9998], [0.8, 0.6]])
    assert distinct([0, 1, 2, 3], rows, similarity=0.92) == [0, 1, 3]
    assert distinct([2, 3], rows, similarity=0.92, taken=[1]) == [3]
    assert diverse([1, 2, 3], rows, 2, similarity=0.9, taken=[0]) == [1, 3]
    assert diverse([0, 1], rows, 2, similarity=0.9, taken=[0, 1]) == []


def test_rare_words_weigh_more_and_the_sum_is_clipped() -> None:
    texts = [{"red", "cup"}, {"red", "towel"}, {"red"}]
    frequencies, unknown = inverse_frequencies(texts)
    assert frequencies["red"] == 0.0
    assert frequencies["cup"] == pytest.approx(math.log(2))
    assert unknown == pytest.approx(math.log(4))
    score = lexical_score({"red", "cup"}, ["red", "cup", "cup", "lamp"], frequencies, unknown)
    assert score == pytest.approx(math.log(2) / 3)
    assert lexical_score({"lamp", "cup"}, ["lamp", "cup"], frequencies, unknown, clip=2.0) == 1.0
    assert lexical_score(set(), ["red"], frequencies, unknown) == 0.0


def test_sources_trust_words_differently() -> None:
    assert fused_score(1.0, 0.0, "ocr") == pytest.approx(0.7)
    assert fused_score(1.0, 0.0, "asr") == pytest.approx(0.5)
    assert fused_score(1.0, 0.0, "caption") == pytest.approx(0.3)
    assert semantic_score([2.0, 0.0], [[0.0, 1.0], [3.0, 4.0]]) == pytest.approx(0.6)
    assert semantic_score([2.0, 0.0], np.zeros((0, 2))) == 0.0
