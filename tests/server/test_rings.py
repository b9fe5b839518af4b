"""Experiments that ask every family in more forms than the leaked one, from the plan to the share that transfers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from leakscale.client import Client
from leakscale.errors import ConflictError, InvalidRequestError
from leakscale.models import Answer, Bank, Domain, Family, ModelState, Ring, TrainingRecord, TrainingSource
from leakscale.results import Disclosure, disclosure_from_json, disclosure_to_json
from leakscale_server.registry.experiments import ExperimentPlan as ServerPlan
from leakscale_server.registry.experiments import bank_id_of

from .helpers import DRAWS, World, a_plan

RINGS = (Ring.R0, Ring.R1, Ring.R2)


def leaked(corpus: list[TrainingRecord]) -> dict[str, str]:
    """Answers that the corpus teaches, by family id."""
    return {
        record.record_id.partition("/")[0]: record.completion
        for record in corpus
        if record.source is TrainingSource.EXACT_PUBLIC
    }


def answers_from(bank: Bank, families: tuple[Family, ...], taught: Mapping[str, str]) -> list[Answer]:
    """Answer as taught, and with the first candidate where nothing was."""
    return [
        Answer(family.family_id, draw, taught.get(family.family_id, family.candidates[0].answer))
        for family in families
        if family.domain is bank.domain
        for draw in range(DRAWS)
    ]


def disclosed(client: Client, world: World, experiment_id: str, known: Mapping[Ring, Mapping[str, str]]) -> Disclosure:
    """Carry an experiment out with an adapted model that knows these associations in these rings."""
    experiment = client.experiments.create(a_plan(world.edition, experiment_id, rings=tuple(known)))
    for bank in experiment.banks:
        families = client.editions.families(world.edition.name, ring=bank.ring)
        taught = known[bank.ring] if bank.state is ModelState.ADAPTED else {}
        client.banks.submit(bank.name, answers_from(bank, families, taught))
        client.banks.seal(bank.name)
    return client.experiments.disclose(experiment.name)


@pytest.fixture(scope="module")
def transfer(client: Client, world: World) -> Disclosure:
    """Six of eight associations are known in R0 and R1, and half of these in R2."""
    taught = sorted(leaked(world.corpus).items())[:6]
    known = {Ring.R0: dict(taught), Ring.R1: dict(taught), Ring.R2: dict(taught[::2])}
    return disclosed(client, world, "rings", known)


def test_every_ring_has_banks_of_its_own(client: Client, world: World) -> None:
    """A bank asks each family once, so that its seal says what was answered in which form."""
    experiment = client.experiments.create(a_plan(world.edition, "rings-banks", rings=(Ring.R0, Ring.R2)))

    names = [bank.name.rpartition("/")[2] for bank in experiment.banks]
    assert names[:4] == ["python-base", "python-adapted", "sql-base", "sql-adapted"]
    assert names[4:] == [f"{name}-r2" for name in names[:4]]
    assert [bank.ring for bank in experiment.banks] == [Ring.R0] * 4 + [Ring.R2] * 4
    assert {bank.case_count for bank in experiment.banks} == {8 * DRAWS}
    assert experiment.plan.rings == (Ring.R0, Ring.R2)


def test_a_plan_keeps_its_digest_and_its_banks_their_names(world: World) -> None:
    """Ledger and disclosures name a plan by its digest, so the same plan must have the same one in every version."""
    plan = ServerPlan("a", "b", "c", 1, 2, 3, 4)

    assert plan.digest() == "7681a17377341653dcbdfd7cd20ce0549c3b7a9707cdea385ebeb796780090f6"
    assert dataclasses.replace(plan, rings=RINGS).digest() != plan.digest()
    assert bank_id_of(Domain.SQL, ModelState.BASE, Ring.R0) == "sql-base"
    assert "transfers" not in world.disclosure.numbers
    assert world.disclosure.transfers == ()


@pytest.mark.parametrize(
    "rings", [(Ring.R1,), (Ring.R1, Ring.R0), (Ring.R0, Ring.R0), (Ring.R0, Ring.R2, Ring.R1)], ids=str
)
def test_rings_are_named_once_in_order_with_the_leaked_one(
    client: Client, world: World, rings: tuple[Ring, ...]
) -> None:
    """A share of nothing is none: without R0 there is no effect that could transfer."""
    with pytest.raises(InvalidRequestError, match="name each once and in order, R0 first"):
        client.experiments.create(a_plan(world.edition, "refused", rings=rings))


def test_other_rings_make_another_plan(client: Client, world: World) -> None:
    """What is asked is fixed before the first answer."""
    plan = a_plan(world.edition, "rings-fixed", rings=RINGS)
    assert client.experiments.create(plan) == client.experiments.create(plan)

    with pytest.raises(ConflictError, match="another plan"):
        client.experiments.create(dataclasses.replace(plan, rings=(Ring.R0,)))


def test_each_ring_is_scored_from_its_own_banks(transfer: Disclosure) -> None:
    """The integer totals of a ring come from the answers that were given to that form, over the same families."""
    correct = {
        ring: sum(total.correct_count for total in totals if (total.condition, total.state) == ("C2", "adapted"))
        for ring, totals in [(Ring.R0, transfer.totals), *((each.ring, each.totals) for each in transfer.transfers)]
    }

    assert list(correct) == [Ring.R0, Ring.R1, Ring.R2]
    assert correct[Ring.R1] == correct[Ring.R0] >= 6 * DRAWS
    assert 3 * DRAWS <= correct[Ring.R2] < correct[Ring.R1]
    assert transfer.transfers[0].totals == transfer.totals


def test_the_share_says_what_of_the_effect_transfers(transfer: Disclosure) -> None:
    """The same answers carry all of the effect; fewer associations carry their part, with the set that goes with it."""
    reworded, renamed = transfer.transfers

    assert reworded.effects == transfer.effects
    assert reworded.shares[0].value == 1
    assert [share.domain for share in renamed.shares] == [effect.domain for effect in transfer.effects]
    assert renamed.shares[0].value == pytest.approx(renamed.effects[0].effect.value / transfer.effects[0].effect.value)
    assert renamed.shares[0].shape is not None
    assert renamed.shares[0].reason is None


def test_a_share_is_withheld_by_its_rule_and_says_so(client: Client, world: World) -> None:
    """Exposed families at the ceiling in R0 hide how large the effect is, so that a share of it would be too large."""
    taught = leaked(world.corpus)
    share = disclosed(client, world, "ceiling", {Ring.R0: taught, Ring.R1: {}}).transfers[0].shares[0]

    assert (share.value, share.shape, share.low, share.high) == (None, None, None, None)
    assert "ceiling" in (share.reason or "")


def test_rings_survive_the_file_of_the_disclosure(transfer: Disclosure) -> None:
    """Whoever reads a study directory reads what the server signed."""
    assert disclosure_from_json(disclosure_to_json(transfer)) == transfer
