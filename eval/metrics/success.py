"""Success@k: 1 where a relevant item is among the first k, else 0; its mean is the success rate.

Parameters: k is 5 for clips and 6 for passages, as many as the paper
retrieves (EgoFact, 3.2 and D.2.3). One gold item a query. Computed by
ir-measures, that is trec_eval's own `success`, from the run file on
disk. A query without a line in the run counts 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eval.trec import RunRow
from rag.errors import ExtraMissing

CLIPS_AT = 5
PASSAGES_AT = 6


def success(qrels: Mapping[str, str], run: Iterable[RunRow], k: int) -> dict[str, float]:
    """Success@k of each query of `qrels`, which gives the gold item of each.

    Raises `ExtraMissing` without ir-measures.
    """
    try:
        import ir_measures
    except ImportError as error:
        raise ExtraMissing(
            "ir-measures not installed; install it with: pip install 'offline-video-rag[eval]'"
        ) from error
    if not qrels:
        return {}
    judged = [ir_measures.Qrel(query_id, doc_id, 1) for query_id, doc_id in qrels.items()]
    ranked = [ir_measures.ScoredDoc(row.query_id, row.doc_id, row.score) for row in run]
    found = dict.fromkeys(qrels, 0.0)
    for metric in ir_measures.iter_calc([ir_measures.Success @ k], judged, ranked):
        found[metric.query_id] = float(metric.value)
    return found
