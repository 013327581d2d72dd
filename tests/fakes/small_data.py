"""What the end-to-end tests on rendered data share."""

import pytest

from eval.workbench import corpus


def render_here(patch: pytest.MonkeyPatch) -> None:
    """Videos are rendered in this process: workers of their own take seconds to start."""
    render = corpus.render_jobs
    patch.setattr(corpus, "render_jobs", lambda folder, jobs, _: render(folder, jobs, 1))
