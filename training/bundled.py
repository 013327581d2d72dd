"""Trains the bundled encoder: `python -m training.bundled --minutes 60 --seed 0 --out DIR`.

One process renders train stories and the other learns. The budget is wall time; the learning rate falls
along a cosine over it, and collages give way to stories.
"""

from __future__ import annotations

import argparse
import copy
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import multiprocessing
from torch.nn import functional

from indexers.bundled.encoder import MEAN, SIZE, SPREAD
from training.captions import read_banks, text_space
from training.drawing import Pool, render_endlessly
from training.network import WEIGHTS, Losses, Network

AVERAGED = 0.998
"""Share of the averaged weights that a step keeps."""
WARM = 200
"""Steps until the full learning rate."""
COLLAGES = ((0.4, 0.5), (0.75, 0.25), (math.inf, 0.1))
"""Share of a batch until a share of the budget."""
ENOUGH = 600
"""Frames in the pool before the first step."""


class Learner:
    """Learns from the pool, keeps time, and writes the checkpoints."""

    def __init__(self, settings: argparse.Namespace, pool: Pool) -> None:
        torch.set_flush_denormal(True)
        self.settings, self.pool = settings, pool
        self.space = text_space(settings.cache)
        banks = read_banks(self.space, settings.cache, settings.seed)
        torch.manual_seed(settings.seed)
        self.network = Network(banks.prototypes()).to(memory_format=torch.channels_last)
        self.steady = copy.deepcopy(self.network).eval()
        self.losses = Losses(banks)
        self.optimizer = torch.optim.AdamW(self._groups(), lr=settings.rate, betas=(0.9, 0.98), fused=True)
        self.matrix, self.mean = torch.from_numpy(self.space.matrix), torch.from_numpy(self.space.mean)
        self.step, self.spent = 0, 0.0
        if settings.start:
            self._begin(settings.start)
        self.rng = np.random.default_rng(settings.seed)

    def _groups(self) -> list[dict[str, Any]]:
        named = list(self.network.named_parameters())
        wide = [p for name, p in named if p.ndim > 1 and not name.startswith("sums")]
        rest = [p for name, p in named if p.ndim <= 1]
        return [
            {"params": wide, "weight_decay": self.settings.decay, "scale": 1.0},
            {"params": rest, "weight_decay": 0.0, "scale": 1.0},
            {"params": [self.network.sums.weight], "weight_decay": 0.0, "scale": 0.2},
            {"params": list(self.losses.parameters()), "weight_decay": 0.0, "scale": 1.0},
        ]

    @property
    def progress(self) -> float:
        """Share of the budget that is spent."""
        return self.spent / (self.settings.minutes * 60)

    def run(self) -> None:
        """Learn until the budget is spent."""
        while int(self.pool.written.min()) < ENOUGH:
            time.sleep(0.1)
        begun, kept = time.monotonic(), 0.0
        while self.progress < 1:
            self._learn()
            self.spent = time.monotonic() - begun
            if self.spent - kept > 180:
                kept = self.spent
                self._save()
        self._save()

    def _learn(self) -> None:
        self.network.train()
        frames, labels, described, spots, laid = self._batch()
        seen = self.network(frames)
        size = torch.tensor([frames.shape[3], frames.shape[2]])
        losses = self.losses(seen, labels, described, spots, laid, size)
        self.optimizer.zero_grad()
        loss = sum(WEIGHTS[name] * value for name, value in losses.items())
        loss.backward()
        if self.step % 50 == 0:
            print(f"step {self.step}, {self.spent:.0f} s, loss {loss.item():.3f}", flush=True)
        warm = min(1.0, (self.step + 1) / WARM)
        rate = (
            self.settings.rate
            * warm
            * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, self.progress))))
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["scale"]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimizer.step()
        self.step += 1
        self._follow()

    def _follow(self) -> None:
        """The averaged weights, which are those that `training.export` takes."""
        keep = min(AVERAGED, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            pairs = zip(self.steady.state_dict().values(), self.network.state_dict().values(), strict=True)
            for steady, moving in pairs:
                if steady.is_floating_point():
                    steady.lerp_(moving, 1 - keep)

    def _batch(self) -> tuple[Any, Any, Any, Any, Any]:
        share = next(share for until, share in COLLAGES if self.progress <= until)
        collages = round(self.settings.batch * share)
        stories = self._picked(0, len(self.pool.frames), self.settings.batch - collages)
        spread = self._picked(1, len(self.pool.collages), collages)
        described = functional.normalize((self.pool.described[stories] - self.mean) @ self.matrix, dim=1)
        frames, spots = self._varied(self.pool.frames[stories], self.pool.spots[stories])
        others, laid = self._varied(self.pool.collages[spread], self.pool.laid[spread])
        both = torch.cat([frames, others]).contiguous(memory_format=torch.channels_last)
        return both, self.pool.labels[stories], described, spots, laid

    def _picked(self, pool: int, size: int, count: int) -> Any:
        written = int(self.pool.written[pool])
        # The oldest frames of a full ring are being written over.
        oldest = max(0, written - size + 64)
        self.pool.used[pool] += count
        return torch.from_numpy(self.rng.integers(oldest, written, count) % size)

    def _varied(self, frames: Any, spots: Any) -> tuple[Any, Any]:
        """Moved, scaled, lit and coloured a little, at the tower's size; the spots moved along."""
        n = len(frames)
        x = frames.permute(0, 3, 1, 2).float().div_(255)
        height, width = SIZE
        zoom = 1 + 0.16 * (torch.rand(n) - 0.5)
        stretch = 1 + 0.08 * (torch.rand(n) - 0.5)
        move = 0.10 * (torch.rand(n, 2) - 0.5)
        theta = torch.zeros(n, 2, 3)
        theta[:, 0, 0], theta[:, 1, 1], theta[:, :, 2] = zoom * stretch, zoom / stretch, move
        grid = functional.affine_grid(theta, [n, 3, height, width], align_corners=False)
        x = functional.grid_sample(x, grid, mode="bilinear", padding_mode="border", align_corners=False)
        gain = 1 + 0.24 * (torch.rand(n, 1, 1, 1) - 0.5) + 0.10 * (torch.rand(n, 3, 1, 1) - 0.5)
        x = (x * gain + 0.10 * (torch.rand(n, 1, 1, 1) - 0.5)).clamp_(0, 1)
        scales = torch.stack([zoom * stretch, zoom / stretch], dim=1)[:, None]
        places = ((spots[:, :, 1:] * 2 - 1 - move[:, None]) / scales + 1) / 2
        inside = ((places > 0.01) & (places < 0.99)).all(dim=2)
        kinds = torch.where(inside, spots[:, :, 0], -1.0)
        moved = torch.cat([kinds[:, :, None], places], dim=2)
        return ((x - MEAN) / SPREAD).contiguous(memory_format=torch.channels_last), moved

    def _save(self) -> None:
        state = {
            "network": self.network.state_dict(),
            "steady": self.steady.state_dict(),
            "losses": self.losses.state_dict(),
            "step": self.step,
            "space": {"mean": self.mean, "matrix": self.matrix},
        }
        file = Path(self.settings.out) / "state.pt"
        torch.save(state, file.with_suffix(".new"))
        file.with_suffix(".new").replace(file)

    def _begin(self, file: Path) -> None:
        """The weights of another run; what it did not have yet starts as it is made."""
        state = torch.load(file, weights_only=True)
        for name in ("network", "steady", "losses"):
            getattr(self, name).load_state_dict(state[name], strict=False)


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
    Learner(settings, pool).run()
    artist.terminate()


def _settings() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="wall time, without preparations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=None, help="keeps caption vectors")
    parser.add_argument("--batch", type=int, default=32, help="images of a step")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--decay", type=float, default=0.05)
    parser.add_argument("--pool", type=int, default=6000)
    parser.add_argument("--reuse", type=float, default=2.0, help="how often a frame is seen")
    parser.add_argument("--start", type=Path, default=None, help="weights of an earlier run to begin with")
    return parser.parse_args()


if __name__ == "__main__":
    main()
