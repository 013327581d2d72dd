"""Words of opposite meaning, English and German, by stem."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product

from rag.words import stem

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
recommended forbidden; safer riskier; safe risky; ideal unsuitable; cover exclude; valid void
"""


_GERMAN = """
öffnen öffnet öffnete geöffnet offen / schließen schließt schloss geschlossen;
beginnen beginnt begann begonnen / enden endet endete geendet;
kaufen kauft kaufte gekauft / verkaufen verkauft verkaufte;
steigen steigt stieg gestiegen / sinken sinkt sank gesunken fallen fällt fiel gefallen;
heben hebt hob gehoben / senken senkt senkte gesenkt;
erhöhen erhöht erhöhte / verringern verringert senken senkt senkte gesenkt;
vergrößern vergrößert / verkleinern verkleinert; verlängern verlängert / verkürzen verkürzt;
füllen füllt füllte gefüllt / leeren leert leerte geleert;
einschalten eingeschaltet anschalten angeschaltet / ausschalten ausgeschaltet abschalten abgeschaltet;
einsteigen eingestiegen / aussteigen ausgestiegen; lockern lockert gelockert / festziehen festgezogen;
gewinnen gewinnt gewann gewonnen / verlieren verliert verlor verloren;
erlaubt erlauben gestattet / verboten verbieten untersagt;
links linke linken linker linkem / rechts rechte rechten rechter rechtem;
oben obere oberen oberer oberem oberste obersten / unten untere unteren unterer unterem unterste untersten;
vorne vordere vorderen vorderer vorderem / hinten hintere hinteren hinterer hinterem;
innen innere inneren innerer innerem / außen äußere äußeren äußerer äußerem;
erste ersten erster erstem / letzte letzten letzter letztem;
alt alte alten alter altem / neu neue neuen neuer neuem jung junge jungen junger jungem;
groß große großen großer großem / klein kleine kleinen kleiner kleinem;
lang lange langen langer langem / kurz kurze kurzen kurzer kurzem;
hoch hohe hohen hoher hohem / niedrig niedrige niedrigen niedriger niedrigem;
warm warme warmen warmer warmem heiß heiße heißen heißer heißem / kalt kalte kalten kalter kaltem;
schnell schnelle schnellen schneller schnellem / langsam langsame langsamen langsamer langsamem;
früh frühe frühen früher / spät späte späten später; voll volle vollen voller / leer leere leeren leerer;
dick dicke dicken dicker / dünn dünne dünnen dünner; maximal maximale maximalen / minimal minimale minimalen;
mindestens / höchstens; nördlich nördliche nördlichen / südlich südliche südlichen;
östlich östliche östlichen / westlich westliche westlichen; teuer teure teuren / billig billige billigen
"""
"""No particles of verbs ("an", "aus"), which are prepositions too."""
_SIDES = tuple(
    tuple(tuple(stem(form) for form in side.split()) for side in pair.split("/"))
    for pair in _GERMAN.casefold().replace("\n", " ").split(";")
)


def _table() -> Mapping[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    pairs = [tuple(stem(word) for word in pair.split()) for pair in _PAIRS.replace("\n", " ").split(";")]
    for one, other in (*pairs, *(forms for sides in _SIDES for forms in product(*sides))):
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in table.items()}


ANTONYMS = _table()
"""Stem to the stems of its opposites, both ways."""
_BASES = {form: side[0] for sides in reversed(_SIDES) for side in sides for form in side}
_PREFIXES = ("un", "in", "im", "ir", "non", "dis")
LEAST_LETTERS = 4
"""Of a stem that a negating prefix makes an opposite of."""


@lru_cache(maxsize=4096)
def opposites(word: str) -> frozenset[str]:
    """Stems opposite to a stem: those of the table, and it with a negating prefix or without its own."""
    negated = {prefix + word for prefix in _PREFIXES if len(word) >= LEAST_LETTERS}
    plain = {word.removeprefix(prefix) for prefix in _PREFIXES if word.startswith(prefix)}
    return ANTONYMS.get(word, frozenset()) | negated | {one for one in plain if len(one) >= LEAST_LETTERS}


def base_form(word: str) -> str:
    """The first form of a German word of the table, of a stem: "öffnen" of "geöffnet"; else the stem."""
    return _BASES.get(word, word)
