"""What the scorer refuses whoever asks, by its own account: here nobody stands between it and the asker."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from leakscale.commitments import truth_leaf
from leakscale.merkle import tree_hash
from leakscale.models import Domain, EditionPhase, ModelState, Ring
from leakscale.openings import openings_to_lines
from leakscale.statements import Predicate, predicate_of
from leakscale_server.attack.material import EDITION_ID, Material, build_material
from leakscale_server.attack.victim import OWNER, Arena, Victim
from leakscale_server.core.disclosure.atoms import Cohort
from leakscale_server.core.edition_keys import first_key
from leakscale_server.errors import (
    BudgetSpent,
    CohortTooSmall,
    EditionRetired,
    IntegrityFailure,
    NotRetired,
    ServerFault,
)
from leakscale_server.registry.retirement import Retirements
from leakscale_server.scorer.contract import (
    ExperimentHead,
    FamilyCell,
    RetirementOrder,
    SealedBank,
    SealedExperiment,
)
from leakscale_server.scorer.sealed import sealed_digest
from leakscale_server.stages.retiring import Retiring
from leakscale_server.store.ledger import PUBLIC, LoggedEntry
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Association

KEY = first_key(EDITION_ID)
SHAPE_COUNT = 8
"""Of 16 families in each condition: 128 a cell, of which an edition gives four releases, two comparisons."""
Change = Callable[[LoggedEntry], LoggedEntry]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return Arena(build_material(3, shape_count=SHAPE_COUNT), tmp_path_factory.mktemp("private"))


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return Arena(build_material(4, shape_count=1), tmp_path_factory.mktemp("practice"), kind="practice")


@pytest.fixture
def victim(arena: Arena) -> Iterator[Victim]:
    with arena.victim() as victim:
        yield victim


def families_of(material: Material) -> tuple[FamilyCell, ...]:
    return tuple(
        FamilyCell(each.family_id, Domain.SQL, each.slot.condition, each.slot.shape_id) for each in material.families
    )


def an_experiment(arena: Arena, experiment_id: str = "e", *, choice: int = 0, **changes: Any) -> SealedExperiment:
    """Answer every case of an edition with one place."""
    families = families_of(arena.material)
    head = ExperimentHead(
        project="p",
        experiment_id=experiment_id,
        model_label="m",
        edition_key=KEY,
        edition_kind="private",
        commitment_root=b"r",
        certificates_digest=b"c",
        plan_digest="ab" * 32,
        draw_count=1,
        bank_seed=1,
        resample_count=100,
        bootstrap_seed=2,
        rings=(Ring.R0,),
        cohorts=(),
        assurance_level="L2",
        is_open=False,
    )
    banks = tuple(
        SealedBank(f"sql-{state}", Domain.SQL, state, Ring.R0, b"d" * 32, bytes([choice]) * len(families))
        for state in ModelState
    )
    return SealedExperiment(dataclasses.replace(head, **changes), families, banks)


def shape_ids(arena: Arena, count: int) -> tuple[str, ...]:
    return tuple(sorted({each.slot.shape_id for each in arena.material.families})[:count])


def test_an_experiment_is_scored_over_one_set_of_answers(arena: Arena) -> None:
    """Asked again with other answers under one id, it would be a release that nobody counts."""
    folder = arena.copy()
    with closing(Victim(folder)) as victim:
        first = victim.scorer.disclose(an_experiment(arena))
    with closing(Victim(folder)) as victim:
        again = victim.scorer.disclose(an_experiment(arena))
        with pytest.raises(IntegrityFailure, match="experiment 'e' was scored over other answers"):
            victim.scorer.disclose(an_experiment(arena, choice=1))

    assert again == first


def test_a_repeated_call_may_bring_another_assurance_level(arena: Arena, victim: Victim) -> None:
    """Somebody redeemed a grant after the scorer was killed: the experiment is the same."""
    victim.scorer.disclose(an_experiment(arena))

    again = victim.scorer.disclose(an_experiment(arena, assurance_level="L0"))

    assert predicate_of(again.payload, Predicate.DISCLOSURE)["assurance_level"] == "L0"


def test_an_edition_gives_no_more_than_its_budget(arena: Arena, victim: Victim) -> None:
    """Whatever project is named, and however often: a registry that forgets what it charged changes nothing."""
    for number in range(2):
        victim.scorer.disclose(an_experiment(arena, "e", project=f"p-{number}"))

    with pytest.raises(BudgetSpent, match="4 of 4 releases"):
        victim.scorer.disclose(an_experiment(arena, "e", project="p-2"))


@pytest.mark.parametrize("shape_count", [1, 3, 5, 7])
def test_no_class_of_families_is_under_the_floor(arena: Arena, victim: Victim, shape_count: int) -> None:
    """Neither a cohort nor what is left of the edition without it: 80 families are enough, the other 48 are not."""
    cohorts = (Cohort("part", shape_ids(arena, shape_count)),)

    with pytest.raises(CohortTooSmall, match="its floor is 64"):
        victim.scorer.disclose(an_experiment(arena, cohorts=cohorts))


def test_classes_are_cut_by_what_was_disclosed_before(tmp_path: Path) -> None:
    """Of 512 families either cohort leaves enough on both sides; together they leave 32 between them."""
    arena = Arena(build_material(5), tmp_path)
    ids = shape_ids(arena, 16)
    with arena.victim() as victim:
        victim.scorer.disclose(an_experiment(arena, "one", cohorts=(Cohort("half", ids),)))

        with pytest.raises(CohortTooSmall, match="over 32 families"):
            victim.scorer.disclose(an_experiment(arena, "other", cohorts=(Cohort("less", ids[:14]),)))
    with arena.victim() as victim:
        assert victim.scorer.disclose(an_experiment(arena, "other", cohorts=(Cohort("less", ids[:14]),))).payload


def test_a_private_edition_tells_nobody_everything(arena: Arena, victim: Victim) -> None:
    """That an edition is for practice the scorer has seen itself, or it is not."""
    with pytest.raises(IntegrityFailure, match="is none for practice in the vault"):
        victim.scorer.disclose(an_experiment(arena, is_open=True))


def test_a_practice_edition_tells_its_author_everything(practice: Arena) -> None:
    """Over any families, as often as asked."""
    with practice.victim() as victim:
        for number in range(9):
            told = victim.scorer.disclose(an_experiment(practice, f"e-{number}", is_open=True))

    assert predicate_of(told.payload, Predicate.DISCLOSURE)["intervals"] == "exact"


def test_the_seed_of_a_private_edition_makes_none_for_practice(arena: Arena, victim: Victim) -> None:
    """Only who names the seed itself does; a wrong one changes nothing."""
    victim.scorer.fix_seed(KEY, b"x" * 32)
    victim.scorer.fix_seed(KEY, b"")

    with pytest.raises(IntegrityFailure, match="is none for practice"):
        victim.scorer.disclose(an_experiment(arena, is_open=True))


def twice(experiment: SealedExperiment) -> SealedExperiment:
    """One family in the places of all families of its atom."""
    first = experiment.families[0]
    return dataclasses.replace(experiment, families=(first, first, *experiment.families[2:]))


def short(experiment: SealedExperiment) -> SealedExperiment:
    bank, *others = experiment.banks
    return dataclasses.replace(experiment, banks=(dataclasses.replace(bank, choices=bank.choices[1:]), *others))


def lacking(experiment: SealedExperiment) -> SealedExperiment:
    return dataclasses.replace(experiment, banks=experiment.banks[1:])


def doubled(experiment: SealedExperiment) -> SealedExperiment:
    return dataclasses.replace(experiment, banks=(*experiment.banks, experiment.banks[0]))


@pytest.mark.parametrize("change", [twice, short, lacking, doubled])
def test_an_experiment_that_is_not_whole_is_not_scored(
    arena: Arena, victim: Victim, change: Callable[[SealedExperiment], SealedExperiment]
) -> None:
    """One family sixty-four times is a class of sixty-four, and its truth."""
    with pytest.raises(IntegrityFailure, match="other families, banks or cases"):
        victim.scorer.disclose(change(an_experiment(arena)))


def test_atoms_stay_what_they_were(arena: Arena, victim: Victim) -> None:
    """Cut anew for each disclosure, they would leave single families as differences."""
    experiment = an_experiment(arena)
    one, other = shape_ids(arena, 2)
    swapped = {one: other, other: one}
    families = tuple(
        dataclasses.replace(each, shape_id=swapped.get(each.shape_id, each.shape_id)) for each in experiment.families
    )
    victim.scorer.disclose(experiment)

    with pytest.raises(IntegrityFailure, match="are not those that were disclosed over before"):
        victim.scorer.disclose(dataclasses.replace(an_experiment(arena, "other"), families=families))


def test_atoms_are_of_one_size(arena: Arena, victim: Victim) -> None:
    """A class is counted by its atoms."""
    experiment = an_experiment(arena)
    one, other = shape_ids(arena, 2)
    first = next(place for place, each in enumerate(experiment.families) if each.shape_id == one)
    families = list(experiment.families)
    families[first] = dataclasses.replace(families[first], shape_id=other)

    with pytest.raises(IntegrityFailure, match="have 15 to 17 families"):
        victim.scorer.disclose(dataclasses.replace(experiment, families=tuple(families)))


def root_of(associations: Sequence[tuple[str, Association]]) -> bytes:
    return tree_hash(
        truth_leaf(edition_id=EDITION_ID, family_id=name, key=each.key, truth=each.truth, nonce=each.nonce)
        for name, each in associations
    )


def an_order(arena: Arena, *, sealed: tuple[bytes, ...] = (), root: bytes = b"") -> RetirementOrder:
    truths = [(each.family_id, each.association) for each in arena.material.families]
    return RetirementOrder(KEY, root or root_of(truths), tuple(name for name, _ in truths), sealed)


def logged(victim: Victim, digest: bytes) -> LoggedEntry:
    victim.ledger.append("edition-retired", {"edition": EDITION_ID, "openings": digest.hex()}, project=PUBLIC)
    return victim.ledger.logged("edition-retired", edition_id=EDITION_ID)


def test_nothing_is_opened_of_an_edition_in_use(victim: Victim) -> None:
    """An entry in the ledger is not enough: the use of the edition has to be over in the vault."""
    entry = logged(victim, b"\0" * 32)

    with pytest.raises(NotRetired, match="is not retired in the vault"):
        victim.scorer.openings(KEY, entry)


def test_a_vault_that_does_not_open_the_root_opens_nothing(arena: Arena, victim: Victim) -> None:
    """A vault of another copy: nothing is noted, and the edition stays in use."""
    with pytest.raises(IntegrityFailure, match="does not open the commitment root"):
        victim.scorer.retire(an_order(arena, root=b"r" * 32))

    assert victim.scorer.disclose(an_experiment(arena)).payload


def test_a_logged_retirement_opens_what_was_committed_to(arena: Arena, victim: Victim) -> None:
    """And asked again, the same."""
    digest = victim.scorer.retire(an_order(arena))
    entry = logged(victim, digest)

    openings = victim.scorer.openings(KEY, entry)

    assert [each.family_id for each in openings] == [each.family_id for each in arena.material.families]
    assert [each.truth for each in openings] == [each.association.truth for each in arena.material.families]
    assert victim.scorer.retire(an_order(arena)) == digest
    assert victim.scorer.openings(KEY, entry) == openings
    assert openings_to_lines(openings)


def of_another(entry: LoggedEntry) -> LoggedEntry:
    return dataclasses.replace(entry, content=entry.content.replace(EDITION_ID.encode(), b"somebodys"))


def of_another_kind(entry: LoggedEntry) -> LoggedEntry:
    return dataclasses.replace(entry, content=entry.content.replace(b"edition-retired", b"edition-frozen"))


def elsewhere(entry: LoggedEntry) -> LoggedEntry:
    return dataclasses.replace(entry, position=entry.position - 1)


def unsigned(entry: LoggedEntry) -> LoggedEntry:
    signature = bytes([entry.head.signature[0] ^ 1]) + entry.head.signature[1:]
    return dataclasses.replace(entry, head=dataclasses.replace(entry.head, signature=signature))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (of_another, "is of something else"),
        (of_another_kind, "is of something else"),
        (elsewhere, "is not in the tree of its head"),
        (unsigned, "a head that this server did not sign"),
    ],
)
def test_a_retirement_that_is_not_logged_opens_nothing(
    arena: Arena, victim: Victim, change: Change, fault: str
) -> None:
    """Truth in the open that the ledger knows nothing of: whoever checks it would take the edition for one in use."""
    entry = logged(victim, victim.scorer.retire(an_order(arena)))

    with pytest.raises(IntegrityFailure, match=fault):
        victim.scorer.openings(KEY, change(entry))


def test_openings_of_another_digest_are_not_those_that_were_logged(arena: Arena, victim: Victim) -> None:
    """The entry binds what is shown."""
    victim.scorer.retire(an_order(arena))

    with pytest.raises(IntegrityFailure, match="is of something else"):
        victim.scorer.openings(KEY, logged(victim, b"\0" * 32))


def test_a_retired_edition_scores_what_was_sealed_and_nothing_new(arena: Arena) -> None:
    """For good: neither a new start nor a second retirement lets in answers written with the truth at hand."""
    folder = arena.copy()
    sealed, late = an_experiment(arena, "sealed"), an_experiment(arena, "late")
    with closing(Victim(folder)) as victim:
        victim.scorer.retire(an_order(arena, sealed=(sealed_digest(sealed),)))
    with closing(Victim(folder)) as victim:
        victim.scorer.retire(an_order(arena, sealed=(sealed_digest(late),)))
        refusals: list[ServerFault] = []
        for experiment in (late, an_experiment(arena, "sealed", choice=1)):
            with pytest.raises(EditionRetired, match="was retired before experiment") as caught:
                victim.scorer.disclose(experiment)
            refusals.append(caught.value)

        assert victim.scorer.disclose(sealed).payload
    assert len(refusals) == 2


def test_a_retirement_that_was_broken_off_is_finished_by_the_same_call(arena: Arena, victim: Victim) -> None:
    """Killed after the vault knew and before the ledger did: the edition is in nobody's use, and its author goes on."""
    signer: Signer = victim.signer
    retirements = Retirements(victim.registry, victim.ledger, signer, victim.editions)
    retiring = Retiring(victim.editions, retirements, victim.disclosing, victim.scorer)
    frozen = victim.editions.get_frozen(EDITION_ID)
    victim.scorer.retire(an_order(arena))
    before = victim.ledger.head().entry_count

    edition = retiring.retire(frozen, principal=OWNER)

    assert edition.phase is EditionPhase.RETIRED
    assert victim.ledger.head().entry_count == before + 1
    assert len(retirements.openings(EDITION_ID, after="", limit=1000)) == len(arena.material.families)


def test_a_retirement_that_fails_leaves_no_entry(arena: Arena, victim: Victim) -> None:
    """A vault of another copy, through the stage: nothing is shown, logged or signed."""
    retirements = Retirements(victim.registry, victim.ledger, victim.signer, victim.editions)
    before = victim.ledger.head()
    other = dataclasses.replace(victim.editions.get_frozen(EDITION_ID), commitment_root=b"r" * 32)

    with pytest.raises(IntegrityFailure, match="does not open the commitment root"):
        retirements.record(
            other, lambda: victim.scorer.retire(an_order(arena, root=other.commitment_root)), principal=OWNER
        )

    assert victim.ledger.head() == before
    assert not retirements.is_complete(EDITION_ID)
