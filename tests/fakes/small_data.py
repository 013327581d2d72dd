"""What the end-to-end tests on rendered data share."""

import pytest

from eval.workbench import corpus
from indexers.settings import EncoderSettings
from rag.settings import Settings

FIXED_BACKEND = Settings(encoder=EncoderSettings(backend="torch-fp32", batch=8))
"""Without the measurement of backends and batches that every new library begins with."""


def render_here(patch: pytest.MonkeyPatch) -> None:
    """Videos are rendered in this process: workers of their own take seconds to start."""
    render = corpus.render_jobs
    patch.setattr(corpus, "render_jobs", lambda folder, jobs, _, advance: render(folder, jobs, 1, advance))
