"""After the lock only a logged amendment changes anything, and it stands beside what was registered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.audit.registration.builders import NOW, PLAN, an_audit

from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.amending import amend_audit, amendments_of, registration_of
from leakscale.audit.registration.documents import amendment_in
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.locking import lock_audit
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError, PreconditionError


@pytest.fixture
def locked(tmp_path: Path) -> AuditDirectory:
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    return directory


def test_an_amendment_stands_beside_what_was_registered(locked: AuditDirectory) -> None:
    """Reported beside, never instead: both variants stay whole."""
    amend_audit(locked, changes={"decoding.token_count_max": 1024}, reason="40 % were cut off", now=NOW)
    amend_audit(locked, changes={"models.other.revision": "3"}, reason="the host withdrew it", now=NOW)
    first, second = (registration_of(locked, f"amendment-{number}") for number in (1, 2))
    assert registration_of(locked).plan.decoding.token_count_max == 768
    assert (first.plan.decoding.token_count_max, first.variant) == (1024, "amendment-1")
    assert (second.plan.decoding.token_count_max, second.plan.model_of("other").revision) == (768, "3")
    assert [amendment.reason for amendment in amendments_of(locked)] == ["40 % were cut off", "the host withdrew it"]


def test_a_change_is_amended_once(locked: AuditDirectory) -> None:
    """Two names for one change would be two runs to choose from."""
    amend_audit(locked, changes={"decoding.token_count_max": 1024}, reason="cut off", now=NOW)
    with pytest.raises(InvalidRequestError, match="amendment-1 makes this change already"):
        amend_audit(locked, changes={"decoding.token_count_max": 1024}, reason="cut off again", now=NOW)


def test_an_amendment_says_what_had_been_seen(locked: AuditDirectory) -> None:
    """A budget raised before the first answer and one raised after the last are two different things."""
    path = locked.scores("tiny", bank=BankRole.AUDIT)
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    amendment = amend_audit(locked, changes={"decoding.token_count_max": 1024}, reason="cut off", now=NOW)
    assert amendment.files_seen == ("scores/registered/audit/tiny.base.correct.jsonl",)
    assert amendments_of(locked) == (amendment,)


def test_an_amendment_is_read_from_its_signed_entry_alone(locked: AuditDirectory) -> None:
    """Whoever answers elsewhere has no ledger of the author's, and takes nothing else for an amendment."""
    amendment = amend_audit(locked, changes={"decoding.token_count_max": 1024}, reason="cut off", now=NOW)
    ledger = AuditLedger(locked)
    key = ledger.public_key()
    (entry,), (lock,) = ledger.envelopes(EntryKind.AMENDMENT), ledger.envelopes(EntryKind.LOCK)

    assert amendment_in(entry, public_key=key, source="entry") == amendment
    with pytest.raises(InvalidRequestError, match="lock is a ledger's entry of kind 'lock'"):
        amendment_in(lock, public_key=key, source="lock")
    with pytest.raises(IntegrityError, match="another key signed it"):
        amendment_in(entry, public_key=b"1" * 32, source="entry")


def test_scores_that_were_deleted_had_been_seen_all_the_same(locked: AuditDirectory) -> None:
    """The ledger knows what there was."""
    path = locked.scores("tiny", bank=BankRole.AUDIT)
    subject = path.relative_to(locked.root).as_posix()
    AuditLedger(locked).append(EntryKind.SCORES, subject=subject, digest=b"1" * 32, at=NOW)
    amendment = amend_audit(locked, changes={"decoding.token_count_max": 1024}, reason="cut off", now=NOW)

    assert not path.exists()
    assert amendment.files_seen == (subject,)


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_an_amendment_without_a_reason_is_refused(locked: AuditDirectory, reason: str) -> None:
    """The reason is what a reader judges it by."""
    with pytest.raises(InvalidRequestError, match="amendment of audit 'demo': no reason is given; say why"):
        amend_audit(locked, changes={"decoding.token_count_max": 1024}, reason=reason)
    assert amendments_of(locked) == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "it changes nothing"),
        ({"decoding.token_count_max": 768}, "it changes nothing"),
        ({"decoding.token_count_max": 0}, r"field 'decoding\.token_count_max': .*greater than or equal to 1 \(got 0\)"),
        ({"decoding.tokens": 5}, r"field 'decoding\.tokens' is none that can be changed"),
        ({"checks.similarity_max": 0.9}, r"field 'checks\.similarity_max' is none that can be changed"),
        ({"name": "other"}, "field 'name' is none that can be changed"),
        ({"models": []}, "field 'models' is none that can be changed"),
        ({"models.nobody.revision": "3"}, r"field 'models\.nobody\.revision' is none that can be changed"),
        ({"models.other.id": "third"}, r"field 'models\.other\.id' is none that can be changed"),
        ({"inference.rho": 0.03}, "rho is 0.03; it is one of rho_grid"),
        ({"inference.bound": "wald_fpc"}, "bound is 'wald_fpc'; it is one of"),
    ],
)
def test_an_amendment_that_breaks_a_rule_is_refused(
    locked: AuditDirectory, changes: dict[str, Any], message: str
) -> None:
    """What was true at the lock stays so: sample, bank, checks, gates."""
    with pytest.raises(InvalidRequestError, match=message):
        amend_audit(locked, changes=changes, reason="because")
    assert amendments_of(locked) == ()


def test_an_amendment_of_how_models_are_asked_needs_one_that_is(tmp_path: Path) -> None:
    """Of imported logs alone, nothing would ever be answered under it."""
    logs = PLAN.replace('revision = "1"', 'revision = "1"\nengine = "log"').replace(
        'revision = "2"', 'revision = "2"\nengine = "log"'
    )
    directory = an_audit(tmp_path, plan=logs)
    lock_audit(directory, now=NOW)
    with pytest.raises(InvalidRequestError, match=r"decoding\.token_count_max decides how models are asked, and every"):
        amend_audit(directory, changes={"decoding.token_count_max": 1024}, reason="cut off")

    assert amend_audit(directory, changes={"inference.rho": 0.05}, reason="wider").variant == "amendment-1"


def test_a_draft_is_edited_and_not_amended(tmp_path: Path) -> None:
    """Nothing was registered that an amendment could stand beside."""
    with pytest.raises(PreconditionError, match="is not locked"):
        amend_audit(an_audit(tmp_path), changes={"decoding.token_count_max": 1}, reason="because")


def test_an_unknown_variant_is_named_with_those_that_exist(locked: AuditDirectory) -> None:
    """Scores of an amendment that nobody logged have no settings."""
    with pytest.raises(NotFoundError, match="variant 'amendment-1' is not in audit 'demo'; it has registered"):
        registration_of(locked, "amendment-1")
