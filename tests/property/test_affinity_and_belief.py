"""The graph and the diffusion over random videos: bounds, closed form, sparse against dense, exclusion."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from localization.belief import BeliefField, Carried, diffused, distinct, diverse, graph_nms, strongest
from localization.graph import (
    affinity_graph,
    cut_segments,
    normalized,
    temporal_affinity,
    unit_rows,
    visual_affinity,
)


@st.composite
def nodes(draw: st.DrawFn, most: int = 40) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(k, d) unit rows, some of them alike, and (k,) rising centre times."""
    count = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = unit_rows(rng.standard_normal((count, draw(st.integers(1, 8)))))
    rows = rows[rng.integers(0, count, count)]
    return rows, np.cumsum(rng.uniform(0.5, 200.0, count))


@st.composite
def graphs(draw: st.DrawFn) -> csr_array:
    rows, centres = draw(nodes(40))
    return affinity_graph(rows, centres, neighbours=draw(st.integers(1, 10)))


def dense_graph(
    rows: NDArray[np.float64], centres: NDArray[np.float64], neighbours: int
) -> NDArray[np.float64]:
    """Equations 1 and 2, fused, cut and symmetrized by loops over whole matrices."""
    fused = np.round(0.6 * visual_affinity(rows, rows) + 0.4 * temporal_affinity(centres, centres), 6)
    np.fill_diagonal(fused, 0.0)
    kept = np.zeros_like(fused)
    for i, row in enumerate(fused):
        for j in sorted(range(len(row)), key=lambda j: (-row[j], j))[:neighbours]:
            kept[i, j] = row[j]
    return (kept + kept.T) / 2


def closed_form(
    injection: NDArray[np.float64], normalized_graph: csr_array, *, beta: float = 0.6
) -> NDArray[np.float64]:
    """F* = (1 - beta) (I - beta W_norm)^-1 Y, float64 (k,): the limit of the iteration. Appendix B.1.

    `injection`: Y, float64 (k,); `normalized_graph`: W_norm, (k, k).
    """
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import spsolve

    source = np.asarray(injection, np.float64)
    if not len(source):
        return source
    system = csc_array(eye_array(len(source)) - beta * normalized_graph)
    return np.asarray(spsolve(system, (1.0 - beta) * source), np.float64).reshape(-1)


@given(nodes(), st.integers(1, 10))
def test_the_sparse_graph_is_the_dense_one(
    given_nodes: tuple[NDArray[np.float64], NDArray[np.float64]], neighbours: int
) -> None:
    rows, centres = given_nodes
    graph = affinity_graph(rows, centres, neighbours=neighbours)
    assert np.allclose(graph.toarray(), dense_graph(rows, centres, neighbours), atol=1e-12)
    assert graph.nnz <= 2 * neighbours * len(rows)
    assert (graph.diagonal() == 0).all()
    assert (graph.data > 0).all()
    assert abs(graph - graph.T).sum() == 0


@given(graphs())
def test_the_spectral_radius_is_at_most_one(graph: csr_array) -> None:
    values = np.linalg.eigvalsh(normalized(graph).toarray())
    assert np.abs(values).max(initial=0.0) <= 1 + 1e-9


@pytest.mark.slow
@given(graphs(), st.integers(0, 2**32 - 1), st.floats(0.0, 0.95))
def test_the_iteration_converges_to_the_closed_form(graph: csr_array, seed: int, beta: float) -> None:
    injection = np.random.default_rng(seed).uniform(-1, 1, graph.shape[0])
    moved = normalized(graph)
    limit = closed_form(injection, moved, beta=beta)
    reached = diffused(injection, moved, beta=beta, iterations=600)
    assert np.allclose(reached, limit, atol=1e-9)
    # Appendix B.2: the error shrinks by at least beta a step.
    once = diffused(injection, moved, beta=beta, iterations=1)
    before, after = (np.linalg.norm(each - limit) for each in (injection, once))
    assert after <= beta * before + 1e-9


@given(graphs(), st.integers(0, 2**32 - 1))
def test_every_node_is_visited_once_and_none_twice(graph: csr_array, seed: int) -> None:
    """Beliefs may all be negative: a mask by multiplication would come back to visited nodes."""
    rng = np.random.default_rng(seed)
    field = BeliefField(graph, rng.uniform(-1.0, -0.1, graph.shape[0]))
    order: list[int] = []
    node = field.widest_gap()
    while node is not None:
        order.append(node)
        field.observe(node, float(rng.uniform(-1, -0.1)))
        following = field.next_neighbour(node)
        node = field.widest_gap() if following is None else following
    assert sorted(order) == list(range(graph.shape[0]))


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from(get_args(Carried)))
def test_going_on_reaches_what_starting_again_reaches(
    graph: csr_array, seed: int, count: int, carried: Carried
) -> None:
    """Incremental: given the last score again and again, it stays within beta^n of the closed form."""
    rng = np.random.default_rng(seed)
    field = BeliefField(graph, rng.uniform(0, 1, graph.shape[0]), carried=carried)
    for node in rng.permutation(graph.shape[0])[:count]:
        score = float(rng.uniform(0, 1))
        field.observe(int(node), score)
    for _ in range(9):
        field.observe(int(node), score)
    again = closed_form(field.injection, field.transition)
    if carried == "surprise":
        again = field.prior + closed_form((field.injection - field.prior) / 0.4, field.transition)
    assert np.allclose(field.belief, again, atol=1e-8)
    assert field.visited.sum() == min(count, graph.shape[0])


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 10), st.integers(0, 6))
def test_graph_nms_keeps_facets_and_bounds(graph: csr_array, seed: int, count: int, facets: int) -> None:
    rng = np.random.default_rng(seed)
    size = graph.shape[0]
    belief = rng.uniform(-1, 1, size)
    priors = [rng.uniform(-1, 1, size) for _ in range(facets)]
    chosen = graph_nms(belief, graph, priors, count=count)
    assert len(chosen) == len(set(chosen)) <= min(max(count, facets), size)
    for prior in priors:
        agreed = (prior > 0) & (belief > 0)
        wanted = strongest(prior * belief, agreed) if agreed.any() else strongest(prior, np.ones(size, bool))
        assert wanted in chosen
    assert chosen == graph_nms(belief, graph, priors, count=count)


@given(st.integers(1, 80), st.integers(1, 12), st.integers(0, 2**32 - 1), st.floats(-1.0, 1.0))
def test_segments_cover_the_video(count: int, shortest: int, seed: int, similarity: float) -> None:
    rng = np.random.default_rng(seed)
    rows = unit_rows(rng.standard_normal((count, 3)))
    times = np.cumsum(rng.uniform(0.2, 2.0, count))
    end = float(times[-1]) + 0.5
    cut = cut_segments(times, rows, end=end, similarity=similarity, shortest=shortest)
    assert cut.first[0] == 0
    assert cut.last[-1] == count
    assert (cut.first[1:] == cut.last[:-1]).all()
    assert (cut.starts[1:] == cut.ends[:-1]).all()
    assert (cut.starts[0], cut.ends[-1]) == (0.0, end)
    lengths = cut.last - cut.first
    assert len(cut) == 1 or lengths.min() >= shortest
    inner = np.setdiff1d(np.arange(1, count), cut.first)
    if shortest == 1:
        cosines = np.round((rows[:-1] * rows[1:]).sum(axis=1), 6)
        assert (cosines[cut.first[1:] - 1] < similarity).all()
        assert (cosines[inner - 1] >= similarity).all()
    assert np.allclose(np.linalg.norm(cut.vectors, axis=1), 1.0)
    for index in range(len(cut)):
        assert cut.at(float(cut.starts[index])) == index


@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
def test_distinct_frames_are_distinct_and_cover(count: int, seed: int, similarity: float) -> None:
    rows = unit_rows(np.random.default_rng(seed).standard_normal((count, 2)))
    kept = distinct(range(count), rows, similarity=similarity)
    cosines = np.round(rows[kept] @ rows[kept].T, 6)
    assert (cosines[np.triu_indices(len(kept), 1)] <= similarity + 1e-6).all()
    for index in set(range(count)) - set(kept):
        assert np.round(rows[kept] @ rows[index], 6).max() > similarity - 1e-6
    more = diverse(range(count), rows, 5, similarity=similarity, taken=kept[:1])
    assert len(more) <= 5
    assert len({*more, *kept[:1]}) == len(more) + 1


def test_a_graph_of_one_node_stays_as_it_is() -> None:
    graph = affinity_graph(np.ones((1, 3)) / np.sqrt(3), [5.0])
    for carried, expected in (("surprise", 0.9), ("all", (1 - 0.6) * 0.9)):
        field = BeliefField(graph, [0.4], carried=carried)
        field.observe(0, 0.9)
        assert field.belief.tolist() == pytest.approx([expected])
    assert field.widest_gap() is None
