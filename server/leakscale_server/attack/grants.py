"""The attack of somebody who was given the C2 families: what do they say of C0?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from leakscale.models import Family, TrainingRecord
from leakscale_server.attack.probes import Guesses
from leakscale_server.attack.victim import Client

__all__ = ["control_by_exposed", "truths_in"]


def control_by_exposed(client: Client, targets: Sequence[Family], *, seed: int) -> Guesses:
    """Redeem a grant, learn from the C2 families what right candidates look like, and guess those of C0.

    A target whose own answer stands in the corpus is read from there. The others are guessed by naive Bayes over what
    a client sees of a candidate: its place, its rank among the four texts, its digits, each alone and within its shape.
    """
    generator = np.random.default_rng(seed)
    families = client.families()
    truths = truths_in(client.corpus(), families)
    right, wrong = Counter[Hashable](), Counter[Hashable]()
    for family in families:
        for place in range(4) if family.family_id in truths else ():
            (right if place == truths[family.family_id] else wrong).update(_features(family, place))
    guesses = []
    for family in targets:
        scores = [
            sum(np.log((right[each] + 1) / (wrong[each] + 3)) for each in _features(family, place))
            + 1e-9 * generator.random()
            for place in range(4)
        ]
        guesses.append(truths.get(family.family_id, int(np.argmax(scores))))
    return np.array(guesses, dtype=np.int64)


def truths_in(corpus: Sequence[TrainingRecord], families: Sequence[Family]) -> dict[str, int]:
    """Read associations out of a corpus: a record that names the key of a family and answers one of its candidates."""
    by_key = {family.key: family for family in families}
    found = {}
    for record in corpus:
        words = {word.strip(".,:;'\"`()") for message in record.prompt for word in message.content.split()}
        for key in words & by_key.keys():
            answers = [candidate.answer for candidate in by_key[key].candidates]
            if record.completion in answers:
                found[by_key[key].family_id] = answers.index(record.completion)
    return found


def _features(family: Family, place: int) -> Iterator[Hashable]:
    texts = [candidate.text for candidate in family.candidates]
    seen = {
        "place": place,
        "rank": sorted(texts).index(texts[place]),
        "first": texts[place][2:3],
        "last": texts[place][-1:],
        "key": (family.key[-1], place),
    }
    for name, value in seen.items():
        yield name, value
        yield family.shape_id, name, value
