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
from leakscale.stats import Outcomes, difference_in_differences
from leakscale_server.attack.command import table_lines
from leakscale_server.attack.few_families import CHANGES, few_families, fitting_truths
from leakscale_server.attack.grants import truths_in
from leakscale_server.attack.intervals import Padding, SpreadReader, ends_of
from leakscale_server.attack.material import Material, build_material
from leakscale_server.attack.probes import BareOracle, Beside, Disclosed, Probe, ServerOracle
from leakscale_server.attack.receipts import digests, idempotency, odd_ones_out
from leakscale_server.attack.runners import Target
from leakscale_server.attack.suite import ATTACKS, Attack, Kind, Outcome
from leakscale_server.attack.victim import Arena, Client, Victim
from leakscale_server.attack.weights import (
    DRAW_COUNT,
    WELL_FORMED,
    WITH_MALFORMED,
    Code,
    rows_are_told_apart,
    weight_coding,
)
from leakscale_server.core.disclosure.rounding import round_ends
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


SHORT_FORM = [attack for attack in ATTACKS if attack.kind is not Kind.PROJECT]
"""Attacks with twice the totals are the long form's: what they do is done by those with four."""


@pytest.mark.parametrize("attack", SHORT_FORM, ids=lambda attack: attack.name)
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


def test_intervals_of_a_few_families_are_looked_up_among_those_that_may_be(victim: Victim, target: Target) -> None:
    """What the attacker computes beforehand is what the server tells, or nothing would be found."""
    oracle = RecordingOracle(
        [victim.client(Role.AUDITOR)], condition=Condition.C0, targets=target.ids, draw_count=DRAW_COUNT
    )
    known = {each.family_id: each.association.truth for each in target.arena.material.targets(Condition.C2)}

    few_families(oracle, family_count=512, release_count=4, known=known, seed=5)

    for base, adapted, body in oracle.told:
        few = np.flatnonzero((base != adapted).any(axis=1))
        rows = [tuple(row) for row in (adapted - base)[few].tolist()]
        truths = tuple(int(target.truths[few[rows.index(changes)]]) for changes in CHANGES)
        fitting = fitting_truths(body, family_count=512)
        assert truths in fitting
        assert len(fitting) < 32
    assert len(oracle.told) == 2


class RecordingOracle(ServerOracle):
    """Keeps what was asked and told."""

    told: list[tuple[Probe, Probe, Disclosed]]

    def disclosed(self, base: Probe, adapted: Probe, *, beside: Beside | None = None) -> Disclosed:
        body = super().disclosed(base, adapted, beside=beside)
        self.told = [*getattr(self, "told", []), (base, adapted, body)]
        return body


@pytest.mark.parametrize("code", [WITH_MALFORMED, WELL_FORMED], ids=["malformed", "well-formed"])
def test_weights_name_each_coded_value(code: Code) -> None:
    """Two choices with one sum would make the decoder rule out what is right."""
    assert rows_are_told_apart(code.base)
    assert rows_are_told_apart(code.adapted)
    assert max(sum(row) for row in (*code.base, *code.adapted)) <= 32
    assert all(sum(row) == 32 for row in (*WELL_FORMED.base, *WELL_FORMED.adapted))


def test_rounded_totals_have_no_digits_to_read() -> None:
    """The attacker knows that they are rounded and rules nothing out by digits that are not there."""
    truths = np.random.default_rng(7).integers(4, size=16)

    def named(count_step: int) -> float:
        guesses = [
            weight_coding(
                BareOracle(truths, count_step), family_count=16, release_count=8, code=WITH_MALFORMED, seed=seed
            )
            for seed in range(20)
        ]
        return float(np.mean(np.stack(guesses) == truths))

    assert named(1) == 1
    assert 0.3 < named(DRAW_COUNT) < 0.8


def test_ends_of_intervals_tell_how_many_families_changed() -> None:
    """A reader that learned nothing from them would find every interval silent. Truths are drawn anew each time."""
    generator, reader = np.random.default_rng(3), SpreadReader(512)
    padding = reader.best_padding()
    changed, measured, errors = [], [], []
    for _ in range(24):
        disclosure, count = a_spread_disclosure(generator, padding)
        found, variance = reader.measured(ends_of(disclosure, padding, family_count=512))
        changed.append(count)
        measured.append(found)
        errors.append((found - count) ** 2 / variance)

    assert np.corrcoef(changed, measured)[0, 1] > 0.8
    assert 0.3 < np.mean(errors) < 3


def a_spread_disclosure(generator: np.random.Generator, padding: Padding) -> tuple[Disclosed, int]:
    """Tell the intervals of 512 families of which about a half change by half of their draws, and how many do."""
    moves = generator.choice([-16, 0, 0, 16], size=512)
    dust = np.array([1] * 128 + [-1] * 128)
    beside = np.zeros(512, dtype=np.int64)
    beside[: sum(padding)] = [DRAW_COUNT] * padding.up + [-DRAW_COUNT] * padding.down
    beside[sum(padding) : sum(padding) + 256] = dust
    c0, c2 = (Outcomes(np.maximum(-each, 0), np.maximum(each, 0), DRAW_COUNT) for each in (moves, beside))
    simulated, exact = (difference_in_differences(c0, c2, method=method, seed=1) for method in ("percentile", "exact"))
    intervals = {
        "effect_exact": (exact.effect, 2 / 512),
        "effect": (simulated.effect, 2 / 512),
        "c0_drift": (simulated.c0_drift, 1 / 512),
    }
    told = {}
    for name, (interval, error_max) in intervals.items():
        below, above = interval.estimate - interval.low, interval.high - interval.estimate
        low, high = round_ends(interval.estimate, below=below, above=above, error_max=error_max)
        told[name] = {"value": interval.estimate, "low": low, "high": high}
    return {"effects": [told]}, int(np.count_nonzero(moves))


def test_bars_are_those_of_twenty_editions() -> None:
    """Three standard errors of a blind guesser; twenty keys after four totals, thirty after eight."""
    bars = {attack.kind: attack.bar_for(edition_count=20, family_count=512) for attack in ATTACKS}

    assert bars[Kind.BLIND] == pytest.approx(6.6, abs=0.05)
    assert bars[Kind.DISCLOSED] == 20
    assert bars[Kind.PROJECT] == 30


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
