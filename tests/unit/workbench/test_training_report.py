"""The report on the bundled encoder: shares, intervals and the page they go to."""

from __future__ import annotations

import numpy as np
import pytest

from training.report import Row, inserted, lines, ranks


def test_ranks_count_those_at_least_as_good() -> None:
    scores = np.array([[0.1, 0.9, 0.5], [0.7, 0.7, 0.1]], np.float32)
    assert ranks(scores, np.array([2, 0])).tolist() == [1, 1]


def test_an_interval_holds_the_figure_and_comes_again() -> None:
    hits = np.array([True, False, True, True] * 20)
    row = Row("a", "R@1", hits, np.repeat(np.arange(20), 4), 0.1)
    low, high = row.interval()
    assert low <= 0.75 <= high
    assert row.interval() == (low, high)
    (line,) = list(lines([row], 80, 20))[-1:]
    assert line == "| a | R@1 | 75.0% | 75.0% to 75.0% | 10.0% | 80 |"


def test_the_table_goes_between_the_marks() -> None:
    page = "# A\n<!-- report -->\nold\n<!-- end of report -->\nrest\n"
    assert inserted(page, "new") == "# A\n<!-- report -->\nnew\n<!-- end of report -->\nrest\n"
    with pytest.raises(ValueError, match="lacks the marks"):
        inserted("# A\n", "new")
