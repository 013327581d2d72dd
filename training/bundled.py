"""Trains the bundled encoder: `python -m training.bundled --minutes 60 --seed 0 --out DIR`.

One process draws train stories, the others learn, one thread each, and average their gradients at every
step. The budget is wall time or steps; the learning rate falls along a cosine over it, and collages give
way to stories.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from torch import multiprocessing

from training.banks import read_banks
from training.captions import text_space
from training.drawing import Pool, render_endlessly
from training.learning import Learner, Shared
from training.measure import render_clips


def main() -> None:
    """Render and learn until the time is up."""
    settings = _settings()
    settings.out.mkdir(parents=True, exist_ok=True)
    settings.cache = settings.cache or settings.out / "cache"
    pool = Pool.empty(settings.pool)
    context = multiprocessing.get_context("spawn")
    # The drawing process starts first: it fills the pool while the captions are read.
    artist = context.Process(
        target=render_endlessly, args=(pool, settings.seed + 1, settings.reuse, os.getpid()), daemon=True
    )
    artist.start()
    read_banks(text_space(settings.cache), settings.cache, settings.seed)
    render_clips("dev", settings.dev_clips, settings.cache)
    shared = Shared.between(settings.learners, context)
    others = [
        context.Process(target=_learn, args=(rank, settings, pool, shared), daemon=True)
        for rank in range(1, settings.learners)
    ]
    for process in others:
        process.start()
    _learn(0, settings, pool, shared)
    for process in others:
        process.join()
    artist.terminate()


def _learn(rank: int, settings: argparse.Namespace, pool: Pool, shared: Shared) -> None:
    Learner(rank, settings, pool, shared).run()


def _settings() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="wall time, without preparations")
    parser.add_argument("--steps", type=int, default=0, help="a budget in steps instead of minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=None, help="keeps caption vectors and dev frames")
    parser.add_argument("--learners", type=int, default=2, help="processes that learn, one a core")
    parser.add_argument("--batch", type=int, default=16, help="pictures a learner sees at a step")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--decay", type=float, default=0.05)
    parser.add_argument("--pool", type=int, default=6000)
    parser.add_argument("--reuse", type=float, default=2.0, help="how often a frame is seen")
    parser.add_argument("--dev-clips", type=int, default=127)
    parser.add_argument("--dev-minutes", type=float, default=5.0)
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    parser.add_argument("--start", type=Path, default=None, help="weights of an earlier run to begin with")
    return parser.parse_args()


if __name__ == "__main__":
    main()
