"""Scores are filed if the server's key signed them and they are of this audit, and of nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.audit.answering.builders import SpokenEngine, locked_audit
from tests.audit.registration.builders import PLAN
from tests.audit.remote.builders import a_fetched_audit

from leakscale.audit.answering.running import answer_audit
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.amending import registration_of
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.origin import fetched_of
from leakscale.audit.registration.released import Released
from leakscale.audit.remote.names import answer_set_name
from leakscale.audit.remote.scores import take_scores
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.client import Client
from leakscale.deposits import ReleasedScores, ScoreFile
from leakscale.errors import ConflictError, IntegrityError
from leakscale.models import SignedStatement
from leakscale.statements import Predicate, signed_bytes, statement

KEY = Ed25519PrivateKey.generate()
PUBLIC = KEY.public_key().public_bytes_raw()
ANSWERS = "ab" * 32
Tables = dict[tuple[BankRole, str], bytes]


@pytest.fixture
def fetched(tmp_path: Path) -> AuditDirectory:
    """A directory that was fetched from a server whose key is here."""
    author = locked_audit(tmp_path, plan=PLAN[: PLAN.rindex("[[models]]")], control_count=3)
    for role in BankRole:
        answer_audit(author, "tiny", role=role, engine=SpokenEngine(lambda prompt: f"The answer is {len(prompt)}."))
    return a_fetched_audit(author, tmp_path / "fetched", server_key=PUBLIC)


def tables_of(fetched: AuditDirectory) -> Tables:
    """The tables that the author's own machine made, beside the fetched directory."""
    author = AuditDirectory(fetched.root.parent / "audit")
    return {(role, "tiny"): author.scores("tiny", bank=role).read_bytes() for role in BankRole}


def released(fetched: AuditDirectory, tables: Mapping[tuple[BankRole, str], bytes]) -> ReleasedScores:
    """Sign tables as the server does."""
    facts = {
        "audit": "audits/demo",
        "registration": AuditLedger(fetched).entries()[0].facts["registration_digest"],
        "variant": "registered",
        "amendment": "",
        "assurance_level": "L2",
        "released_before": [],
        "tables": [
            {"bank": str(role), "model": model, "answers": ANSWERS, "sha256": hashlib.sha256(content).hexdigest()}
            for (role, model), content in tables.items()
        ],
    }
    payload = statement(Predicate.AUDIT_SCORES, subject="audits/demo", digest=b"1" * 32, predicate=facts)
    files = tuple(ScoreFile(str(role), model, ANSWERS, content) for (role, model), content in tables.items())
    return ReleasedScores(SignedStatement(payload, KEY.sign(signed_bytes(payload)), PUBLIC), files)


def take(fetched: AuditDirectory, scores: ReleasedScores) -> Released:
    """Take what a server would say."""
    client = cast(Client, SimpleNamespace(audits=SimpleNamespace(scores=lambda name: scores)))
    origin = fetched_of(fetched)
    assert origin is not None
    return take_scores(client, fetched, registration_of(fetched), origin, server="here")


def edited(content: bytes, **changes: Any) -> bytes:
    """Return a whole table that says something else."""
    return replace(ScoreTable.from_bytes(content, source="table"), **changes).to_bytes()


def test_scores_are_filed_entered_and_the_same_the_second_time(fetched: AuditDirectory) -> None:
    """Byte for byte what the server signed."""
    tables = tables_of(fetched)
    assert take(fetched, released(fetched, tables)).assurance_level == "L2"
    for (role, model), content in tables.items():
        assert fetched.scores(model, bank=role).read_bytes() == content
    assert registration_of(fetched).assurance_level == "L2"
    ledger = fetched.ledger.read_bytes()
    take(fetched, released(fetched, tables))
    assert fetched.ledger.read_bytes() == ledger


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: edited(content, model="other"), "a table of another model, bank or kind"),
        (lambda content: edited(content, state="adapted"), "a table of another model, bank or kind"),
        (lambda content: edited(content, bank_digest="00"), "a table of another model, bank or kind"),
        (lambda content: edited(content, kind=ScoreKind.MIN_K, scores=[[-1.0] * 3] * 4), "another model, bank or kind"),
        (lambda content: content + b"{}\n", "no table of scores"),
        (lambda content: b"7", "no table of scores"),
    ],
)
def test_a_signed_table_of_something_else_is_not_filed(fetched: AuditDirectory, change: Any, message: str) -> None:
    """A server that mixes two audits up signs that as well."""
    tables = tables_of(fetched)
    tables[BankRole.AUDIT, "tiny"] = change(tables[BankRole.AUDIT, "tiny"])
    with pytest.raises(IntegrityError, match=message):
        take(fetched, released(fetched, tables))
    assert not list(fetched.root.rglob("*.correct.jsonl"))


def test_a_missing_or_a_further_table_is_refused(fetched: AuditDirectory) -> None:
    """A panel is told whole."""
    tables = tables_of(fetched)
    fewer = {place: content for place, content in tables.items() if place[0] is BankRole.AUDIT}
    more = tables | {(BankRole.AUDIT, "other"): tables[BankRole.AUDIT, "tiny"]}
    for each in (fewer, more):
        with pytest.raises(IntegrityError, match="are not those of every registered model and bank"):
            take(fetched, released(fetched, each))


def test_scores_over_other_answers_than_were_sealed_here_are_refused(fetched: AuditDirectory) -> None:
    """A server that lost a set, or has another's in its place, shows by the receipt that the ledger keeps."""
    name = answer_set_name("demo", "registered", BankRole.AUDIT, "tiny")
    AuditLedger(fetched).append(EntryKind.SEAL, subject=name, digest=b"1" * 32, facts={"answers": "cd" * 32})
    with pytest.raises(IntegrityError, match="on the audit bank: over other answers than were sealed from here"):
        take(fetched, released(fetched, tables_of(fetched)))


def test_other_scores_of_the_same_server_are_refused(fetched: AuditDirectory) -> None:
    """Whoever may score twice may keep the better scores."""
    tables = tables_of(fetched)
    take(fetched, released(fetched, tables))
    table = ScoreTable.from_bytes(tables[BankRole.AUDIT, "tiny"], source="table")
    tables[BankRole.AUDIT, "tiny"] = edited(tables[BankRole.AUDIT, "tiny"], scores=1 - table.scores)
    with pytest.raises(ConflictError, match="the ledger has entered another one"):
        take(fetched, released(fetched, tables))
