"""The things of the Workbench world: kinds, where they live, what can be done with them, other names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object that hands can use."""

    kind_id: str
    name: str
    """The noun of options and passages."""
    family: str
    """Kinds of one family look alike and stand in for each other as distractors."""
    scenes: tuple[str, ...]
    """Scenes where it is often seen; it may turn up in any other."""
    affords: frozenset[str]
    """What may be done with it beyond what can be done with anything: plug, tip, cut, open, tighten."""
    aliases: dict[Split, str]
    """Another name in the wording of each split; no two splits share one."""


PLURAL = frozenset({"pliers", "pruning shears", "scissors", "headphones"})


def with_article(noun: str) -> str:
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


def indefinite(noun: str) -> str:
    """As people say it: "an egg", "scissors". Films, their words and what an encoder was trained on keep
    `with_article`, for the same bytes."""
    return noun if noun in PLURAL else with_article(noun)


def _kinds(family: str, rows: str) -> list[Kind]:
    """Rows of `name | scenes | affords | alias in train | in dev | in test`; a row may run over two lines."""
    found = []
    for row in rows.replace("|\n", "| ").strip().splitlines():
        name, scenes, affords, train, dev, test = (cell.strip() for cell in row.split("|"))
        found.append(
            Kind(
                kind_id=name.replace(" ", "_"),
                name=name,
                family=family,
                scenes=tuple(scenes.split()),
                affords=frozenset(affords.split()),
                aliases={"train": train, "dev": dev, "test": test},
            )
        )
    return found


KINDS: tuple[Kind, ...] = tuple(
    _kinds(
        "hand tools",
        """
        hammer | garage shed | tighten | claw hammer | nail hammer | carpenter's hammer
        screwdriver | garage desk | tighten | slotted screwdriver | screw driver tool | phillips driver
        pliers | garage shed | tighten open | gripping pliers | pincers | combination pliers
        handsaw | garage shed | tighten | wood saw | crosscut saw | hand-held saw
        power drill | garage shed | plug tighten open | electric drill | cordless drill | drilling machine
        soldering iron | garage desk | plug tighten | solder iron | electric soldering tool | soldering pen
        tape measure | garage shed | open tighten | measuring tape | retractable tape | tape rule
        flashlight | garage bedroom | open tighten | electric torch | hand torch | pocket light
        """,
    )
    + _kinds(
        "cans and bottles",
        """
        paint can | garage shed | tip open tighten | tin of paint | paint pot | pail of paint
        oil can | garage shed | tip open tighten | oiler | oil dispenser | lubricant can
        glue bottle | desk garage | tip open tighten cut | bottle of glue |
            adhesive bottle | squeeze bottle of glue
        shampoo bottle | bathroom bedroom | tip open tighten cut | bottle of shampoo |
            hair wash bottle | shampoo container
        milk carton | kitchen living | tip open cut | carton of milk | milk box | milk pack
        baby bottle | living kitchen | tip open tighten | feeding bottle | infant bottle | nursing bottle
        watering can | garden shed | tip tighten | plant watering can | sprinkling can | garden watering pot
        bucket | garden bathroom | tip cut | pail | water bucket | cleaning bucket
        """,
    )
    + _kinds(
        "cookware",
        """
        kettle | kitchen living | plug tip open | tea kettle | water boiler | hot water kettle
        frying pan | kitchen garden | tip tighten | skillet | fry pan | pan for frying
        saucepan | kitchen garden | tip tighten open | cooking pot | sauce pot | pot with a long handle
        ladle | kitchen garden | tip | soup ladle | serving ladle | dipper for soup
        rolling pin | kitchen living | tighten | dough roller | pastry roller | baker's rolling pin
        cutting board | kitchen garden | cut | chopping board | chopping block | board for chopping
        mug | kitchen desk | tip | coffee mug | tea mug | coffee cup
        plate | kitchen living | tip | dinner plate | dish | round plate
        wine glass | kitchen living | tip | stemmed glass | goblet | glass for wine
        toaster | kitchen living | plug open tighten | bread toaster | toasting machine | slice toaster
        """,
    )
    + _kinds(
        "food",
        """
        egg | kitchen garden | open cut | hen's egg | chicken egg | fresh egg
        bread loaf | kitchen living | open cut | loaf of bread | loaf | baked loaf
        banana | kitchen desk | open cut | ripe banana | yellow banana | banana fruit
        carrot | kitchen garden | cut | orange carrot | raw carrot | carrot root
        tomato | kitchen garden | cut open | red tomato | ripe tomato | tomato fruit
        pineapple | kitchen garden | cut open | ripe pineapple | whole pineapple | pineapple fruit
        """,
    )
    + _kinds(
        "household",
        """
        remote control | living bedroom | open tighten | television remote |
            tv remote | remote for the television
        cushion | living bedroom | open cut | sofa cushion | throw pillow | couch pillow
        book | living desk | open cut | hardcover book | novel | paperback book
        candle | living bathroom | cut | wax candle | lit candle | candle stick
        toy car | living bedroom | open tighten | model car | miniature car | car toy
        teddy bear | living bedroom | open cut | stuffed bear | plush bear | cuddly bear
        vase | living bedroom | tip | flower vase | ceramic vase | decorative vase
        game controller | living bedroom | plug open tighten | gamepad | joypad | console controller
        picture frame | living bedroom | open tighten | photo frame | framed photo | frame for a picture
        umbrella | bedroom garden | open cut tighten | rain umbrella | parasol | folding umbrella
        """,
    )
    + _kinds(
        "office",
        """
        laptop | desk living | plug open tighten | notebook computer | portable computer | laptop computer
        computer mouse | desk bedroom | plug open tighten | pc mouse | mouse device | wired mouse
        stapler | desk bedroom | open tighten | paper stapler | office stapler | desk stapler
        scissors | desk bathroom | open tighten | pair of scissors | paper scissors | two-bladed scissors
        pencil | desk bedroom | cut | wooden pencil | lead pencil | drawing pencil
        phone | desk bedroom | plug open | mobile phone | smartphone | cell phone
        headphones | desk bedroom | plug open tighten | headset | over-ear headphones | earphones
        desk lamp | desk bedroom | plug open tighten | table lamp | reading lamp | office lamp
        calculator | desk garage | open tighten | pocket calculator | calculating machine | adding machine
        envelope | desk living | open cut | letter envelope | paper envelope | mailing envelope
        """,
    )
    + _kinds(
        "bath",
        """
        toothbrush | bathroom bedroom | cut | tooth brush | dental brush | brush for teeth
        hairbrush | bathroom bedroom | cut | hair brush | brush for hair | paddle brush
        towel | bathroom garden | cut open | bath towel | hand towel | cotton towel
        soap bar | bathroom kitchen | cut open | bar of soap | piece of soap | cake of soap
        hair dryer | bathroom bedroom | plug open tighten | blow dryer | hair blower | hairdryer
        toilet roll | bathroom living | cut open | toilet paper | loo roll | roll of toilet paper
        razor | bathroom bedroom | open tighten | shaving razor | shaver | safety razor
        mirror | bathroom bedroom | tighten open | hand mirror | looking glass | round mirror
        """,
    )
    + _kinds(
        "outdoors",
        """
        flower pot | garden living | tip | plant pot | terracotta pot | clay planter
        trowel | garden shed | tighten | garden trowel | planting trowel | hand spade
        rake | garden shed | tighten | garden rake | leaf rake | small rake
        pruning shears | garden shed | open tighten | secateurs | garden clippers | hand pruners
        garden glove | garden shed | cut open | work glove | gardening glove | protective glove
        sponge | kitchen bathroom | cut | cleaning sponge | washing sponge | scrubbing sponge
        ball | garden living | cut open | play ball | rubber ball | striped ball
        bicycle pump | garage shed | tighten open | bike pump | tyre pump | air pump
        """,
    )
)

_BY_ID = {found.kind_id: found for found in KINDS}


def kind(kind_id: str) -> Kind:
    """Raises `KeyError` for a kind the world does not have."""
    return _BY_ID[kind_id]
