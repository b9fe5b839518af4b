"""Whether public bytes say which candidate is right.

Two answers. The *proof*: with another private seed, every truth may change and no public byte does. The *attack*: three
learners are given the truth of seven eighths of the cells, with all that is public of all families, and guess the rest.
They must do no better than chance, and no worse.

Cells are dealt to the eight parts whole. Inside a cell, ranks are balanced by design, so that whoever is told some of
its truths can guess the others by elimination; that is why a cell is exposed as a whole or not at all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import beta

from leakscale.models import Ring
from leakscale_server.catalog_audit.attackers import ATTACKERS, Indices
from leakscale_server.catalog_audit.features import PublicFamily, read_features
from leakscale_server.catalog_audit.findings import Finding, counted, find
from leakscale_server.catalog_audit.material import Material
from leakscale_server.core.building.construction import Construction
from leakscale_server.core.format.candidates import CANDIDATE_COUNT

__all__ = ["Accuracy", "attack", "check_secrecy", "check_separation", "publish"]

CONFIDENCE: Final = 0.999
"""Of each interval: an honest edition is accused in at most 3 of 1,000 audits. With 2,048 families, an attacker is
noticed that is right in 29 % of them."""
INDEPENDENT_SHARE: Final = 3 / 4
"""Truths of a group of four families are a permutation. Guesses that are one, too, are right in one of the four on
average with variance 1, where four independent ones have 3/4: four families weigh as much as three."""
PARTS: Final = 8
_SEED_MASKS: Final = range(0xFF, 0xF7, -1)
"""What is put over the private seed to have others. All of them leave a cell as it is once in 24 ** 8."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often an attacker was right about families that it had not seen."""

    attacker: str
    correct_count: int
    family_count: int

    @property
    def share(self) -> float:
        """Return the share of families, 0 to 1."""
        return self.correct_count / self.family_count

    @property
    def interval(self) -> tuple[float, float]:
        """Return the binomial interval of the share at `CONFIDENCE`, for as many families as weigh independently.

        Source: Clopper and Pearson's bounds; counts may be fractions in them.
        """
        tail = (1 - CONFIDENCE) / 2
        right = INDEPENDENT_SHARE * self.correct_count
        wrong = INDEPENDENT_SHARE * (self.family_count - self.correct_count)
        low = float(beta.ppf(tail, right, wrong + 1)) if right else 0.0
        high = float(beta.ppf(1 - tail, right + 1, wrong)) if wrong else 1.0
        return low, high

    @property
    def is_chance(self) -> bool:
        """Return whether the interval holds one in four."""
        low, high = self.interval
        return low <= 1 / CANDIDATE_COUNT <= high

    def __str__(self) -> str:
        low, high = (100 * bound for bound in self.interval)
        return f"{self.attacker} {100 * self.share:.1f} % ({low:.1f} to {high:.1f})"


def check_secrecy(material: Material, families: Sequence[PublicFamily]) -> Finding:
    """Check that no attacker recovers the truth from what is published.

    Args:
        families: As published, in the order of the material's families.
    """
    truths = np.array([family.truth for family in material.families], dtype=np.int64)
    accuracies = attack(families, truths)
    checked = f"{len(families):,} families, {', '.join(map(str, accuracies))}"
    faults = (
        f"the attacker {each}: its {100 * CONFIDENCE:g} % interval does not hold 25 %; something public tells the truth"
        for each in accuracies
        if not each.is_chance
    )
    return find("secrecy", checked, faults)


def attack(families: Sequence[PublicFamily], truths: Indices) -> list[Accuracy]:
    """Let every attacker guess each family once, from families of other cells.

    Args:
        truths: Display index of the correct candidate of each family.

    Raises:
        ValueError: If there are fewer than two cells: nothing could be learnt from.
    """
    cells = sorted({family.cell for family in families})
    if len(cells) < 2:
        raise ValueError(f"an attacker needs families of two cells; there are {len(cells)}")
    parts = np.array([cells.index(family.cell) % PARTS for family in families])
    rows = read_features(families)
    found = []
    for name, attacker in ATTACKERS.items():
        guesses = np.empty_like(truths)
        for part in sorted(set(parts.tolist())):
            asked, known = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
            guesses[asked] = attacker(rows, truths, known, asked)
        found.append(Accuracy(name, int((guesses == truths).sum()), len(families)))
    return found


def check_separation(material: Material) -> Finding:
    """Check that under other private seeds no public byte changes, and in every cell some truth does.

    One seed in 24 leaves the truths of a cell of four families as they are, by chance; so cells in which no truth has
    changed are built under further seeds before they are complained about.
    """
    recipe = material.recipe
    waiting = dict(material.cells())
    moved: set[str] = set()

    def faults() -> Iterator[str]:
        for mask in _SEED_MASKS:
            other = dataclasses.replace(recipe, private_seed=bytes(byte ^ mask for byte in recipe.private_seed))
            for cell, families in list(waiting.items()):
                pairs = [(family, other.build(family.slot)) for family in families]
                yield from _public_differences(pairs)
                changed = {family.family_id for family, rebuilt in pairs if family.truth != rebuilt.truth}
                moved.update(changed)
                if changed:
                    del waiting[cell]
        yield from (f"no truth of {cell} changes under {len(_SEED_MASKS)} other private seeds" for cell in waiting)

    found = find("separation", "", faults())
    tasks, families = (
        f"{3 * len(material.families):,} public tasks",
        counted(len(material.families), "family", "families"),
    )
    checked = f"{tasks} hang on no private seed; which candidate is right does in {len(moved):,} of {families}"
    return dataclasses.replace(found, checked=checked)


def _public_differences(pairs: Sequence[tuple[Construction, Construction]]) -> Iterator[str]:
    for family, rebuilt in pairs:
        for form, again in zip(family.forms, rebuilt.forms, strict=True):
            if form.public != again.public:
                yield f"{form.public.family_id} in {form.public.ring} is another one with another private seed"


def publish(material: Material) -> list[PublicFamily]:
    """Return what would be published of a recipe's families."""
    names = sorted(family.family_id for family in material.families)
    places = {name: place for place, name in enumerate(names)}
    return [
        PublicFamily(
            rings=[family.form(ring).public for ring in Ring],
            condition=family.slot.condition.value,
            ordinal=family.slot.ordinal,
            place=places[family.family_id],
        )
        for family in material.families
    ]
