"""An audit whose forms lie on a server, by the commands of its author and of whoever answers it."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.audit.answering.builders import SpokenEngine
from tests.audit.controls.builders import a_word_problem_audit
from tests.audit.registration.builders import NOW
from typer.testing import CliRunner

from leakscale.audit.analysis import analyze_audit
from leakscale.audit.answering.filing import file_table
from leakscale.audit.answering.running import answer_audit
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.amending import amend_audit, amendments_of, registration_of
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Amendment
from leakscale.audit.registration.released import released_in
from leakscale.audit.remote import chunks, fetching, submitting
from leakscale.audit.remote.names import answer_set_name
from leakscale.audit.report import read_audit_findings
from leakscale.audit.report.twin import render_markdown
from leakscale.audit.scores import ScoreTable
from leakscale.cli.app import app
from leakscale.client import Client
from leakscale.digests import json_digest
from leakscale.errors import (
    IntegrityError,
    NotFoundError,
    PreconditionError,
)
from leakscale_server.app import RunningServer
from leakscale_server.identity.scopes import Role
from leakscale_server.identity.token_registry import TokenRegistry
from leakscale_server.store.registry_tables import open_registry

from .audit_parties import ONE, an_audit, answer, deposited, fetched, say, scores_of, submitted


@dataclass(frozen=True, slots=True)
class Party:
    """Somebody at a terminal."""

    server: str
    token: str

    def run(self, *arguments: object, as_json: bool = False) -> str:
        """Run a command; it must succeed."""
        options = ["--server", self.server, "--token", self.token, *(["--json"] if as_json else [])]
        outcome = CliRunner().invoke(app, [*options, *map(str, arguments)])
        assert outcome.exit_code == 0, outcome.output + str(outcome.exception)
        return outcome.stdout


@pytest.fixture(scope="module")
def parties(server: RunningServer, data_dir: Path) -> dict[str, Party]:
    """An author and an auditor of one project, each with a token of their own."""
    with closing(open_registry(data_dir)) as registry:
        return {
            role.value: Party(
                server.target,
                TokenRegistry(registry)
                .create(principal=f"cli-{role.value}", project="terminals", role=role, lifetime=timedelta(days=1))
                .text,
            )
            for role in (Role.AUTHOR, Role.AUDITOR)
        }


def test_two_parties_audit_a_model_by_their_commands(parties: dict[str, Party], tmp_path: Path) -> None:
    """From the deposit to the report; the numbers are those of the same audit on the author's machine, to the byte."""
    plan = ONE.replace('name = "demo"', 'name = "by-command"') + "[decoding]\ntoken_count_max = 12\n"
    mine = a_word_problem_audit(tmp_path, plan=plan, own_count=3)
    theirs = AuditDirectory(tmp_path / "theirs")
    author, auditor = parties["author"], parties["auditor"]

    told = author.run("audit", "deposit", mine.root)
    assert f"then, elsewhere: leakscale audit fetch audits/by-command DIR --server {author.server}" in told
    laid_out = auditor.run("audit", "fetch", "by-command", theirs.root, "--frame", mine.frame)
    assert "drawn again from the frame, the same" in laid_out
    assert "model        tiny: engine transformers, source tiny" in laid_out
    assert "scored by the server" in auditor.run("audit", "answer", theirs.root)
    done = json.loads(auditor.run("audit", "submit", theirs.root, as_json=True))
    author.run("audit", "answer", mine.root)

    assert (done["assurance_level"], done["unanswered"], done["released_before"]) == ("L2", [], [])
    assert len(done["sealed"]) == 2
    assert scores_of(theirs) == scores_of(mine)
    assert len(scores_of(mine)) == 2
    assert not theirs.nonce.exists()
    auditor.run("audit", "analyze", theirs.root)
    author.run("audit", "analyze", mine.root)
    ours, others = (json.loads((each.analysis / "registered" / "analysis.json").read_text()) for each in (mine, theirs))
    assert (ours.pop("assurance_level"), others.pop("assurance_level")) == ("L0", "L2")
    assert ours == others
    auditor.run("audit", "report", theirs.root)
    key = json.loads(auditor.run("audit", "show", theirs.root, as_json=True))["fetched"]["server_key"]
    for page in (theirs.report, theirs.report.with_suffix(".md")):
        text = page.read_text(encoding="utf-8")
        assert "was given no right answer" in text
        assert "Deposited as audits/by-command; scored and signed by the server" in text
        assert key in text
        assert "leakscale audit submit theirs" in text


def test_forms_and_answers_never_lie_readable_on_the_server(
    author: Client, runner: Client, data_dir: Path, tmp_path: Path
) -> None:
    """The process that answers calls has what it stores, and that is sealed to another one."""
    mine = an_audit(tmp_path, "unreadable")
    deposited(author, mine)
    theirs = fetched(runner, "unreadable", tmp_path / "theirs").directory
    answer(theirs)
    submitted(runner, theirs)

    # By another process: closing a database's file here would take the locks of the server in this process with it.
    files = sorted(str(path) for path in data_dir.rglob("*") if path.is_file())
    everything = subprocess.run(["cat", *files], capture_output=True, check=True).stdout
    assert b"audits/unreadable" in everything or b"unreadable" in everything
    assert b"crates" in mine.bank(BankRole.AUDIT).read_bytes()
    assert b"crates" not in everything
    assert b"The answer is" not in everything


def test_no_score_comes_before_the_last_set_and_what_is_missing_is_named(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """A runner who saw the scores of one bank could answer the other by them."""
    deposited(author, an_audit(tmp_path, "one-by-one"))
    theirs = fetched(runner, "one-by-one", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    first = submitted(runner, theirs)

    names = {role: answer_set_name("one-by-one", "registered", role, "tiny") for role in BankRole}
    assert (first.newly_sealed, first.unanswered) == ((names[BankRole.AUDIT],), (names[BankRole.CONTROL],))
    assert first.released is None
    assert scores_of(theirs) == {}
    answer(theirs, roles=(BankRole.CONTROL,))
    second = submitted(runner, theirs)
    assert (second.newly_sealed, second.unanswered) == ((names[BankRole.CONTROL],), ())
    assert second.released is not None
    assert len(scores_of(theirs)) == 2
    ledger = theirs.ledger.read_bytes()
    assert submitted(runner, theirs).newly_sealed == ()
    assert theirs.ledger.read_bytes() == ledger
    kinds = [entry.kind for entry in AuditLedger(theirs).entries()]
    assert (kinds[0], kinds.count(EntryKind.SEAL)) == (EntryKind.FETCH, 2)
    analyze_audit(theirs)


def test_a_half_answered_set_is_not_sealed(author: Client, runner: Client, tmp_path: Path) -> None:
    """It would be closed for good, with questions left out that somebody chose."""
    deposited(author, an_audit(tmp_path, "half", control_count=0))
    theirs = fetched(runner, "half", tmp_path / "theirs").directory
    with pytest.raises(KeyboardInterrupt):
        answer_audit(theirs, "tiny", engine=SpokenEngine(say, stops_after=6))
    done = submitted(runner, theirs)

    assert done.newly_sealed == ()
    assert done.unanswered == (answer_set_name("half", "registered", "audit", "tiny"),)


def test_a_submission_that_broke_goes_on_where_it_was(
    author: Client, runner: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks that arrived stay; the rest is sent, and the set is what it would have been."""
    monkeypatch.setattr(chunks, "ANSWERS_PER_CHUNK_MAX", 3)
    mine = an_audit(tmp_path, "broken", control_count=0)
    deposited(author, mine)
    theirs = fetched(runner, "broken", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    name = answer_set_name("broken", "registered", "audit", "tiny")

    with pytest.raises(ConnectionError):
        submitted(runner, theirs, progress=_break_after_two)
    there = runner.audits.chunks(name)
    assert 0 < len(there) < 4
    seen: list[int] = []
    done = submitted(runner, theirs, progress=lambda _, count, __: seen.append(count))

    assert seen == list(range(len(there) + 1, 5))
    assert done.released is not None
    answer(mine, roles=(BankRole.AUDIT,))
    assert scores_of(theirs) == scores_of(mine)


def _break_after_two(_: str, count: int, total: int) -> None:
    assert total == 4
    if count == 2:
        raise ConnectionError


def test_an_amendment_goes_the_same_way_and_says_what_was_known(author: Client, runner: Client, tmp_path: Path) -> None:
    """Beside, never instead; scores that had left before its answers were sealed are named."""
    mine = an_audit(tmp_path, "amended", control_count=0)
    deposited(author, mine)
    theirs = fetched(runner, "amended", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    submitted(runner, theirs)
    amend_audit(mine, changes={"decoding.token_count_max": 1024}, reason="a third was cut off", now=NOW)
    again = deposited(author, mine)
    brought = fetched(runner, "amended", theirs.root)
    answer(theirs, variant="amendment-1", roles=(BankRole.AUDIT,))
    done = submitted(runner, theirs, variant="amendment-1")

    assert (again.is_new, brought.is_new) == (False, False)
    assert again.new_amendments == brought.new_amendments
    assert [each.amendment.reason for each in again.new_amendments] == ["a third was cut off"]
    assert [(each.released_before, each.sealed_before) for each in again.new_amendments] == [(("registered",), 1)]
    assert amendments_of(theirs) == amendments_of(mine)
    assert done.released is not None
    assert done.released.released_before == ("registered",)
    assert theirs.scores("tiny", bank=BankRole.AUDIT, variant="amendment-1").is_file()
    assert registration_of(theirs, "amendment-1").assurance_level == "L2"
    for variant in ("registered", "amendment-1"):
        analyze_audit(theirs, variant=variant)
    known = "Scores of registered had left before the last answers of variant amendment-1 were sealed"
    report = render_markdown(read_audit_findings(theirs))
    assert known in report
    assert "The amendment amendment-1 came to the server with 1 answer sets sealed; scores of registered had" in report
    ledgers = mine.ledger.read_bytes(), theirs.ledger.read_bytes()
    assert deposited(author, mine).new_amendments == ()
    assert fetched(runner, "amended", theirs.root).new_amendments == ()
    assert (mine.ledger.read_bytes(), theirs.ledger.read_bytes()) == ledgers


def _broken(*_: object, **__: object) -> None:
    raise ConnectionError


@pytest.mark.parametrize("step", ["receipt", "scores"])
def test_a_submission_that_broke_after_the_seal_keeps_its_receipt(
    author: Client, runner: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The set is sealed for good on the server; the ledger still has to say which answers it was."""
    deposited(author, an_audit(tmp_path, f"broke-{step}", control_count=0))
    theirs = fetched(runner, f"broke-{step}", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    with monkeypatch.context() as broken:
        if step == "receipt":
            broken.setattr(AuditLedger, "append_once", _broken)
        else:
            broken.setattr(submitting, "take_scores", _broken)
        with pytest.raises(ConnectionError):
            submitted(runner, theirs)
    assert runner.audits.get(f"audits/broke-{step}").answer_sets[0].is_sealed
    done = submitted(runner, theirs)

    assert done.newly_sealed == ()
    assert done.released is not None
    assert [entry.kind for entry in AuditLedger(theirs).entries()].count(EntryKind.SEAL) == 1
    assert len(scores_of(theirs)) == 1


def test_a_deposit_that_broke_before_its_entry_is_entered(
    author: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies on the server is known to the directory that it came from."""
    mine = an_audit(tmp_path, "unentered", control_count=0)
    with monkeypatch.context() as broken:
        broken.setattr(AuditLedger, "append_once", _broken)
        with pytest.raises(ConnectionError):
            deposited(author, mine)
    assert not deposited(author, mine).is_new
    assert [entry.kind for entry in AuditLedger(mine).entries()].count(EntryKind.DEPOSIT) == 1


def test_a_fetch_that_broke_is_begun_again(
    author: Client, runner: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a directory counts as none, at whichever file it broke."""
    deposited(author, an_audit(tmp_path, "half-laid"))
    for function in ("write_bank", "write_whole", "begin_ledger"):
        with monkeypatch.context() as broken:
            broken.setattr(fetching, function, _broken)
            with pytest.raises(ConnectionError):
                fetched(runner, "half-laid", tmp_path / "theirs")
    with monkeypatch.context() as broken:
        broken.setattr(AuditLedger, "append", _broken)  # the draw is written by then
        with pytest.raises(ConnectionError):
            fetched(runner, "half-laid", tmp_path / "theirs")
    found = fetched(runner, "half-laid", tmp_path / "theirs")

    assert found.is_new
    assert [entry.kind for entry in AuditLedger(found.directory).entries()] == [EntryKind.FETCH]
    assert registration_of(found.directory).name == "half-laid"


def test_an_amendment_that_its_author_did_not_sign_is_none(author: Client, runner: Client, tmp_path: Path) -> None:
    """Whoever answers signs the ledger, and could write any rule into it once the scores are known."""
    mine = an_audit(tmp_path, "forging", control_count=0)
    deposited(author, mine)
    theirs = fetched(runner, "forging", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    submitted(runner, theirs)
    amend_audit(mine, changes={"inference.rho": 0.05}, reason="why", now=NOW)
    deposited(author, mine)
    honest = theirs.ledger.read_bytes()
    fetched(runner, "forging", theirs.root)
    (real,) = (each for each in AuditLedger(theirs).entries() if each.kind is EntryKind.AMENDMENT)
    wider = Amendment(1, "as the author decided", {"inference.alpha": 0.5}, real.at, ())
    kept = {name: real.facts[name] for name in ("envelope", "receipt")}
    forgeries: list[tuple[str, dict[str, Any]]] = [
        ("without its author's and the server's word", wider.to_json()),
        ("says another amendment than its author signed", wider.to_json() | kept),
        ("the server's word: changed", dict(real.facts) | {"receipt": real.facts["receipt"].replace("A", "B", 1)}),
    ]
    for message, facts in forgeries:
        theirs.ledger.write_bytes(honest)
        told = {name: value for name, value in facts.items() if name not in kept}
        digest = json_digest(told)
        AuditLedger(theirs).append(EntryKind.AMENDMENT, subject="amendment-1", digest=digest, facts=facts)
        for read in (amendments_of, lambda each: analyze_audit(each, variant="amendment-1")):
            with pytest.raises(IntegrityError, match=message):
                read(theirs)


def test_tables_that_the_server_did_not_sign_are_not_analyzed(author: Client, runner: Client, tmp_path: Path) -> None:
    """Whoever answers holds the ledger's key: a ledger begun again with other tables is as whole as the first."""
    deposited(author, an_audit(tmp_path, "retold", control_count=0))
    theirs = fetched(runner, "retold", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    submitted(runner, theirs)
    analyze_audit(theirs)
    again = fetched(runner, "retold", tmp_path / "again").directory
    table = ScoreTable.from_jsonl(theirs.scores("tiny", bank=BankRole.AUDIT))
    path = again.scores("tiny", bank=BankRole.AUDIT)
    with pytest.raises(PreconditionError, match="no scores"):
        analyze_audit(again)
    file_table(again, path, replace(table, scores=1 - table.scores), {"made_by": "submit"})
    with pytest.raises(PreconditionError, match="are not released here; run `leakscale audit submit"):
        analyze_audit(again)
    again.released().write_bytes(theirs.released().read_bytes())
    with pytest.raises(IntegrityError, match=r"model 'tiny' on the audit bank .* are not those that the server signed"):
        analyze_audit(again)
    shown = [CliRunner().invoke(app, ["audit", "show", str(each.root)]) for each in (theirs, again)]
    assert shown[0].exit_code == 0
    assert "registered: released, verified, L2" in shown[0].output
    assert "are not those that the server signed" in str(shown[1].exception)


def test_an_amendment_of_the_inference_has_the_level_of_the_scores_that_it_reads(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """It asks nobody again."""
    mine = an_audit(tmp_path, "reread", control_count=0)
    amend_audit(mine, changes={"inference.rho": 0.05}, reason="why", now=NOW)
    deposited(author, mine)
    theirs = fetched(runner, "reread", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    submitted(runner, theirs)
    assert registration_of(theirs, "amendment-1").assurance_level == "L2"
    with pytest.raises(PreconditionError, match="changes the inference alone, and its analysis takes the registered"):
        submitted(runner, theirs, variant="amendment-1")
    shown = CliRunner().invoke(app, ["audit", "show", str(theirs.root)]).output
    assert "scores     amendment-1: takes the registered ones" in shown
    assert {each.name.split("/")[3] for each in author.audits.get("audits/reread").answer_sets} == {"registered"}
    with pytest.raises(NotFoundError, match="has no scores of its own; it takes the registered ones"):
        runner.audits.scores("audits/reread/variants/amendment-1")
    with pytest.raises(NotFoundError, match="does not exist on this server"):
        runner.audits.seal("audits/reread/variants/amendment-1/banks/audit/models/tiny", chunk_count=1, request_id="x")
    analyze_audit(theirs, variant="amendment-1")


def test_scores_of_another_amendment_are_not_those_of_this_one(author: Client, runner: Client, tmp_path: Path) -> None:
    """The server says which amendment it scored by."""
    mine = an_audit(tmp_path, "which", control_count=0)
    amend_audit(mine, changes={"decoding.token_count_max": 1024}, reason="why", now=NOW)
    deposited(author, mine)
    origin = fetched(runner, "which", tmp_path / "theirs").origin
    theirs = AuditDirectory(tmp_path / "theirs")
    answer(theirs, variant="amendment-1", roles=(BankRole.AUDIT,))
    assert submitted(runner, theirs, variant="amendment-1").released is not None
    content = theirs.released("amendment-1").read_bytes()
    with pytest.raises(IntegrityError, match="its amendment is '"):
        released_in(content, origin, variant="amendment-1", amendment="00" * 32, source="scores")
