"""Pairs of opposites: a statement with one of a pair contradicts a text with the other."""

from __future__ import annotations

from collections.abc import Mapping

from rag.relevance import stem

_PAIRS = """
above below; accept reject; acidic alkaline; add remove; allow forbid; allow prevent; always never;
ascend descend; attach detach; attract repel; back front; bad good; before after; begin end; best
worst; better worse; big small; bottom top; break repair; bright dark; buy sell; calm agitate; cause
prevent; cheap expensive; clean dirty; clear cloudy; clockwise counterclockwise; close open; coarse
fine; cold hot; cold warm; contract expand; cool heat; cool warm; correct incorrect; damage protect;
damp dry; danger safety; dangerous safe; dark light; dead good; deep shallow; difficult easy; dry
wet; dull sharp; early late; easier harder; empty full; encourage discourage; even uneven; evenly
unevenly; fail succeed; false true; far near; fast slow; fat thin; faster slower; few many; first
last; fixed loose; flexible rigid; forbid permit; freeze melt; freeze thaw; fresh stale; gain lose;
gentle rough; gently forcefully; hard soft; harm help; harmful harmless; harm benefit; heavy light;
high low; higher lower; horizontal vertical; huge tiny; improve worsen; in out; include exclude;
increase decrease; increase reduce; raise lower; inner outer; inside outside; keep discard; large
small; least most; left right; less more; lengthen shorten; liquid solid; long short; longer
shorter; loosen tighten; loose tight; lock unlock; loud quiet; major minor; maximum minimum;
minimise maximise; moist dry; narrow wide; natural artificial; negative positive; new old; night
day; noisy quiet; north south; east west; off on; on off; optional required; optional mandatory;
over under; pass fail; plug unplug; poor rich; possible impossible; prevent promote; pull push;
quick slow; quickly slowly; rare common; rarely often; raw cooked; recommend discourage; rise fall;
rough smooth; rust-free rusty; safe unsafe; same different; separate combine; shrink expand; shrink
stretch; sink float; slippery grippy; stable unstable; start stop; strengthen weaken; stretch
contract; strong weak; suitable unsuitable; sweet sour; sweet bitter; tear mend; thick thin; thicken
thin; tie untie; together apart; transparent opaque; up down; upper lower; useful useless; vacant
occupied; visible invisible; waterproof leaky; wax wane; whole partial; win lose; with without;
young old; aid hinder; absorb repel; accelerate slow; lighten darken; soften harden; wring flatten;
recommended forbidden; safer riskier; safe risky; ideal unsuitable
"""


def _table() -> Mapping[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in _PAIRS.replace("\n", " ").split(";"):
        one, other = (stem(word) for word in pair.split())
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in table.items()}


ANTONYMS = _table()
"""Stem to the stems of its opposites, both ways."""
_PREFIXES = ("un", "in", "im", "ir", "non", "dis")


def opposite(one: str, other: str) -> bool:
    """Whether two stems are opposites: a pair of the table, or one the other with a negating prefix."""
    if other in ANTONYMS.get(one, frozenset()):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return len(shorter) >= 4 and any(longer == prefix + shorter for prefix in _PREFIXES)
