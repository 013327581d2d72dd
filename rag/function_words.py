"""Words that hold sentences together and carry no meaning of their own, by language."""

from __future__ import annotations

from collections.abc import Sequence


def listed(words: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(words.split())


FUNCTION_WORDS = listed(
    """a about after again all also am an and any are as at be because been before being below between both
    but by can cannot could did do does doing done down during each either else ever every few for from
    further had has have having he her here hers him his how i if in into is it its itself just let like
    many may me might more most much must my no nor not now of off on once one only onto or other our out
    over own per quite rather same shall she should since so some such than that the their them then there
    these they this those through to too under until up upon us very was we were what when where whether
    which while who whom whose why will with within without would yes yet you your
    don doesn isn aren wasn weren won can't don't isn't it's"""
)
"""English ones."""
GENERIC_WORDS = listed(
    """video videos clip shows show showing shown camera wearer person people someone somebody man woman
    object objects thing things item something statement statements true right correct following passage
    happen make made use used using get got go going take put keep need call called
    kind sort type way order"""
)
"""Content words of nearly every question about videos, which do not discriminate."""
OTHER_LANGUAGES = (
    listed(
        """der das dem den des ein eine einen einem einer eines und oder aber nicht kein keine keinen was
        ist sind war waren wurde wurden wird werden hat hatte hatten haben habe hast wie wo wer wen wem
        wessen wann warum wieso weshalb womit wohin woher welche welcher welches welchen welchem wieviel ich
        du er sie es wir ihr man mich dich sich uns ihm ihn ihnen mein meine dein deine sein seine seinen
        seiner ihre ihren ihrer unser unsere in an am im für auf aus bei beim mit nach von vom vor zu zum
        zur über unter zwischen durch gegen ohne um bis seit während wegen dass daß wenn weil als so denn ob
        auch nur noch schon sehr dann dort hier diese dieser dieses diesen diesem jene kann können konnte
        konnten muss müssen musste soll sollen sollte darf dürfen möchte würde würden gibt gab viel viele"""
    ),
    listed(
        """el la los las un una unos unas y pero no del de al en por para con sin sobre entre hasta desde
        como cómo que qué quién quien quiénes cuál cual cuáles cuándo cuando dónde donde adónde cuánto
        cuánta cuántos cuántas es son era eran fue fueron ser sido está están estaba estaban hay había han
        ha he haber se su sus lo le les mi tu nos me te yo él ella ellos ellas este esta estos estas ese esa
        esos esas aquel aquella si porque también más muy ya cada según durante ante tras hacia"""
    ),
    listed(
        """le la les un une des du de et ou mais ne pas que qu qui quoi quel quelle quels quelles comment où
        quand pourquoi combien est sont était étaient été être ont avait avaient avoir ai je tu il elle on
        nous vous ils elles se sa ses son mon ma mes ton ta tes leur leurs notre votre ce cet cette ces y
        dans en par pour sur sous avec sans entre vers chez jusque depuis pendant au aux plus très aussi si
        dont faut"""
    ),
)
"""German, Spanish and French ones; without "die", a verb in English."""
UNSURE = listed(
    """war hat man sein seine den des son par sur sans mes los las la le les el de al se me mi tu te ha han
    he un on ma ton si plus bei mit im am an in so was ser est dont elle este sin con y"""
)
"""Those that are also English words or parts of names: they say nothing of the language."""


def is_english(words: Sequence[str]) -> bool:
    """Whether a question has English function words, and no more of another language. `words`: lower case."""
    return bool(FUNCTION_WORDS & set(words)) and _language(words) is FUNCTION_WORDS


def without_function_words(words: Sequence[str]) -> list[str]:
    """Leave out function words of English and of the text's own language; words are in lower case."""
    language = _language(words)
    return [word for word in words if word not in FUNCTION_WORDS and word not in language]


def _language(words: Sequence[str]) -> frozenset[str]:
    """The function words of the language that has most of a text's words: of two others than English, at
    least, of which one is sure, and more than it has English ones."""
    own = set(words)
    english = len(FUNCTION_WORDS & own)
    if 2 * english < len(own):
        language = max(OTHER_LANGUAGES, key=lambda held: len(held & own))
        held = language & own
        if len(held) > max(1, english) and held - UNSURE:
            return language
    return FUNCTION_WORDS
