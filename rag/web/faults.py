"""How a web misbehaves, by seed and rate: the same calls in the same order meet the same faults.

Whether a link is dead or a result out of date depends on the address alone, so it stays so; whether a
call is slow, refused, cut or empty depends also on how often it was made, so trying again can help.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, get_args

from rag.errors import UsageError

Fault = Literal["dead_link", "slow", "truncated", "rate_limit", "empty_result", "stale_metadata"]
FAULTS: tuple[Fault, ...] = get_args(Fault)


@dataclass(frozen=True, slots=True)
class Faults:
    """The share of calls, or of addresses, that each fault strikes, in [0, 1]."""

    dead_link: float = 0.0
    """Of addresses: `PageGone`."""
    slow: float = 0.0
    """Of calls: a delay of up to one and a half times the time-out; `WebTimeout` beyond it."""
    truncated: float = 0.0
    """Of downloads: `DownloadTruncated`."""
    rate_limit: float = 0.0
    """Of calls: `RateLimited`."""
    empty_result: float = 0.0
    """Of searches: no results, as if nothing fitted."""
    stale_metadata: float = 0.0
    """Of search results: an early state of title and length, without description and tags."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in FAULTS:
            if not 0 <= self.rate(name) <= 1:
                raise UsageError(f"fault {name}: a rate is in [0, 1], not {self.rate(name):g}")

    @classmethod
    def parse(cls, text: str, seed: int = 0) -> Faults:
        """`0.3`, or `slow=0.1,dead_link=0.2`. Raises `UsageError`."""
        rates: dict[str, float] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, equals, value = part.partition("=")
            if equals and name not in FAULTS:
                raise UsageError(f"fault {name}: no such fault; there are {', '.join(FAULTS)}")
            try:
                rate = float(value if equals else name)
            except ValueError:
                rate = -1.0
            if not 0 <= rate <= 1:
                raise UsageError(f"faults {part}: a rate is in [0, 1]; as in 0.3 or slow=0.1,dead_link=0.2")
            rates |= {name: rate} if equals else dict.fromkeys(FAULTS, rate)
        return cls(seed=seed, **rates)

    def rate(self, fault: Fault) -> float:
        """Probability of a fault per request, in [0, 1]."""
        value: float = getattr(self, fault)
        return value

    def strikes(self, fault: Fault, *key: object) -> bool:
        """Whether the fault strikes what `key` names."""
        return self.share(fault, *key) < self.rate(fault)

    def share(self, *key: object) -> float:
        """A number in [0, 1) that belongs to the key and the seed."""
        named = "\x1f".join(map(str, (self.seed, *key))).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(named, digest_size=8).digest(), "big") / 2**64

    def __str__(self) -> str:
        return ",".join(f"{name}={self.rate(name):g}" for name in FAULTS if self.rate(name))
