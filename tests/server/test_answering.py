"""Experiments over the wire: registered, answered in parts, sealed once, disclosed for ever, and what is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from leakscale.client import Client
from leakscale.errors import (
    AnswerTooLongError,
    BankIncompleteError,
    BankSealedError,
    CaseDuplicateError,
    CaseUnknownError,
    CohortTooSmallError,
    ConflictError,
    InvalidRequestError,
    LeakScaleError,
    NotFoundError,
    NotSealedError,
)
from leakscale.models import (
    Answer,
    BankPhase,
    EditionKind,
)

from .helpers import (
    DRAWS,
    KEY,
    World,
    a_frozen_edition,
    a_plan,
    answers_to,
    refusal,
)


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
