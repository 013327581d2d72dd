"""Trains the bundled encoder: `python -m training.bundled --minutes 65 --seed 0 --out DIR`.

Two processes: one draws train stories, this one learns. The budget is wall time or steps; the
learning rate falls along a cosine over it, and the pictures grow from 3/4 size to full size.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import multiprocessing
from torch.nn import functional

from training.banks import read_banks
from training.captions import text_space
from training.drawing import FRAME, Pool, draw_for_ever
from training.loss import WEIGHTS, Losses
from training.measure import draw_clips, figures
from training.network import Network

MEAN, SPREAD = 0.45, 0.25
EARLY = (81, 144)
EMA = 0.998


def main() -> None:
    settings = _settings()
    torch.manual_seed(settings.seed)
    torch.set_num_threads(settings.threads)
    Trainer(settings).run()


def _settings() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=65.0, help="wall time, without preparations")
    parser.add_argument("--steps", type=int, default=0, help="a budget in steps instead of minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=None, help="keeps caption vectors and dev frames")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--decay", type=float, default=0.05)
    parser.add_argument("--early", type=float, default=0.4, help="share of the budget at the smaller size")
    parser.add_argument("--pool", type=int, default=6000)
    parser.add_argument("--reuse", type=float, default=3.0, help="how often a frame is seen")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dev-clips", type=int, default=127)
    parser.add_argument("--dev-minutes", type=float, default=5.0)
    parser.add_argument("--resume", action="store_true")
    return parser.parse_args()


class Trainer:
    """One training run; everything it writes lies under `settings.out`."""

    def __init__(self, settings: argparse.Namespace) -> None:
        self.settings = settings
        settings.out.mkdir(parents=True, exist_ok=True)
        self.cache = settings.cache or settings.out / "cache"
        self.pool = Pool.empty(settings.pool)
        # The drawing process starts first: it fills the pool while the captions are read.
        context = multiprocessing.get_context("spawn")
        self.artist = context.Process(
            target=draw_for_ever, args=(self.pool, settings.seed + 1, settings.reuse, os.getpid()), daemon=True
        )
        self.artist.start()
        self.space = text_space(self.cache)
        banks = read_banks(self.space, self.cache, settings.seed)
        self.network = Network(banks.prototypes()).to(memory_format=torch.channels_last)
        self.steady = copy.deepcopy(self.network).eval()
        self.losses = Losses(banks)
        self.optimizer = torch.optim.AdamW(self._groups(), lr=settings.rate, betas=(0.9, 0.98))
        self.matrix, self.mean = torch.from_numpy(self.space.matrix), torch.from_numpy(self.space.mean)
        self.dev = draw_clips("dev", settings.dev_clips, self.cache)
        self.rng = np.random.default_rng(settings.seed)
        self.step, self.spent, self.taken = 0, 0.0, 0

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

    def run(self) -> None:
        if self.settings.resume:
            self._load()
        while int(self.pool.drawn) < 1000:
            time.sleep(0.1)
        self._log({"event": "start", "settings": {k: str(v) for k, v in vars(self.settings).items()}})
        begun, kept, measured, noted = time.monotonic() - self.spent, 0.0, 0.0, 0.0
        sums: dict[str, float] = {}
        count, since = 0, time.monotonic()
        while self.done < 1:
            for name, value in self._learn().items():
                sums[name] = sums.get(name, 0.0) + value
            count += 1
            self.spent = time.monotonic() - begun
            if self.spent - noted > 20:
                noted = self.spent
                speed = count * self.settings.batch / (time.monotonic() - since)
                means = {name: round(value / count, 3) for name, value in sums.items()}
                self._log({"step": self.step, "seconds": round(self.spent), "images_per_second": round(speed, 1),
                           "drawn": int(self.pool.drawn), "losses": means})
                sums, count, since = {}, 0, time.monotonic()
            if self.spent - kept > 180:
                kept = self.spent
                self._save()
            if self.spent - measured > self.settings.dev_minutes * 60:
                measured = self.spent
                self._measure()
                since = time.monotonic()
                sums, count = {}, 0
        self._save()
        self._measure()
        self.artist.terminate()

    @property
    def done(self) -> float:
        """Share of the budget that is spent."""
        if self.settings.steps:
            return self.step / self.settings.steps
        return self.spent / (self.settings.minutes * 60)

    def _learn(self) -> dict[str, float]:
        warm = min(1.0, (self.step + 1) / 200)
        rate = self.settings.rate * warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, self.done))))
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["scale"]
        frames, labels, described = self._batch()
        self.network.train()
        seen = self.network(frames)
        losses = self.losses(seen, labels, described)
        total = sum(WEIGHTS[name] * value for name, value in losses.items())
        self.optimizer.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimizer.step()
        self.step += 1
        keep = min(EMA, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for steady, moving in zip(self.steady.state_dict().values(), self.network.state_dict().values(), strict=True):
                if steady.is_floating_point():
                    steady.lerp_(moving, 1 - keep)
        right = (seen.objects.argmax(1) == labels[:, 0]).float().mean()
        acts = (seen.acts.argmax(1) == labels[:, 1]).float().mean()
        return {"total": float(total), **{name: float(value) for name, value in losses.items()},
                "object_right": float(right), "act_right": float(acts)}

    def _batch(self) -> tuple[Any, Any, Any]:
        drawn, size = int(self.pool.drawn), len(self.pool.frames)
        # The oldest frames of a full ring are being written over.
        oldest = max(0, drawn - size + 64)
        picked = torch.from_numpy(self.rng.integers(oldest, drawn, self.settings.batch) % size)
        self.pool.used += self.settings.batch
        described = functional.normalize((self.pool.described[picked] - self.mean) @ self.matrix, dim=1)
        frames = self._varied(self.pool.frames[picked])
        return frames, self.pool.labels[picked], described

    def _varied(self, frames: Any) -> Any:
        """Slightly moved, scaled, lit, coloured and blurred; at the size of this part of the run."""
        n = len(frames)
        x = frames.permute(0, 3, 1, 2).float().div_(255)
        height, width = EARLY if self.done < self.settings.early else FRAME
        zoom = 1 + 0.16 * (torch.rand(n) - 0.5)
        stretch = 1 + 0.08 * (torch.rand(n) - 0.5)
        move = 0.10 * (torch.rand(n, 2) - 0.5)
        theta = torch.zeros(n, 2, 3)
        theta[:, 0, 0], theta[:, 1, 1], theta[:, :, 2] = zoom * stretch, zoom / stretch, move
        grid = functional.affine_grid(theta, [n, 3, height, width], align_corners=False)
        x = functional.grid_sample(x, grid, mode="bilinear", padding_mode="border", align_corners=False)
        gain = 1 + 0.24 * (torch.rand(n, 1, 1, 1) - 0.5) + 0.10 * (torch.rand(n, 3, 1, 1) - 0.5)
        x = (x * gain + 0.10 * (torch.rand(n, 1, 1, 1) - 0.5)).clamp_(0, 1)
        return ((x - MEAN) / SPREAD).contiguous(memory_format=torch.channels_last)

    def encode(self, frames: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Unit rows by the averaged weights."""
        rows = []
        with torch.inference_mode():
            for part in np.array_split(frames, max(1, len(frames) // 64)):
                x = (torch.from_numpy(part).permute(0, 3, 1, 2).float() / 255 - MEAN) / SPREAD
                rows.append(self.steady(x.contiguous(memory_format=torch.channels_last)).vector.numpy())
        return np.concatenate(rows)

    def _measure(self) -> None:
        found = figures(self.dev, self.space, self.encode)
        self._log({"event": "dev", "step": self.step, "seconds": round(self.spent),
                   **{name: round(value, 4) for name, value in found.items()}})

    def _state_file(self) -> Path:
        return Path(self.settings.out) / "state.pt"

    def _save(self) -> None:
        state = {"network": self.network.state_dict(), "steady": self.steady.state_dict(),
                 "losses": self.losses.state_dict(), "optimizer": self.optimizer.state_dict(),
                 "step": self.step, "spent": self.spent,
                 "space": {"mean": self.mean, "matrix": self.matrix}}
        waiting = self._state_file().with_suffix(".new")
        torch.save(state, waiting)
        waiting.replace(self._state_file())

    def _load(self) -> None:
        state = torch.load(self._state_file(), weights_only=True)
        for name in ("network", "steady", "losses", "optimizer"):
            getattr(self, name).load_state_dict(state[name])
        self.step, self.spent = state["step"], state["spent"]

    def _log(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry)
        print(line, flush=True)
        with (Path(self.settings.out) / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(line + "\n")


if __name__ == "__main__":
    main()
