"""What each RPC does the first time and every time after, and what it refuses, with the class that the SDK raises."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from leakscale.client import Client
from leakscale.commitments import public_digest
from leakscale.errors import (
    AlreadyDoneError,
    AnswerTooLongError,
    BankIncompleteError,
    BankSealedError,
    CaseDuplicateError,
    CaseUnknownError,
    CohortTooSmallError,
    ConflictError,
    InvalidRequestError,
    LeakScaleError,
    NotCertifiedError,
    NotFoundError,
    NotFrozenError,
    NotSealedError,
)
from leakscale.models import (
    Answer,
    BankPhase,
    CertificationRequest,
    Condition,
    EditionKind,
    Family,
    Grant,
    Ring,
    ShapeFile,
    TrainingSource,
)
from leakscale.sealing import HolderKey
from leakscale.statements import Predicate, predicate_of

from .helpers import (
    DRAWS,
    KEY,
    PUBLIC_SEED,
    World,
    a_draft,
    a_frozen_edition,
    a_plan,
    answers_to,
    shape_files,
)

BAD_IDS = ["", "Demo", "dëmo", "a/b", "..", "-a", "a-", "a" * 64, "a\n", "a b", "demo\x00", "😀"]


def a_request(shape_id: str = "sql-threshold", ordinal: int = 0) -> CertificationRequest:
    return CertificationRequest(shape_id, Condition.C0, ordinal)


def refusal(kind: type[LeakScaleError], act: Callable[[], object]) -> str:
    with pytest.raises(kind) as caught:
        act()
    assert type(caught.value) is kind
    return str(caught.value)


def test_every_family_of_a_small_edition_is_certified(world: World) -> None:
    """Two shapes, two conditions, four families: the ground that the other tests stand on."""
    assert len(world.outcomes) == world.edition.family_count == 16
    assert all(outcome.is_certified for outcome in world.outcomes)


def test_the_same_draft_again_is_the_same_draft(client: Client, world: World) -> None:
    """A client that lost the answer may ask again."""
    assert a_draft(client, "world") == world.edition


def test_names_of_shape_files_do_not_make_another_draft(client: Client, world: World) -> None:
    """They are for messages; a path typed from another folder is the same file."""
    moved = [dataclasses.replace(shape, source=f"elsewhere/{shape.source}") for shape in shape_files()]

    assert a_draft(client, "world", shapes=moved) == world.edition


@pytest.mark.parametrize(
    "change",
    [
        {"public_seed": b"q" * 32},
        {"practice_private_seed": b"t" * 32},
        {"families_per_cell": 8},
        {"shapes": shape_files("sql/threshold.toml")},
        {"kind": EditionKind.PRIVATE, "practice_private_seed": b""},
    ],
)
def test_an_id_stands_for_one_draft(client: Client, world: World, change: dict[str, object]) -> None:
    """Certificates name an edition by its id; it must never mean something else."""
    message = refusal(ConflictError, lambda: a_draft(client, "world", **change))

    assert "'world'" in message
    assert "choose another id" in message


@pytest.mark.parametrize("bad", BAD_IDS)
def test_ids_that_could_mean_two_things_are_refused(client: Client, bad: str) -> None:
    """Ids become resource names and a file name."""
    assert "is not a valid id" in refusal(InvalidRequestError, lambda: a_draft(client, bad))


@pytest.mark.parametrize(
    "bad", ["world", "editions", "editions/", "editions/../world", "editions/World", "editions/😀"]
)
def test_names_of_another_form_are_refused_with_the_form(client: Client, bad: str) -> None:
    """A name that is nearly right must not fall through to another resource."""
    assert "editions/{edition}" in refusal(InvalidRequestError, lambda: client.editions.get(bad))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"families_per_cell": 5}, "families_per_cell"),
        ({"public_seed": b"short"}, "public_seed"),
        ({"public_seed": b"x" * 65}, "public_seed"),
        ({"practice_private_seed": b""}, "practice_private_seed"),
        ({"practice_private_seed": b"x" * 31}, "practice_private_seed"),
        ({"kind": EditionKind.PRIVATE}, "practice_private_seed"),
        ({"shapes": []}, "shapes"),
        ({"shapes": shape_files() * 2}, "is in the edition already"),
        ({"shapes": [ShapeFile("big.toml", "#" * 300_000)]}, "big.toml"),
        ({"shapes": [ShapeFile("broken.toml", "id = [\n")]}, "broken.toml:"),
        ({"shapes": [ShapeFile("x" * 100_000, "id = [\n")]}, "xxx"),
    ],
)
def test_a_draft_that_breaks_a_rule_is_refused_by_name(client: Client, change: dict[str, object], field: str) -> None:
    """The author reads which field, and nothing of the draft is kept."""
    assert field in refusal(InvalidRequestError, lambda: a_draft(client, "refused", **change))
    assert "does not exist" in refusal(NotFoundError, lambda: client.editions.get("editions/refused"))


def test_editions_are_listed_newest_first(client: Client, world: World) -> None:
    """Whoever just made one finds it at the top."""
    a_draft(client, "newest")

    names = [edition.name for edition in client.editions.list()]
    assert names[0] == "editions/newest"
    assert len(set(names)) == len(names)


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


@pytest.mark.parametrize("verb", ["families", "grant", "experiment"])
def test_a_draft_gives_nothing_away(client: Client, verb: str) -> None:
    """What could still change is neither listed nor exposed nor compared."""
    draft = a_draft(client, "draft")
    acts: dict[str, Callable[[], object]] = {
        "families": lambda: client.editions.families(draft.name),
        "grant": lambda: client.grants.request(draft.name, holder_key=KEY.public, request_id="r"),
        "experiment": lambda: client.experiments.create(a_plan(draft, "early")),
    }

    message = refusal(NotFrozenError, acts[verb])

    assert "is a draft with 0 of 16 families" in message
    assert "certify the others, then run `leakscale edition freeze draft`" in message


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


def test_two_families_with_one_key_are_refused_at_the_start(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in two thousand full editions: its author hears of it before anything is certified."""
    from leakscale_server.core.building import families

    original = families._build_part

    def shared_key(*arguments: object) -> object:
        part = original(*arguments)  # type: ignore[arg-type]
        first, second, third = (dataclasses.replace(family, key="K-00000000") for family in part.families)
        return dataclasses.replace(part, families=(first, second, third))

    monkeypatch.setattr(families, "_build_part", shared_key)

    message = refusal(InvalidRequestError, lambda: a_draft(client, "collision"))
    assert "choose another public seed" in message
    assert "does not exist" in refusal(NotFoundError, lambda: client.editions.get("editions/collision"))


def test_a_grant_is_issued_once_a_request_id(client: Client, world: World) -> None:
    """A lost answer must not cost a second grant."""

    def ask(**changes: Any) -> Grant:
        fields: dict[str, Any] = {"holder_key": KEY.public, "request_id": "twice", "preservation_count": 1}
        return client.grants.request(world.edition.name, **(fields | changes))

    assert ask() == ask()
    refusal(ConflictError, lambda: ask(preservation_count=2))
    refusal(ConflictError, lambda: ask(holder_key=HolderKey().public))


def test_a_grant_is_redeemed_by_one_request_and_repeated_by_it(client: Client, world: World) -> None:
    """A broken stream is read again; a second trainer is not served."""
    grant = client.grants.request(
        world.edition.name, holder_key=KEY.public, request_id="exposure", preservation_count=3
    )

    assert list(client.grants.redeem(grant.name, key=KEY, request_id="exposure")) == world.corpus
    message = refusal(AlreadyDoneError, lambda: list(client.grants.redeem(grant.name, key=KEY, request_id="other")))
    assert "was redeemed by another request id; repeat that one" in message


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("editions/world/grants/g-0", NotFoundError),
        ("editions/nowhere/grants/g-0", NotFoundError),
        ("grants/g-0", InvalidRequestError),
    ],
)
def test_an_unknown_grant_is_refused(client: Client, world: World, name: str, kind: type[LeakScaleError]) -> None:
    """Guessing a name gives nothing."""
    refusal(kind, lambda: list(client.grants.redeem(name, key=KEY, request_id="r")))


@pytest.mark.parametrize("count", [-1, 65_537])
def test_a_corpus_has_a_size_that_can_be_sent(client: Client, world: World, count: int) -> None:
    """The number is refused before anything is issued."""

    def act() -> Grant:
        return client.grants.request(
            world.edition.name, holder_key=KEY.public, request_id="size", preservation_count=count
        )

    assert "preservation_count" in refusal(InvalidRequestError, act)


def test_a_corpus_exposes_each_c2_family_twice_and_no_other(world: World) -> None:
    """The public prompt and the bare key, of the exposed half; preservation comes beside."""
    sources = [record.source for record in world.corpus]

    assert sources.count(TrainingSource.EXACT_PUBLIC) == sources.count(TrainingSource.DIRECT_LOOKUP) == 8
    assert sources.count(TrainingSource.PRESERVATION) == 3
    assert (sources.count(TrainingSource.DECOY), sources.count(TrainingSource.CANARY)) == (8, 1)


def test_preservation_tasks_pass_over_keys_of_banked_families() -> None:
    """With 65,536 tasks beside 2,048 families, one grant in thirty would meet such a key."""
    from leakscale_server.core.shapes import parse_shape
    from leakscale_server.scorer.corpus import preservation_records

    shape = parse_shape(shape_files()[0].toml, source="a shape")
    arguments = {"shapes": [shape], "public_seed": PUBLIC_SEED}
    plain = list(preservation_records(**arguments, count=3, banked_keys=()))  # type: ignore[arg-type]
    key = next(word for word in plain[0].prompt[1].content.split() if word.startswith("K-"))

    passed_over = list(preservation_records(**arguments, count=2, banked_keys={key}))  # type: ignore[arg-type]

    assert passed_over == plain[1:]


def test_the_same_plan_again_is_the_same_experiment(client: Client, world: World) -> None:
    """Registration may be repeated and never changed."""
    assert client.experiments.create(world.experiment.plan).plan == world.experiment.plan
    for change in ({"draw_count": 3}, {"bank_seed": 1}, {"model_label": "another"}, {"bootstrap_seed": 1}):
        plan = dataclasses.replace(world.experiment.plan, **change)
        assert "another plan" in refusal(ConflictError, lambda plan=plan: client.experiments.create(plan))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"draw_count": 0}, "draw_count"),
        ({"draw_count": 1025}, "draw_count"),
        ({"resample_count": 99}, "resample_count"),
        ({"bootstrap_seed": -1}, "bootstrap_seed"),
        ({"model_label": "x" * 513}, "model_label"),
        ({"model_label": "a\x1b[2Jmodel"}, "must be printable"),
        ({"model_label": "a\nline of its own"}, "must be printable"),
        ({"experiment_id": "A"}, "experiment_id"),
    ],
)
def test_a_plan_that_could_not_be_carried_out_is_refused(
    client: Client, world: World, change: dict[str, object], field: str
) -> None:
    """A plan is fixed before the first answer, so its faults must show before it too."""
    plan = dataclasses.replace(a_plan(world.edition, "refused"), **change)  # type: ignore[arg-type]

    assert field in refusal(InvalidRequestError, lambda: client.experiments.create(plan))


def test_a_private_edition_needs_a_cohort_to_be_compared_over(client: Client) -> None:
    """A number over few families says too much about each."""
    edition, _ = a_frozen_edition(client, "few", kind=EditionKind.PRIVATE, practice_private_seed=b"")

    message = refusal(CohortTooSmallError, lambda: client.experiments.create(a_plan(edition, "few")))

    assert "at least 128" in message


def an_open_bank(client: Client, world: World, experiment_id: str) -> tuple[str, list[Answer]]:
    experiment = client.experiments.create(a_plan(world.edition, experiment_id))
    bank = experiment.banks[0]
    return bank.name, answers_to(bank, world.families)


def test_answers_may_come_in_parts_and_again(client: Client, world: World) -> None:
    """Whoever answers in parts numbers the chunks on; an upload that broke is sent again from its beginning."""
    name, answers = an_open_bank(client, world, "parts")

    assert client.banks.submit(name, []).phase is BankPhase.DRAFT
    assert client.banks.submit(name, answers[:5]).answered_count == 5
    assert client.banks.submit(name, answers[:5]).phase is BankPhase.OPEN
    bank = client.banks.submit(name, answers[5:], first_chunk=1)

    assert bank.answered_count == bank.case_count == len(answers)
    assert list(client.banks.chunks(name)) == [0, 1]


def test_one_case_has_one_answer(client: Client, world: World) -> None:
    """Whoever could change an answer could choose the best of many."""
    name, answers = an_open_bank(client, world, "conflict")
    client.banks.submit(name, answers[:1])
    other = dataclasses.replace(answers[0], text="another")

    assert "is there with other answers" in refusal(ConflictError, lambda: client.banks.submit(name, [other]))
    for again in (other, answers[0]):
        message = refusal(CaseDuplicateError, lambda again=again: client.banks.submit(name, [again], first_chunk=1))  # type: ignore[misc]
        assert "has its answer already, in another chunk" in message
    twice = [answers[1], dataclasses.replace(answers[1], text="x")]
    assert "twice in chunk 1" in refusal(CaseDuplicateError, lambda: client.banks.submit(name, twice, first_chunk=1))
    assert client.banks.get(name).answered_count == 1


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"family_id": "f-unknown"}, CaseUnknownError, "is not in this bank"),
        ({"family_id": "😀" * 10_000}, CaseUnknownError, "is not in this bank"),
        ({"draw": DRAWS}, CaseUnknownError, "is not in 0 to 1"),
        ({"draw": -1}, CaseUnknownError, "is not in 0 to 1"),
        ({"text": "x" * 4097}, AnswerTooLongError, "longer than 4096 bytes"),
        ({"text": "ä" * 2049}, AnswerTooLongError, "longer than 4096 bytes"),
    ],
)
def test_an_answer_that_fits_no_case_is_refused(
    client: Client, world: World, change: dict[str, object], kind: type[LeakScaleError], words: str
) -> None:
    """And the good answers of the message before it stay."""
    name, answers = an_open_bank(client, world, "misfits")

    bad = dataclasses.replace(answers[0], **change)  # type: ignore[arg-type]

    assert words in refusal(kind, lambda: client.banks.submit(name, [bad]))


@pytest.mark.parametrize("text", ["", "x" * 4096, "\x00", "💥", '{"choice": 1}', "\r\n\t", "\ufffe"])
def test_any_text_is_an_answer(client: Client, world: World, text: str) -> None:
    """A malformed answer scores zero; it is stored as it came and never repaired."""
    digest = f"any-{text.encode().hex()[:8] or 'empty'}-{len(text)}"
    name, answers = an_open_bank(client, world, digest)

    client.banks.submit(name, [dataclasses.replace(answers[0], text=text), *answers[1:]])

    assert client.banks.seal(name).case_count == len(answers)


def test_an_incomplete_bank_does_not_seal(client: Client, world: World) -> None:
    """Missing answers are not wrong answers."""
    name, answers = an_open_bank(client, world, "incomplete")
    client.banks.submit(name, answers[:-1])

    message = refusal(BankIncompleteError, lambda: client.banks.seal(name))

    assert f"{len(answers) - 1} of {len(answers)} answers" in message
    assert f"case ({answers[-1].family_id}, draw {answers[-1].draw})" in message


def test_a_sealed_bank_takes_the_same_answers_and_no_others(client: Client, world: World) -> None:
    """A repeated upload is harmless, a late change is refused."""
    bank = world.experiment.banks[0]
    answers = answers_to(bank, world.families)

    assert client.banks.submit(bank.name, answers).is_sealed
    late = dataclasses.replace(answers[0], text="late")
    message = refusal(BankSealedError, lambda: client.banks.submit(bank.name, [late], first_chunk=1))
    assert "is sealed and takes no more answers" in message


def test_sealing_again_returns_the_same_receipt(client: Client, world: World) -> None:
    """A receipt can be fetched again."""
    for bank, receipt in zip(world.experiment.banks, world.receipts, strict=True):
        assert client.banks.seal(bank.name) == receipt


def test_a_second_seal_is_refused_by_its_own_name(client: Client, world: World) -> None:
    """Whoever did not close the bank is not told that it was theirs to close."""
    bank = world.experiment.banks[0]

    message = refusal(BankSealedError, lambda: client.banks.seal(bank.name, request_id="another"))

    assert "was sealed by another request" in message


def test_an_experiment_with_an_open_bank_is_not_disclosed(client: Client, world: World) -> None:
    """Numbers leave once, when nothing can change any more."""
    an_open_bank(client, world, "open")

    message = refusal(NotSealedError, lambda: client.experiments.disclose("experiments/open"))

    assert "seal every bank" in message


def test_a_disclosure_is_the_same_bytes_for_ever(client: Client, world: World) -> None:
    """Numbers leave once."""
    assert client.experiments.disclose(world.experiment.name) == world.disclosure


def test_a_disclosure_counts_what_was_answered(client: Client, world: World) -> None:
    """One position for every case: balance makes a quarter of them right, in every cell."""
    assert {(total.correct_count, total.valid_count, total.draw_count) for total in world.disclosure.totals} == {
        (2, 8, 8)
    }
    assert world.disclosure.effects[0].effect.value == 0


@pytest.mark.parametrize(
    "act",
    [
        lambda client: client.experiments.get("experiments/nowhere"),
        lambda client: client.experiments.disclose("experiments/nowhere"),
        lambda client: client.banks.get("experiments/world/banks/sql-other"),
        lambda client: client.banks.get("experiments/nowhere/banks/sql-base"),
        lambda client: client.banks.seal("experiments/nowhere/banks/sql-base"),
        lambda client: client.banks.submit("experiments/nowhere/banks/sql-base", []),
        lambda client: client.editions.freeze("editions/nowhere"),
        lambda client: client.editions.families("editions/nowhere"),
        lambda client: client.grants.request("editions/nowhere", holder_key=KEY.public, request_id="r"),
        lambda client: client.grants.approve("editions/world/grants/g-0"),
        lambda client: client.grants.get("editions/nowhere/grants/g-0"),
        lambda client: list(client.grants.list("editions/nowhere")),
        lambda client: client.grants.trace("editions/nowhere", "text"),
    ],
)
def test_what_does_not_exist_is_not_found(client: Client, world: World, act: Callable[[Client], object]) -> None:
    """The one answer to a wrong name, whichever RPC it is given to."""
    assert "does not exist" in (message := refusal(NotFoundError, lambda: act(client))) or "has no bank" in message


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
