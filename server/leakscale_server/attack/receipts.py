"""Attacks that live on what is answered before anything is disclosed.

An *observation* is everything that came back for one candidate of one family. Where one candidate of four was answered
as no other was, it is the guess; otherwise the guess is a die of four sides.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from typing import Any, Final

import numpy as np

from leakscale.commitments import truth_leaf
from leakscale.digests import canonical_json
from leakscale.models import Answer, Family
from leakscale_server.attack.material import EDITION_ID
from leakscale_server.attack.probes import MALFORMED, Guesses
from leakscale_server.attack.victim import Client
from leakscale_server.errors import ServerFault
from leakscale_server.registry.experiments import Bank

__all__ = ["Observations", "digests", "idempotency", "odd_ones_out", "receipts", "replay"]

Observations = Sequence[Sequence[Hashable]]
"""Of each family, of each of its four candidates."""

_PLACES: Final = range(4)
_DIGEST_BYTES: Final = 32
_HEXADECIMAL: Final = re.compile(rb"[0-9a-f]{64}")


def odd_ones_out(observations: Observations, *, seed: Sequence[int]) -> Guesses:
    """Guess the candidate of each family that was answered as no other was.

    Args:
        observations: What was seen.
        seed: Of the die.
    """
    generator = np.random.default_rng(seed)
    guesses = []
    for four in observations:
        counts = Counter(four)
        single = [place for place in _PLACES if counts[four[place]] == 1]
        guesses.append(single[0] if len(single) == 1 else int(generator.integers(len(_PLACES))))
    return np.array(guesses, dtype=np.int64)


def receipts(client: Client, targets: Sequence[Family]) -> Observations:
    """Answer every family with each candidate, in four banks, one chunk a family, and seal: what comes back?"""
    banks = [bank for number in range(2) for bank in client.register(f"receipts-{number}").banks]
    columns = [_answered_one_by_one(client, bank, targets, place) for place, bank in zip(_PLACES, banks, strict=True)]
    return list(zip(*columns, strict=True))


def idempotency(client: Client, targets: Sequence[Family]) -> Observations:
    """Send each candidate under the number of a chunk that holds something else: how is it refused?"""
    bank = client.register("idempotency").banks[0]
    for number, family in enumerate(targets):
        client.submit(bank, [Answer(family.family_id, 0, MALFORMED)], first_chunk=number)
    return [
        [_submitted(client, bank, family, place, number) for place in _PLACES] for number, family in enumerate(targets)
    ]


def replay(client: Client, targets: Sequence[Family]) -> Observations:
    """Send each candidate to a bank that is sealed, and seal it again: how is it refused?"""
    bank = client.register("replay").banks[0]
    client.submit(bank, (Answer(family.family_id, 0, MALFORMED) for family in client.families()))
    client.seal(bank)
    return [
        [
            (_submitted(client, bank, family, place, 2**19), _outcome(lambda: client.seal(bank, request_id="again")))
            for place in _PLACES
        ]
        for family in targets
    ]


def digests(client: Client, targets: Sequence[Family]) -> Observations:
    """Look in everything public for a digest that the four possible truths of a family give without a nonce."""
    public = client.public_bytes() + b"\n".join(map(canonical_json, client.certificates().values()))
    guessed = {each for family in targets for place in _PLACES for each in _guessed(family, place)}
    found = _digests_in(public, guessed)
    return [[not found.isdisjoint(_guessed(family, place)) for place in _PLACES] for family in targets]


def _answered_one_by_one(client: Client, bank: Bank, targets: Sequence[Family], place: int) -> list[Hashable]:
    answered = [_submitted(client, bank, family, place, number) for number, family in enumerate(targets)]
    taken = {family.family_id for family in targets}
    others = (Answer(each.family_id, 0, MALFORMED) for each in client.families() if each.family_id not in taken)
    client.submit(bank, others, first_chunk=len(targets))
    receipt = client.seal(bank)
    sealed = (receipt.bank.phase, receipt.bank.answered_count, len(receipt.answers_digest))
    listed = {chunk.number: chunk.answer_count for chunk in client.chunks(bank)}
    return [(each, sealed, listed.get(number)) for number, each in enumerate(answered)]


def _submitted(client: Client, bank: Bank, family: Family, place: int, number: int) -> Hashable:
    answer = Answer(family.family_id, 0, family.candidates[place].answer)
    return _outcome(lambda: client.submit(bank, [answer], first_chunk=number))


def _outcome(act: Callable[[], Any]) -> Hashable:
    """Return what a caller sees of an act: a refusal with its words, or the state of the bank."""
    try:
        found = act()
    except ServerFault as fault:
        return type(fault).__name__, str(fault)
    return (found.phase, found.case_count, found.answered_count) if isinstance(found, Bank) else repr(found)


def _guessed(family: Family, truth: int) -> Iterator[bytes]:
    """Make the digests that somebody careless might publish of an association."""
    answer, text = family.candidates[truth].answer, family.candidates[truth].text
    bodies: list[Mapping[str, str | int]] = [
        {"edition": EDITION_ID, "family": family.family_id, "key": family.key, "truth": truth},
        {"family": family.family_id, "truth": truth},
        {"key": family.key, "truth": truth},
        {"key": family.key, "answer": answer},
        {"family": family.family_id, "answer": answer},
    ]
    texts = [canonical_json(body) for body in bodies]
    names = (family.family_id, family.key)
    texts += [f"{name}{between}{value}".encode() for name, between, value in _spellings(names, (truth, answer, text))]
    for content in texts:
        yield hashlib.sha256(content).digest()
    for nonce in (b"", b"\x00" * 32, family.family_id.encode(), family.key.encode()):
        yield truth_leaf(edition_id=EDITION_ID, family_id=family.family_id, key=family.key, truth=truth, nonce=nonce)


def _spellings(names: Sequence[str], values: Sequence[str | int]) -> Iterator[tuple[str, str, str | int]]:
    yield from itertools.product(names, ("", ":", "/", "|", "\x00"), values)


def _digests_in(public: bytes, guessed: Set[bytes]) -> Set[bytes]:
    """Return the digests that stand in public bytes, raw or in hex."""
    hexadecimal = (bytes.fromhex(each.decode()) for each in _HEXADECIMAL.findall(public))
    raw = (public[start : start + _DIGEST_BYTES] for start in range(len(public)))
    return {each for each in itertools.chain(hexadecimal, raw) if each in guessed}
