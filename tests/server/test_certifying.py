"""Certification over the wire and the freeze: the first time, every time after, and what is public then."""

from __future__ import annotations

import pytest

from leakscale.client import Client
from leakscale.commitments import public_digest
from leakscale.errors import (
    InvalidRequestError,
    LeakScaleError,
    NotCertifiedError,
    NotFoundError,
)
from leakscale.models import (
    CertificationRequest,
    Condition,
    Family,
    Ring,
    TrainingSource,
)
from leakscale.statements import Predicate, predicate_of

from .helpers import (
    KEY,
    World,
    a_draft,
    a_frozen_edition,
    refusal,
)


def a_request(shape_id: str = "sql-threshold", ordinal: int = 0) -> CertificationRequest:
    return CertificationRequest(shape_id, Condition.C0, ordinal)


def test_every_family_of_a_small_edition_is_certified(world: World) -> None:
    """Two shapes, two conditions, four families: the ground that the other tests stand on."""
    assert len(world.outcomes) == world.edition.family_count == 16
    assert all(outcome.is_certified for outcome in world.outcomes)


def test_certifying_again_is_answered_from_the_store(client: Client, world: World) -> None:
    """A broken stream is resumed by sending it again; nothing is proved twice."""
    again = sorted(client.families.certify_edition(world.edition), key=lambda outcome: outcome.family)

    assert all(outcome.is_stored for outcome in again)
    assert [outcome.certificate for outcome in again] == [outcome.certificate for outcome in world.outcomes]


def test_a_client_may_wait_for_each_answer(client: Client) -> None:
    """One family, its answer, the next family: no deadlock, whatever the server reads ahead."""
    draft = a_draft(client, "stepwise")
    answered: list[str] = []

    def one_by_one() -> object:
        for ordinal in range(4):
            while len(answered) < ordinal:
                yield_thread()
            yield a_request(ordinal=ordinal)

    for outcome in client.families.certify(draft.name, one_by_one()):  # type: ignore[arg-type]
        answered.append(outcome.family)

    assert len(answered) == 4


def yield_thread() -> None:
    import time

    time.sleep(0.005)


@pytest.mark.parametrize(
    ("edition", "asked", "kind", "words"),
    [
        ("editions/nowhere", a_request(), NotFoundError, "'nowhere' does not exist"),
        ("editions/world", a_request("sql-nothing"), NotFoundError, "it has sql-threshold, python-prefix"),
        ("editions/world", a_request("x" * 100_000), NotFoundError, "has no shape"),
        ("editions/world", a_request(ordinal=4), InvalidRequestError, "ordinal 4 is not in 0 to 3"),
        ("editions/world", a_request(ordinal=-1), InvalidRequestError, "ordinal -1"),
        ("world", a_request(), InvalidRequestError, "editions/{edition}"),
    ],
)
@pytest.mark.usefixtures("world")
def test_a_family_that_is_not_there_is_refused(
    client: Client, edition: str, asked: CertificationRequest, kind: type[LeakScaleError], words: str
) -> None:
    """A typo in a name must not look like a rejected family."""
    assert words in refusal(kind, lambda: list(client.families.certify(edition, [asked])))


def test_an_empty_certification_is_empty(client: Client) -> None:
    """Nothing asked, nothing answered."""
    assert list(client.families.certify("editions/world", [])) == []


def test_what_the_caller_raises_reaches_the_caller(client: Client, world: World) -> None:
    """A generator's own failure must not come back as a fault of the server."""

    def broken() -> object:
        yield from []
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        list(client.families.certify(world.edition.name, broken()))  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError, match="mine"):
        client.banks.submit(world.experiment.banks[0].name, broken())  # type: ignore[arg-type]


def test_a_draft_with_a_missing_family_does_not_freeze(client: Client) -> None:
    """An edition with a hole has no defined totals."""
    draft = a_draft(client, "unfinished")
    list(client.families.certify(draft.name, [a_request()]))

    message = refusal(NotCertifiedError, lambda: client.editions.freeze(draft.name))

    assert "15 of 16 families" in message
    assert "leakscale certify" in message


def test_freezing_again_changes_nothing(client: Client, world: World) -> None:
    """A repeated call returns what the first one made."""
    assert client.editions.freeze(world.edition.name) == world.edition
    assert world.edition.is_frozen
    assert len(world.edition.commitment_root) == len(world.edition.certificates_digest) == 32


def test_public_families_come_in_the_order_of_opaque_ids(world: World) -> None:
    """Any other order would tell shape, condition or ordinal."""
    ids = [family.family_id for family in world.families]

    assert ids == sorted(ids)
    assert len(set(ids)) == 16


def test_families_are_asked_for_in_each_ring(client: Client, world: World) -> None:
    """One family in three forms: key, candidates and certificate are one, words and names are not."""
    rings = {ring: client.editions.families(world.edition.name, ring=ring) for ring in Ring}

    assert rings[Ring.R0] == world.families
    assert {ring: {family.ring for family in found} for ring, found in rings.items()} == {r: {r} for r in Ring}
    for exact, reworded, renamed in zip(*rings.values(), strict=True):
        assert exact.family_id == reworded.family_id == renamed.family_id
        assert (exact.key, exact.candidates) == (reworded.key, reworded.candidates) == (renamed.key, renamed.candidates)
        assert len({exact.task, reworded.task, renamed.task}) == 3
        assert exact.inputs == reworded.inputs != renamed.inputs


def test_a_certificate_binds_what_is_published_in_each_ring(client: Client, world: World) -> None:
    """Otherwise a frozen task could be another one than the proved one."""
    families = {
        ring: {each.family_id: each for each in client.editions.families(world.edition.name, ring=ring)}
        for ring in Ring
    }
    for outcome in world.outcomes:
        assert outcome.certificate is not None
        body = predicate_of(outcome.certificate.payload, Predicate.CERTIFICATE)
        family_id = outcome.family.rpartition("/")[2]

        assert {ring: body["rings"][ring]["public_digest"] for ring in Ring} == {
            ring: public_digest(found[family_id]).hex() for ring, found in families.items()
        }
        assert body["rings"]["R0"]["fixtures_commitment"] == body["rings"]["R1"]["fixtures_commitment"]
        assert body["rings"]["R0"]["fixtures_commitment"] != body["rings"]["R2"]["fixtures_commitment"]


def test_one_private_seed_hides_every_truth_of_another(client: Client, world: World) -> None:
    """Corpora of two private seeds differ; a seed that decided nothing would keep no secret."""
    edition, _ = a_frozen_edition(client, "other-truth", practice_private_seed=b"t" * 32)
    shared = {TrainingSource.EXACT_PUBLIC, TrainingSource.DIRECT_LOOKUP, TrainingSource.PRESERVATION}
    corpora = [
        [record for record in corpus if record.source in shared]
        for corpus in (world.corpus, client.grants.expose(edition.name, key=KEY, request_id="r", preservation_count=3))
    ]

    assert [record.prompt for record in corpora[0]] == [record.prompt for record in corpora[1]]
    assert corpora[0] != corpora[1]


def test_families_of_the_sdk_are_whole(world: World) -> None:
    """Nothing is lost between the frozen file and the SDK."""
    assert all(isinstance(family, Family) and len(set(family.candidates)) == 4 for family in world.families)
