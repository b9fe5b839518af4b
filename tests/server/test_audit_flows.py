"""An audit whose forms lie on a server, by the commands of its author and of whoever answers it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.audit.answering.builders import SpokenEngine
from tests.audit.controls.builders import a_word_problem_audit
from tests.audit.registration.builders import NOW, PLAN, edit_bank, parent_line, write_lines
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
from leakscale.audit.remote.depositing import Deposited, deposit_audit
from leakscale.audit.remote.fetching import FetchedAudit, fetch_audit
from leakscale.audit.remote.names import answer_set_name
from leakscale.audit.remote.submitting import Submitted, submit_answers
from leakscale.audit.report import read_audit_findings
from leakscale.audit.report.twin import render_markdown
from leakscale.audit.scores import ScoreTable
from leakscale.cli.app import app
from leakscale.client import Client
from leakscale.deposits import ReleasedScores
from leakscale.digests import json_digest
from leakscale.errors import (
    AlreadyDoneError,
    ConflictError,
    IntegrityError,
    LeakScaleError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
)
from leakscale.models import SignedStatement
from leakscale.statements import Predicate, predicate_of, signed_bytes, statement
from leakscale_server.app import RunningServer
from leakscale_server.identity.scopes import Role
from leakscale_server.identity.token_registry import TokenRegistry
from leakscale_server.store.registry_tables import open_registry

from .deposited import a_locked, client_of

BOTH = tuple(BankRole)
ONE = PLAN[: PLAN.rindex("[[models]]")]
SERVER = "vault.example:7443"
"""What the server is called in ledgers and messages."""


@pytest.fixture(scope="module")
def author(server: RunningServer, data_dir: Path) -> Iterator[Client]:
    with client_of(server, data_dir, "ada", Role.AUTHOR, project="flows") as client:
        yield client


@pytest.fixture(scope="module")
def runner(server: RunningServer, data_dir: Path) -> Iterator[Client]:
    with client_of(server, data_dir, "rob", Role.AUDITOR, project="flows") as client:
        yield client


def an_audit(folder: Path, name: str, *, plan: str = ONE, control_count: int = 3) -> AuditDirectory:
    """Lock an audit of four parents in three forms, and a control bank."""
    return a_locked(folder / name, name, plan=plan, control_count=control_count).directory


def deposited(client: Client, directory: AuditDirectory, **settings: Any) -> Deposited:
    """Deposit it as the command does."""
    return deposit_audit(client, directory, server=SERVER, **settings)


def fetched(client: Client, name: str, root: Path, **settings: Any) -> FetchedAudit:
    """Fetch it as the command does."""
    return fetch_audit(client, f"audits/{name}", root, server=SERVER, **settings)


def submitted(client: Client, directory: AuditDirectory, **settings: Any) -> Submitted:
    """Submit as the command does."""
    return submit_answers(client, directory, server=SERVER, **settings)


def say(prompt: str) -> str:
    """Answer some questions right, by no rule that the test knows."""
    many = next(word for word in prompt.split() if word.isdigit() and int(word) >= 10)
    return f"The answer is {3 * int(many) - 5}." if "Tom" in prompt or int(many) % 2 else "The answer is 7777."


def answer(
    directory: AuditDirectory, *, variant: str = "registered", roles: tuple[BankRole, ...] = tuple(BankRole)
) -> None:
    """Answer banks with every registered model."""
    for model in registration_of(directory, variant).plan.models:
        for role in roles:
            answer_audit(directory, model.id, role=role, variant=variant, engine=SpokenEngine(say))


def scores_of(directory: AuditDirectory) -> dict[str, bytes]:
    """Every table of accuracies, by its path."""
    return {
        path.relative_to(directory.root).as_posix(): path.read_bytes()
        for path in sorted(directory.root.rglob("*.correct.jsonl"))
    }


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


def test_one_party_in_both_parts_is_level_1(server: RunningServer, data_dir: Path, tmp_path: Path) -> None:
    """It had the right answers."""
    with client_of(server, data_dir, "sol", Role.ADMIN, project="alone") as client:
        deposited(client, an_audit(tmp_path, "alone", control_count=0))
        theirs = fetched(client, "alone", tmp_path / "theirs").directory
        answer(theirs, roles=(BankRole.AUDIT,))
        done = submitted(client, theirs)
    assert done.released is not None
    assert registration_of(theirs).assurance_level == done.released.assurance_level == "L1"


def test_each_part_needs_its_role(author: Client, runner: Client, tmp_path: Path) -> None:
    """Who answers deposits nothing, who deposits answers nothing, and strangers do not even hear that it exists."""
    mine = an_audit(tmp_path, "roles")
    with pytest.raises(PermissionDeniedError):
        deposited(runner, mine)
    deposited(author, mine)
    with pytest.raises(PermissionDeniedError):
        fetched(author, "roles", tmp_path / "theirs")
    assert not (tmp_path / "theirs").exists()
    theirs = fetched(runner, "roles", tmp_path / "theirs").directory
    answer(theirs)
    with pytest.raises(PermissionDeniedError):
        submitted(author, theirs)


def test_another_project_does_not_find_it(
    server: RunningServer, data_dir: Path, author: Client, tmp_path: Path
) -> None:
    """In the words that it hears of an audit that nobody deposited."""
    deposited(author, an_audit(tmp_path, "hidden", control_count=0))
    with client_of(server, data_dir, "eve", Role.AUDITOR, project="south") as stranger:
        said = []
        for name in ("hidden", "nobody"):
            with pytest.raises(NotFoundError) as caught:
                fetched(stranger, name, tmp_path / name)
            said.append(str(caught.value).replace(name, "…"))
    assert said[0] == said[1]


def test_a_server_with_another_key_is_refused_before_anything_is_sent(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """Forms sealed to whoever answers at that address could be read there."""
    mine = an_audit(tmp_path, "pinned", control_count=0)
    with pytest.raises(IntegrityError, match=r"31313131.* is the one to trust"):
        deposited(author, mine, server_key=b"1" * 32)
    with pytest.raises(NotFoundError):
        author.audits.get("audits/pinned")
    deposited(author, mine, server_key=author.server.info().public_key)
    with pytest.raises(IntegrityError, match="is the one to trust"):
        fetched(runner, "pinned", tmp_path / "theirs", server_key=b"1" * 32)
    assert not (tmp_path / "theirs").exists()


def test_one_server_scores_an_audit(author: Client, tmp_path: Path) -> None:
    """Whoever has the scores of one could answer the other better."""
    mine = an_audit(tmp_path, "twice", control_count=0)
    facts = {"server": "elsewhere:1", "server_key": "11" * 32}
    AuditLedger(mine).append(EntryKind.DEPOSIT, subject="audits/twice", digest=b"1" * 32, facts=facts)
    with pytest.raises(ConflictError, match=r"deposited on 'elsewhere:1', whose key is 1111.*one server scores it"):
        deposited(author, mine)


def test_a_name_stands_for_one_registration(author: Client, tmp_path: Path) -> None:
    """Locked anew, an audit could be shaped after its forms were seen."""
    deposited(author, an_audit(tmp_path / "one", "taken", control_count=0))
    with pytest.raises(ConflictError, match=r"'audits/taken' is deposited with another registration \(by ada\)"):
        deposited(author, an_audit(tmp_path / "other", "taken", control_count=0))


def test_an_audit_whose_answers_are_a_log_is_not_deposited(author: Client, tmp_path: Path) -> None:
    """Nobody could seal what was there before."""
    mine = an_audit(tmp_path, "logged", plan=ONE + 'engine = "log"\n', control_count=0)
    with pytest.raises(PreconditionError, match="model 'tiny' of audit 'logged' is registered with engine 'log'"):
        deposited(author, mine)


@pytest.mark.parametrize("is_amended", [False, True])
def test_several_answers_a_form_are_not_deposited(author: Client, tmp_path: Path, is_amended: bool) -> None:
    """How many of a thousand made-up answers were right names the one that is."""
    decoding = "[decoding]\ntemperature = 0.5\nanswer_count = 9\n"
    name = f"many-{is_amended}".lower()
    mine = an_audit(tmp_path, name, plan=ONE if is_amended else ONE + decoding, control_count=0)
    if is_amended:
        changes = {"decoding.temperature": 0.5, "decoding.answer_count": 9}
        amend_audit(mine, changes=changes, reason="more of them", now=NOW)
    with pytest.raises(PreconditionError, match=r"draws 9 answers a form \(decoding\.answer_count\)"):
        deposited(author, mine)
    with pytest.raises(NotFoundError):
        author.audits.get(f"audits/{name}")


def test_answers_that_somebody_else_sealed_are_not_sealed_again(
    server: RunningServer, data_dir: Path, author: Client, runner: Client, tmp_path: Path
) -> None:
    """The first set stands; everybody of the project takes the same scores."""
    deposited(author, an_audit(tmp_path, "shared", control_count=0))
    first = fetched(runner, "shared", tmp_path / "first").directory
    answer(first, roles=(BankRole.AUDIT,))
    submitted(runner, first)
    with client_of(server, data_dir, "una", Role.AUDITOR, project="flows") as other:
        second = fetched(other, "shared", tmp_path / "second").directory
        done = submitted(other, second)
        assert done.newly_sealed == ()
        assert scores_of(second) == scores_of(first)
        with pytest.raises(AlreadyDoneError):
            other.audits.seal(answer_set_name("shared", "registered", "audit", "tiny"), chunk_count=1)
        third = fetched(other, "shared", tmp_path / "third").directory
        answer(third, roles=(BankRole.AUDIT,))
        with pytest.raises(ConflictError, match="was sealed by 'rob' from another directory, and this one has answers"):
            submitted(other, third)
        assert scores_of(third) == {}


def test_a_directory_of_another_kind_is_not_fetched_into(author: Client, runner: Client, tmp_path: Path) -> None:
    """Neither the author's own nor that of another audit is overwritten."""
    mine = an_audit(tmp_path, "kinds", control_count=0)
    deposited(author, mine)
    deposited(author, an_audit(tmp_path, "other-kind", control_count=0))
    theirs = fetched(runner, "other-kind", tmp_path / "theirs").directory
    for root, message in ((mine.root, "is an audit that was drawn there"), (theirs.root, "with another audit")):
        before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.name != "in-use"}
        with pytest.raises(ConflictError, match=message):
            fetched(runner, "kinds", root)
        assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(PreconditionError, match="was drawn here, and scores its answers itself"):
        submitted(runner, mine)
    with pytest.raises(PreconditionError, match="without its golds, and a deposit needs"):
        deposited(author, theirs)


def test_the_draw_is_drawn_again_from_the_frame_or_refused(author: Client, runner: Client, tmp_path: Path) -> None:
    """An author who chose the sample is found by whoever has the benchmark."""
    mine = an_audit(tmp_path, "drawn", control_count=0)
    deposited(author, mine)
    other = write_lines(tmp_path / "other.jsonl", [parent_line(number) for number in range(5)])
    with pytest.raises(IntegrityError, match="is not the one that audit 'drawn' was drawn from"):
        fetched(runner, "drawn", tmp_path / "theirs", frame=other)
    assert not (tmp_path / "theirs").exists()
    assert not fetched(runner, "drawn", tmp_path / "theirs").is_drawn_again
    whole = mine.root.parent / "frame.jsonl"
    assert "fresh" in whole.read_text() and whole.read_text() != mine.frame.read_text()  # rewrites stand beside it
    assert fetched(runner, "drawn", tmp_path / "theirs", frame=whole).is_drawn_again
    assert fetched(runner, "drawn", tmp_path / "theirs", frame=mine.frame).is_drawn_again


class Wire:
    """A client between whose server and whose user somebody changes what is said."""

    def __init__(self, client: Client, **audits: Any) -> None:
        self.server = client.server
        self.audits = _Changed(client.audits, audits)

    def as_client(self) -> Client:
        """Say that it is one; it has all that the flows ask of it."""
        return cast(Client, self)


class _Changed:
    def __init__(self, whole: Any, changed: dict[str, Any]) -> None:
        self._whole, self._changed = whole, changed

    def __getattr__(self, name: str) -> Any:
        return self._changed.get(name) or getattr(self._whole, name)


def test_a_form_changed_on_the_way_is_refused(author: Client, runner: Client, tmp_path: Path) -> None:
    """So is a bank in the place of another, a registration of another key, and one that was cut off."""
    deposited(author, an_audit(tmp_path, "wired"))
    deposited(author, an_audit(tmp_path, "swapped"))
    audits = runner.audits

    def of_other(bank: str, *, holder_key: bytes) -> Any:
        return audits.forms(bank.replace("wired", "swapped"), holder_key=holder_key)

    def cut(bank: str, *, holder_key: bytes) -> Any:
        return [replace(piece, is_last=False) for piece in audits.forms(bank, holder_key=holder_key)]

    def other_key(name: str) -> Any:
        return replace(audits.get(name), author_key=b"1" * 32)

    def other_audit(name: str) -> Any:
        return replace(audits.get("audits/swapped"), name=name)

    for changes, message in (
        ({"forms": of_other}, "cannot be opened"),
        ({"forms": cut}, "cannot be opened"),
        ({"get": other_key}, "another key signed it"),
        ({"get": other_audit}, "has under 'audits/wired' the registration of 'swapped'"),
    ):
        with pytest.raises(IntegrityError, match=message):
            fetched(Wire(runner, **changes).as_client(), "wired", tmp_path / "theirs")
        assert not (tmp_path / "theirs").exists()


def test_a_form_changed_in_the_directory_is_neither_answered_nor_submitted(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """Its answers would be scored as answers to what was locked."""
    deposited(author, an_audit(tmp_path, "edited", control_count=0))
    theirs = fetched(runner, "edited", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    edit_bank(theirs, lambda lines: lines[0]["fresh"][0].update(text="How many are left of the 40?"))
    for do in (lambda: answer(theirs, roles=(BankRole.AUDIT,)), lambda: submitted(runner, theirs)):
        with pytest.raises(IntegrityError, match="was changed after the lock"):
            do()
    assert runner.audits.chunks(answer_set_name("edited", "registered", "audit", "tiny")) == {}


def test_a_deposit_key_that_the_server_did_not_sign_gets_nothing(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """Whoever swaps it could read the forms, or the answers."""
    mine = an_audit(tmp_path, "key-swapped", control_count=0)
    swapped = replace(author.audits.deposit_key(), public_key=b"2" * 32)
    with pytest.raises(IntegrityError, match=r"deposit key .* is not the one that its statement names"):
        deposited(Wire(author, deposit_key=lambda: swapped).as_client(), mine)
    resigned = replace(swapped, statement=_resigned(swapped.statement, public_key=(b"2" * 32).hex()))
    with pytest.raises(IntegrityError, match="another key signed it"):
        deposited(Wire(author, deposit_key=lambda: resigned).as_client(), mine)
    with pytest.raises(NotFoundError):
        author.audits.get("audits/key-swapped")
    deposited(author, mine)
    theirs = fetched(runner, "key-swapped", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    with pytest.raises(IntegrityError, match="another key signed it"):
        submitted(Wire(runner, deposit_key=lambda: resigned).as_client(), theirs)
    assert runner.audits.chunks(answer_set_name("key-swapped", "registered", "audit", "tiny")) == {}


def _resigned(signed: SignedStatement, **facts: Any) -> SignedStatement:
    """Say something else in a statement's form, and sign it with a key of one's own."""
    kind = Predicate(json.loads(signed.payload)["predicateType"])
    payload = statement(
        kind, subject="deposit-key", digest=b"1" * 32, predicate=predicate_of(signed.payload, kind) | facts
    )
    key = Ed25519PrivateKey.generate()
    return SignedStatement(payload, key.sign(signed_bytes(payload)), key.public_key().public_bytes_raw())


@contextmanager
def _refused(directory: AuditDirectory, message: str) -> Iterator[None]:
    """Expect a refusal that files nothing."""
    before = directory.ledger.read_bytes()
    with pytest.raises(IntegrityError, match=message):
        yield
    assert directory.ledger.read_bytes() == before
    assert scores_of(directory) == {}
    assert not directory.released().exists()


def test_scores_that_the_server_did_not_sign_as_they_are_are_not_filed(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """A wrong signature, digest, bank, model, variant or set of answers: nothing of it comes into the directory."""
    deposited(author, an_audit(tmp_path, "forged"))
    theirs = fetched(runner, "forged", tmp_path / "theirs").directory
    answer(theirs)
    with pytest.raises(ConnectionError):
        submitted(Wire(runner, scores=_unreachable).as_client(), theirs)
    honest = runner.audits.scores("audits/forged/variants/registered")
    key = Ed25519PrivateKey.generate()
    first, *rest = honest.files

    def with_files(*files: Any) -> ReleasedScores:
        return replace(honest, files=files)

    other_key = SignedStatement(
        honest.statement.payload,
        key.sign(signed_bytes(honest.statement.payload)),
        key.public_key().public_bytes_raw(),
    )
    payload = honest.statement.payload.replace(b'"L2"', b'"L1"')
    forgeries: dict[str, ReleasedScores] = {
        "another key signed it": replace(honest, statement=other_key),
        "its signature does not hold": replace(honest, statement=replace(honest.statement, payload=payload)),
        "not the file that the server signed": with_files(
            replace(first, content=first.content.replace(b'"original":1.0', b'"original":0.0')), *rest
        ),
        "are not those of every registered model and bank": with_files(*rest),
    }
    for message, scores in forgeries.items():
        with _refused(theirs, message):
            submitted(Wire(runner, scores=lambda _, scores=scores: scores).as_client(), theirs)
    assert submitted(runner, theirs).released is not None
    assert len(scores_of(theirs)) == 2


def _unreachable(_: str) -> ReleasedScores:
    raise ConnectionError


def test_a_receipt_of_other_answers_is_refused(author: Client, runner: Client, tmp_path: Path) -> None:
    """Whoever seals keeps the server's word on what; a word on something else is none."""
    deposited(author, an_audit(tmp_path, "receipts"))
    theirs = fetched(runner, "receipts", tmp_path / "theirs").directory
    answer(theirs)
    receipts: list[Any] = []

    def keep(answer_set: str, **settings: Any) -> Any:
        receipts.append(runner.audits.seal(answer_set, **settings))
        return replace(receipts[-1], receipt=receipts[0].receipt)

    with pytest.raises(IntegrityError, match=r"the receipt of '.*control/models/tiny' is of '.*audit/models/tiny'"):
        submitted(Wire(runner, seal=keep).as_client(), theirs)
    assert [entry.kind for entry in AuditLedger(theirs).entries()].count(EntryKind.SEAL) == 1


def test_every_refusal_is_one_line(author: Client, runner: Client, tmp_path: Path) -> None:
    """Whoever reads it at a terminal has the subject, the rule and the next step."""
    mine = an_audit(tmp_path, "one-line", control_count=0)
    for do in (lambda: submitted(runner, mine), lambda: fetched(runner, "no-such", tmp_path / "x")):
        with pytest.raises(LeakScaleError) as caught:
            do()
        assert "\n" not in str(caught.value)
