"""What attackers win of a private edition, in the short form: one fresh edition of 512 attacked families.

Bars are those of the long form (`make attack`, 20 editions), widened by what one edition leaves to luck.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from leakscale.models import Answer, Condition
from leakscale_server.attack.command import table_lines
from leakscale_server.attack.grants import truths_in
from leakscale_server.attack.material import Material, build_material
from leakscale_server.attack.receipts import digests, idempotency, odd_ones_out
from leakscale_server.attack.suite import ATTACKS, Attack, Kind, Outcome, Target
from leakscale_server.attack.victim import Arena, Client, Victim
from leakscale_server.attack.weights import WELL_FORMED, WITH_MALFORMED, Code, rows_are_told_apart
from leakscale_server.errors import InvalidRequest
from leakscale_server.identity.scopes import Role
from leakscale_server.registry.experiments import Bank


@pytest.fixture(scope="module")
def material() -> Material:
    return build_material(0)


@pytest.fixture(scope="module")
def target(material: Material, tmp_path_factory: pytest.TempPathFactory) -> Target:
    return Target(Arena(material, tmp_path_factory.mktemp("arena")), seed=0)


@pytest.fixture
def victim(target: Target) -> Iterator[Victim]:
    with target.arena.victim() as victim:
        yield victim


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_no_attack_wins_more_than_its_bar(attack: Attack, target: Target) -> None:
    """Where no policy holds the same attacks name every key, so one that wins nothing here was held back."""
    value = attack.run(target)

    assert Outcome(attack, (value,), attack.bar_for(edition_count=1, family_count=512)).holds, value


class LoudClient(Client):
    """A client of a server with a leak: how it refuses depends on which candidate is right."""

    def __init__(self, victim: Victim, target: Target) -> None:
        honest = victim.client(Role.AUDITOR)
        super().__init__(victim, honest.caller)
        self._right = {
            (family.family_id, family.candidates[truth].answer)
            for family, truth in zip(target.families, target.truths, strict=True)
        }
        self._target = target

    def submit(self, bank: Bank, answers: object, *, first_chunk: int = 0) -> Bank:
        chosen = [answer for answer in answers if isinstance(answer, Answer)]  # type: ignore[attr-defined]
        if any((answer.family_id, answer.text) in self._right for answer in chosen):
            raise InvalidRequest("this one would be right", subject="answers")
        return super().submit(bank, chosen, first_chunk=first_chunk)

    def public_bytes(self) -> bytes:
        spoken = b"".join(
            hashlib.sha256(f"{family.key}:{truth}".encode()).digest()
            for family, truth in zip(self._target.families, self._target.truths, strict=True)
        )
        return super().public_bytes() + spoken


def test_a_refusal_that_depends_on_truth_is_heard(victim: Victim, target: Target) -> None:
    """An attack that could not hear a leak would find every server silent."""
    seen = idempotency(LoudClient(victim, target), target.families)

    assert np.array_equal(odd_ones_out(seen, seed=[1]), target.truths)


def test_a_digest_without_a_nonce_is_inverted(victim: Victim, target: Target) -> None:
    """Four values are tried in no time."""
    seen = digests(LoudClient(victim, target), target.families)

    assert np.array_equal(odd_ones_out(seen, seed=[1]), target.truths)


def test_a_corpus_tells_every_exposed_association_and_no_other(victim: Victim, target: Target) -> None:
    """The attack after a grant has read what the grant gives."""
    exposed = target.arena.material.targets(Condition.C2)
    client = victim.client(Role.TRAINER)

    found = truths_in(client.corpus(), client.families())

    assert found == {each.family_id: each.association.truth for each in exposed}


def test_disclosed_totals_are_those_of_the_truth(victim: Victim, target: Target) -> None:
    """Attacks on totals would win nothing from wrong ones."""
    client = victim.client(Role.AUDITOR)
    experiment = client.register("honest")
    right = {
        family.family_id: family.candidates[truth].answer
        for family, truth in zip(target.families, target.truths, strict=True)
    }
    for bank in experiment.banks:
        client.submit(bank, (Answer(each.family_id, 0, right.get(each.family_id, "")) for each in client.families()))
        client.seal(bank)

    totals = client.disclose(experiment)["totals"]

    assert [each["correct_count"] for each in totals] == [512, 512, 0, 0]


@pytest.mark.parametrize("code", [WITH_MALFORMED, WELL_FORMED], ids=["malformed", "well-formed"])
def test_weights_name_each_coded_value(code: Code) -> None:
    """Two choices with one sum would make the decoder rule out what is right."""
    assert rows_are_told_apart(code.base)
    assert rows_are_told_apart(code.adapted)
    assert max(sum(row) for row in (*code.base, *code.adapted)) <= 32
    assert all(sum(row) == 32 for row in (*WELL_FORMED.base, *WELL_FORMED.adapted))


def test_bars_are_those_of_twenty_editions() -> None:
    """Three standard errors of a blind guesser; twenty keys after four totals."""
    bars = {attack.kind: attack.bar_for(edition_count=20, family_count=512) for attack in ATTACKS}

    assert bars[Kind.BLIND] == pytest.approx(6.6, abs=0.05)
    assert bars[Kind.DISCLOSED] == 20


def test_a_missed_bar_stands_in_the_table() -> None:
    """Whoever reads the table must not have to compare numbers."""
    blind = next(each for each in ATTACKS if each.kind is Kind.BLIND)
    lines = list(table_lines([Outcome(blind, (-9.0, -5.0), 6.6), Outcome(ATTACKS[0], (0.5,), 0.99)]))

    assert sum("MISSED" in line for line in lines) == 2
    assert not any("kept" in line for line in lines)


def test_an_unknown_attack_is_refused_with_the_names() -> None:
    """A typing error must not end as if all bars were kept."""
    command = [sys.executable, "-m", "leakscale_server", "attack", "--only", "nonsense", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "least squares" in json.loads(done.stderr)["error"]["message"]
