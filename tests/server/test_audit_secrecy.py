"""Until scores leave, no history of calls tells two audits apart that differ in their golds alone.

Two servers hold deposits of one registration whose golds differ in every parent, in length too. A commitment hides
golds under a nonce that never leaves; that SHA-256 keeps it is taken for granted, so both commit to nothing. Code,
words, bytes, metadata and order of every answer, the log, the page with metrics and the leaves of the ledger must be
the same after each call; of what is sealed under a fresh key each time, its size. Does not look at time.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import grpc
import hypothesis
import pytest
import structlog
from google.protobuf.message import Message
from hypothesis import strategies as st
from tests.audit.registration.builders import NOW

from leakscale.audit.directory import BankRole
from leakscale.audit.forms import FormBank
from leakscale.audit.registration import amend_audit
from leakscale.audit.remote.chunks import answer_chunks
from leakscale.audit.remote.names import answer_set_name
from leakscale.sealing import HolderKey
from leakscale.v1 import audit_service_pb2
from leakscale_server.errors import NotFound
from leakscale_server.sandbox_pool import SandboxPool
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Vault

from .audit_bench import VAULT_KEY
from .deposited import MODELS, SALT, Locked, a_locked, answers_to, right, sealed_chunk, with_golds, wrong
from .helpers import KEY
from .twins import PROJECTS, WHO, Told, World, issue_tokens
from .wire import METHODS, decoded

EXAMPLES = hypothesis.settings().max_examples // 4
SCORES = "AuditService/DownloadScores"
OTHER_GOLD = "123456789"
DEPOSIT_KEY = HolderKey(b"d" * 32)
Leak = Callable[[World], None]
SETS = [
    answer_set_name("demo", variant, role, model)
    for variant in ("registered", "amendment-1")
    for role in (*BankRole, "none")
    for model in MODELS
]


@dataclass(frozen=True, slots=True)
class Act:
    """One call: who, which method, and two numbers that its request is made of."""

    who: str
    method: str
    first: int = 0
    second: int = 0


class _NoSandboxes:
    """No family is certified here."""

    lane_count = 1
    identity = SimpleNamespace(backend="none", image_digest="")


@dataclass(frozen=True, slots=True, repr=False)
class Stage:
    """What every example begins with: an audit, the same with other golds, and a data folder for both servers."""

    folder: Path
    tokens: Mapping[str, str]
    one: Locked
    other: Locked
    amendment: bytes

    def played(
        self, history: list[Act], *, leak: Callable[[World], None] = lambda _: None
    ) -> Iterator[tuple[Act, Told, Told]]:
        """Play a history to two servers, act by act."""
        with ExitStack() as stack:
            worlds = []
            for number in range(2):
                copy = self.folder.parent / f"copy-{number}"
                shutil.copytree(self.folder, copy)
                stack.callback(shutil.rmtree, copy)
                pool = cast(SandboxPool, _NoSandboxes())
                worlds.append(stack.enter_context(closing(World(copy, pool, is_moved=False, leak=leak))))
            for act in history:
                told = [
                    _outside(act, world.tell(act.method, self.requests(act, locked), token=self.tokens[act.who]))
                    for world, locked in zip(worlds, (self.one, self.other), strict=True)
                ]
                yield act, told[0], told[1]

    def requests(self, act: Act, locked: Locked) -> list[Message]:
        """Write the messages of an act; a deposit alone depends on the golds."""
        return REQUESTS[act.method](self, locked, act.first, act.second)


def _outside(act: Act, told: Told) -> Told:
    """Leave of forms what is seen of them from outside."""
    if act.method != "AuditService/FetchForms":
        return told
    pieces = [decoded(act.method, message) for message in told.reply.messages]
    seen = tuple(f"{len(piece.sealed)} bytes, last: {piece.is_last}".encode() for piece in pieces)
    return dataclasses.replace(told, reply=dataclasses.replace(told.reply, messages=seen))


def _deposit(_stage: Stage, locked: Locked, first: int, _second: int) -> list[Message]:
    head = {"audit_id": "demo", "registration": locked.registration, "author_key": locked.author_key}
    pieces = list(locked.pieces(DEPOSIT_KEY.public))
    return [
        audit_service_pb2.DepositAuditRequest(
            sealed=piece.sealed,
            is_last=piece.is_last,
            **(head if number == 0 else {}),  # type: ignore[arg-type]
        )
        for number, piece in enumerate(pieces[: len(pieces) - first % 2])
    ]


def _chunks(stage: Stage, _locked: Locked, first: int, second: int) -> list[Message]:
    """Answers that are right by the golds of the first, answers that are wrong by both, and some that fit no form."""
    name = SETS[first % len(SETS)]
    role = BankRole.CONTROL if "/banks/control/" in name else BankRole.AUDIT
    say = (right, wrong)[second % 2]
    answers = answers_to(stage.one.banks[role], say)
    chosen = {0: answers, 1: answers[:3], 2: [*answers, answers[0]]}[second // 2 % 3]
    chunks = [sealed_chunk(name, chunk, deposit_key=DEPOSIT_KEY.public) for chunk in answer_chunks(chosen, salt=SALT)]
    return [
        audit_service_pb2.SubmitFormAnswersRequest(
            answer_set=name, number=chunk.number, digest=chunk.digest, sealed=chunk.sealed
        )
        for chunk in chunks
    ]


def _variant(number: int) -> str:
    return f"audits/demo/variants/{('registered', 'amendment-1')[number % 2]}"


REQUESTS: Mapping[str, Callable[[Stage, Locked, int, int], list[Any]]] = {
    "AuditService/GetDepositKey": lambda *_: [audit_service_pb2.GetDepositKeyRequest()],
    "AuditService/DepositAudit": _deposit,
    "AuditService/GetAudit": lambda _, __, first, ___: [
        audit_service_pb2.GetAuditRequest(name=("audits/demo", "audits/none")[first % 2])
    ],
    "AuditService/ListAudits": lambda *_: [audit_service_pb2.ListAuditsRequest()],
    "AuditService/AmendAudit": lambda stage, *_: [
        audit_service_pb2.AmendAuditRequest(name="audits/demo", amendment=stage.amendment)
    ],
    "AuditService/FetchForms": lambda _, __, first, ___: [
        audit_service_pb2.FetchFormsRequest(
            bank=f"audits/demo/banks/{('audit', 'control', 'none')[first % 3]}", holder_key=KEY.public
        )
    ],
    "AuditService/ListFormAnswerChunks": lambda _, __, first, ___: [
        audit_service_pb2.ListFormAnswerChunksRequest(name=SETS[first % len(SETS)])
    ],
    "AuditService/SubmitFormAnswers": _chunks,
    "AuditService/SealFormAnswers": lambda _, __, first, second: [
        audit_service_pb2.SealFormAnswersRequest(
            name=SETS[first % len(SETS)], chunk_count=1, request_id=f"seal-{second % 2}"
        )
    ],
    SCORES: lambda _, __, first, ___: [audit_service_pb2.DownloadScoresRequest(name=_variant(first))],
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("twins") / "data"
    folder.mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FormBank, "gold_commitment", lambda _bank, _nonce: "00" * 32)
        locked = a_locked(tmp_path_factory.mktemp("locked"))
        amend_audit(locked.directory, changes={"scoring.parser_formats": ["phrase"]}, reason="a test", now=NOW)
        amendment = locked.directory.ledger.read_bytes().splitlines()[-1]
        Signer.load_or_create(folder / "signing.key")
        with closing(Vault(folder, VAULT_KEY)) as vault:
            for project in PROJECTS:
                vault.keep_of_audit("deposit-key", f"@{project}", "one", DEPOSIT_KEY.private)
        tokens = issue_tokens(folder)
        yield Stage(folder, tokens, locked, with_golds(locked, lambda _: OTHER_GOLD), amendment)


def is_answered(told: Told) -> bool:
    return told.reply.code is grpc.StatusCode.OK


def answered(who: str, *, variant: int = 0, say: int = 0) -> list[Act]:
    """Answer and seal every set of a variant."""
    half = len(SETS) // 2
    sets = [variant * half + number for number in range(half - len(MODELS))]
    submitted = [Act(who, "AuditService/SubmitFormAnswers", number, say) for number in sets]
    return [*submitted, *(Act(who, "AuditService/SealFormAnswers", number) for number in sets)]


BEGUN = [Act("author/north", "AuditService/DepositAudit"), Act("author/north", "AuditService/AmendAudit")]
HISTORIES = st.lists(
    st.builds(
        Act,
        who=st.sampled_from(WHO),
        method=st.sampled_from(sorted(REQUESTS)),
        first=st.integers(0, len(SETS) - 1),
        second=st.integers(0, 5),
    ),
    max_size=12,
).map(lambda acts: [*BEGUN, *acts])
WHOLE_WAY = [
    *(Act(who, method) for who in ("admin/north", "nobody", "trainer/north") for method in sorted(REQUESTS)),
    *BEGUN,
    *(Act("auditor/north", "AuditService/FetchForms", number) for number in range(3)),
    *(Act("auditor/north", "AuditService/SubmitFormAnswers", 0, number) for number in (2, 4, 5, 3)),
    *answered("auditor/south"),
    *answered("admin/north", variant=1, say=1)[:3],
    *answered("auditor/north")[1:],
    *(Act("auditor/north", method) for method in sorted(REQUESTS) if method != SCORES),
    *(Act("admin/south", method) for method in sorted(REQUESTS)),
]


def test_the_golds_of_the_two_really_differ(stage: Stage) -> None:
    """Two deposits with one truth would pass every comparison."""
    golds = [
        [gold for parent in each.banks[BankRole.AUDIT].parents for gold in parent.golds]
        for each in (stage.one, stage.other)
    ]

    assert all(one != other and len(one) != len(other) for one, other in zip(*golds, strict=True))
    assert stage.one.registration == stage.other.registration


def test_deposits_have_one_size_whatever_the_golds_are(stage: Stage) -> None:
    """Whoever carries them sees how long they are."""
    sizes = [[len(piece.sealed) for piece in each.pieces(DEPOSIT_KEY.public)] for each in (stage.one, stage.other)]

    assert sizes[0] == sizes[1]
    assert len(sizes[0]) == 3


def test_the_whole_way_up_to_the_scores_is_the_same(stage: Stage) -> None:
    """Every method that tells nothing succeeds at least once, and is refused at least once."""
    steps = list(stage.played(WHOLE_WAY))

    assert [act for act, one, other in steps if one != other] == []
    assert {act.method for act, one, _ in steps if is_answered(one)} == set(REQUESTS) - {SCORES}
    assert {act.method for act, one, _ in steps if not is_answered(one)} == set(REQUESTS)
    assert set(REQUESTS) == {name for name in METHODS if name.startswith("AuditService/")}


@hypothesis.settings(max_examples=EXAMPLES)
@hypothesis.given(history=HISTORIES)
def test_no_history_tells_golds_apart_until_the_scores(stage: Stage, history: list[Act]) -> None:
    """A server whose answers differ anywhere before has a way out for golds."""
    for act, one, other in stage.played(history):
        if act.method == SCORES and is_answered(one):
            break
        assert one == other, act


def test_scores_tell_them_apart_and_nothing_else_does(stage: Stage) -> None:
    """As many bytes, one entry in the ledger, the same lines and metrics; and before, the audit looks the same."""
    history = [
        *BEGUN,
        *answered("auditor/north"),
        Act("auditor/north", SCORES),
        Act("author/north", "AuditService/GetAudit"),
    ]
    *before, (_, one, other), (_, after, after_other) = stage.played(history)

    assert all(is_answered(first) and first == second for _, first, second in before)
    assert is_answered(one)
    assert one.reply.messages != other.reply.messages
    assert list(map(len, one.reply.messages)) == list(map(len, other.reply.messages))
    assert dataclasses.replace(one.reply, messages=()) == dataclasses.replace(other.reply, messages=())
    assert (one.log, one.page, len(one.leaves)) == (other.log, other.page, len(other.leaves))
    assert after.reply == after_other.reply


def marks_of(world: World) -> int:
    """How many answers are right by what the vault of a server holds: what none of its answers may depend on."""
    query = "SELECT name FROM audits WHERE kind = 'marks' AND audit = 'demo@north'"
    names = [row["name"] for row in world.vault._database.rows(query)]
    contents = [world.vault.of_audit("marks", "demo@north", name) or b"" for name in names]
    return sum(sum(content[-len(content) // 5 :]) for content in contents)


def wrapped(name: str, change: Callable[[World, Any, Any], Any]) -> Leak:
    """Change what a method answers: the leak is given the server, the answer and the call."""

    def leak(world: World) -> None:
        honest = getattr(world.services.audits, name)
        setattr(world.services.audits, name, lambda request, call: change(world, honest(request, call), call))

    return leak


def tell_in_a_trailer(world: World, answer: Any, call: Any) -> Any:
    call.context.set_trailing_metadata((("x-right", str(marks_of(world))),))
    return answer


def tell_in_the_log(world: World, answer: Any, _call: Any) -> Any:
    structlog.get_logger().info("judged", right=marks_of(world))
    return answer


def tell_in_the_ledger(world: World, answer: Any, call: Any) -> Any:
    world.ledger.append("noted", {"right": marks_of(world)}, project=call.caller.project)
    return answer


def tell_in_the_receipt(world: World, answer: Any, _call: Any) -> Any:
    answer.answer_set.receipt.payload += bytes(marks_of(world))
    return answer


def tell_by_an_error(world: World, answer: Any, _call: Any) -> Any:
    if marks_of(world):
        raise NotFound("this answer set does not exist")
    return answer


def tell_by_the_size_of_forms(world: World, answer: Any, _call: Any) -> Any:
    for piece in answer:
        piece.sealed += bytes(marks_of(world))
        yield piece


LEAKS = {
    "a trailer": wrapped("GetAudit", tell_in_a_trailer),
    "a line in the log": wrapped("SubmitFormAnswers", tell_in_the_log),
    "an entry in the ledger": wrapped("SealFormAnswers", tell_in_the_ledger),
    "a receipt": wrapped("SealFormAnswers", tell_in_the_receipt),
    "a code": wrapped("ListFormAnswerChunks", tell_by_an_error),
    "the size of a sealed piece": wrapped("FetchForms", tell_by_the_size_of_forms),
}


@pytest.mark.parametrize("kind", LEAKS)
def test_a_server_that_tells_is_caught(stage: Stage, kind: str) -> None:
    """The comparison is not blind: how many answers are right, told in any of these ways, is seen."""
    history = [*BEGUN, *answered("auditor/north"), *(Act("auditor/north", method) for method in sorted(REQUESTS))]

    assert any(one != other for act, one, other in stage.played(history, leak=LEAKS[kind]) if act.method != SCORES)


def test_a_deposit_that_does_not_pad_is_caught(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes on the wire are what padding is for."""
    from leakscale.audit.remote import pieces

    monkeypatch.setattr(pieces, "padded_gold", lambda parent: parent.golds[0])
    sizes = [[len(piece.sealed) for piece in each.pieces(DEPOSIT_KEY.public)] for each in (stage.one, stage.other)]

    assert sizes[0] != sizes[1]
