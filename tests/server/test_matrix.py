"""Every RPC × every kind of caller: the code that each gets. A method without a row fails."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from google.protobuf import json_format, message_factory
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from leakscale.client import Client
from leakscale_server.app import RunningServer
from leakscale_server.identity.methods import METHOD_SCOPES
from leakscale_server.identity.scopes import ROLE_SCOPES, Role
from leakscale_server.identity.token_registry import TokenRegistry
from leakscale_server.json_http.reply import HTTP_STATUSES
from leakscale_server.store.registry_tables import open_registry

from .deposited import a_locked, deposit
from .helpers import KEY, World, a_draft
from .wire import METHODS

OK, INVALID = grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT
DENIED = grpc.StatusCode.PERMISSION_DENIED
ABSENT, TOO_EARLY = grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION
DAY = timedelta(days=1)
NOBODIES = ("malformed", "unknown", "expired", "revoked")
ANSWERS = "/variants/registered/banks/audit/models/tiny"
KEY64 = base64.b64encode(KEY.public).decode()


@dataclass(frozen=True, slots=True)
class Row:
    """A call that changes nothing in the shared world."""

    request: Callable[[Facts], dict[str, Any]]
    own: grpc.StatusCode
    """What a caller with the scope gets, in the project that the world belongs to."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names in the shared world."""

    edition: str
    draft: str
    family: str
    grant: str
    experiment: str
    bank: str
    audit: str
    plan: dict[str, Any]


ROWS = {
    "ServerService/GetServerInfo": Row(lambda _: {}, OK),
    "LedgerService/GetLedgerHead": Row(lambda _: {}, OK),
    "LedgerService/ListLedgerEntries": Row(lambda _: {"page_size": 1}, OK),
    "LedgerService/GetInclusionProof": Row(lambda _: {"position": 0, "entry_count": 1}, OK),
    "LedgerService/GetConsistencyProof": Row(lambda _: {"first_entry_count": 1, "second_entry_count": 1}, OK),
    # A draft that the rules refuse: who may create one gets so far, and none is made.
    "EditionService/CreateEdition": Row(lambda _: {"edition_id": "No Id"}, INVALID),
    "EditionService/GetEdition": Row(lambda facts: {"name": facts.edition}, OK),
    "EditionService/ListEditions": Row(lambda _: {"page_size": 1}, OK),
    "EditionService/FreezeEdition": Row(lambda facts: {"name": facts.edition}, OK),
    "EditionService/ListFamilies": Row(lambda facts: {"edition": facts.edition, "page_size": 1}, OK),
    "EditionService/GetFamily": Row(lambda facts: {"name": facts.family}, OK),
    "EditionService/DownloadEdition": Row(lambda facts: {"name": facts.edition}, OK),
    # Retired, the shared world would be of no use any more: who may retire one hears that there is none.
    "EditionService/RetireEdition": Row(lambda _: {"name": "editions/none"}, ABSENT),
    "EditionService/ListOpenings": Row(lambda facts: {"edition": facts.edition}, TOO_EARLY),
    "CertificationService/CertifyFamilies": Row(
        lambda facts: {"edition": facts.edition, "shape_id": "sql-threshold", "condition": "CONDITION_C0"}, OK
    ),
    # Neither is done, by rules that are asked after the scope.
    "GrantService/RequestGrant": Row(lambda facts: {"edition": facts.edition, "request_id": "No Id"}, INVALID),
    "GrantService/ApproveGrant": Row(lambda facts: {"name": facts.grant, "lifetime": "1s"}, INVALID),
    "GrantService/GetGrant": Row(lambda facts: {"name": facts.grant}, OK),
    "GrantService/ListGrants": Row(lambda facts: {"edition": facts.edition, "page_size": 1}, OK),
    # The scope lets a caller redeem; this grant is somebody else's.
    "GrantService/RedeemGrant": Row(lambda facts: {"name": facts.grant, "request_id": "exposure"}, DENIED),
    "GrantService/TraceText": Row(lambda facts: {"edition": facts.edition, "text": "noise"}, OK),
    "ExperimentService/CreateExperiment": Row(lambda facts: facts.plan, OK),
    "ExperimentService/GetExperiment": Row(lambda facts: {"name": facts.experiment}, OK),
    # The world's is disclosed, so nothing can be taken back.
    "ExperimentService/WithdrawExperiment": Row(lambda facts: {"name": facts.experiment}, TOO_EARLY),
    "ExperimentService/DiscloseExperiment": Row(lambda facts: {"name": facts.experiment}, OK),
    "ExperimentService/GetBudget": Row(lambda facts: {"edition": facts.edition}, OK),
    "BankService/GetBank": Row(lambda facts: {"name": facts.bank}, OK),
    "BankService/ListChunks": Row(lambda facts: {"name": facts.bank}, OK),
    # A chunk without answers: who may submit some gets so far.
    "BankService/SubmitAnswers": Row(lambda facts: {"bank": facts.bank}, INVALID),
    "BankService/SealBank": Row(lambda facts: {"name": facts.bank, "request_id": "seal"}, OK),
    "AuditService/GetDepositKey": Row(lambda _: {}, OK),
    # No registration, no amendment, no chunk, no set to seal: who may do it gets so far.
    "AuditService/DepositAudit": Row(lambda _: {"audit_id": "none"}, INVALID),
    "AuditService/AmendAudit": Row(lambda facts: {"name": facts.audit}, INVALID),
    "AuditService/SubmitFormAnswers": Row(lambda facts: {"answer_set": f"{facts.audit}{ANSWERS}"}, INVALID),
    "AuditService/SealFormAnswers": Row(lambda facts: {"name": f"{facts.audit}{ANSWERS}"}, INVALID),
    "AuditService/GetAudit": Row(lambda facts: {"name": facts.audit}, OK),
    "AuditService/ListAudits": Row(lambda _: {"page_size": 1}, OK),
    "AuditService/FetchForms": Row(lambda facts: {"bank": f"{facts.audit}/banks/audit", "holder_key": KEY64}, OK),
    "AuditService/ListFormAnswerChunks": Row(lambda facts: {"name": f"{facts.audit}{ANSWERS}"}, OK),
    "AuditService/DownloadScores": Row(lambda facts: {"name": f"{facts.audit}/variants/registered"}, TOO_EARLY),
}


@dataclass(frozen=True, slots=True)
class Hidden:
    """A call about something of another project's, and the same call about nothing: with a name that nobody has."""

    request: Callable[[str], dict[str, Any]]
    name: Callable[[Facts], str]
    free: Callable[[str], str]
    """Makes of the name one of the same length that is free."""


def _mistyped(name: str) -> str:
    """Turn the last letter of a name's last id into another that stands in no name of the world."""
    return name[:-1] + ("0" if name[-1] != "0" else "1")


def _hidden(field: str, name: Callable[[Facts], str], **more: Any) -> Hidden:
    return Hidden(lambda value: {field: value, **more}, name, _mistyped)


def _part(field: str, part: str, **more: Any) -> Hidden:
    return Hidden(lambda value: {field: f"{value}{part}", **more}, lambda facts: facts.audit, _mistyped)


def _draft(facts: Facts) -> str:
    return facts.draft


HIDDEN = {
    "EditionService/GetEdition": _hidden("name", _draft),
    "EditionService/FreezeEdition": _hidden("name", _draft),
    "EditionService/RetireEdition": _hidden("name", _draft),
    "EditionService/ListOpenings": _hidden("edition", _draft),
    "EditionService/ListFamilies": _hidden("edition", _draft),
    "EditionService/DownloadEdition": _hidden("name", _draft),
    "EditionService/GetFamily": Hidden(
        lambda value: {"name": f"{value}/families/sql-threshold-c0-00"}, _draft, _mistyped
    ),
    "CertificationService/CertifyFamilies": _hidden(
        "edition", _draft, shape_id="sql-threshold", condition="CONDITION_C0"
    ),
    "GrantService/RequestGrant": _hidden("edition", _draft, request_id="r", holder_key=KEY64),
    "GrantService/ListGrants": _hidden("edition", _draft),
    "GrantService/TraceText": _hidden("edition", _draft, text="noise"),
    "GrantService/GetGrant": _hidden("name", lambda facts: facts.grant),
    "GrantService/ApproveGrant": _hidden("name", lambda facts: facts.grant, lifetime="3600s"),
    "GrantService/RedeemGrant": _hidden("name", lambda facts: facts.grant, request_id="exposure"),
    "ExperimentService/CreateExperiment": Hidden(
        lambda value: {
            "experiment_id": "x",
            "edition": value,
            "model_label": "m",
            "draw_count": 2,
            "resample_count": 200,
        },
        _draft,
        _mistyped,
    ),
    "ExperimentService/GetExperiment": _hidden("name", lambda facts: facts.experiment),
    "ExperimentService/WithdrawExperiment": _hidden("name", lambda facts: facts.experiment),
    "ExperimentService/DiscloseExperiment": _hidden("name", lambda facts: facts.experiment),
    "ExperimentService/GetBudget": _hidden("edition", _draft),
    "BankService/ListChunks": Hidden(
        lambda value: {"name": f"{value}/banks/sql-base"}, lambda facts: facts.experiment, _mistyped
    ),
    "BankService/GetBank": Hidden(
        lambda value: {"name": f"{value}/banks/sql-base"}, lambda facts: facts.experiment, _mistyped
    ),
    "BankService/SubmitAnswers": Hidden(
        lambda value: {"bank": f"{value}/banks/sql-base"}, lambda facts: facts.experiment, _mistyped
    ),
    "BankService/SealBank": Hidden(
        lambda value: {"name": f"{value}/banks/sql-base", "request_id": "seal"},
        lambda facts: facts.experiment,
        _mistyped,
    ),
    "AuditService/GetAudit": _hidden("name", lambda facts: facts.audit),
    "AuditService/AmendAudit": _hidden("name", lambda facts: facts.audit),
    "AuditService/FetchForms": _part("bank", "/banks/audit", holder_key=KEY64),
    "AuditService/ListFormAnswerChunks": _part("name", ANSWERS),
    "AuditService/SubmitFormAnswers": _part("answer_set", ANSWERS),
    "AuditService/SealFormAnswers": _part("name", ANSWERS),
    "AuditService/DownloadScores": _part("name", "/variants/registered"),
}
"""What each method could tell of another project's. The others tell nothing of a project, or make what is new."""

NOTHING_HIDDEN = {
    "ServerService/GetServerInfo",
    "LedgerService/GetLedgerHead",
    "LedgerService/ListLedgerEntries",  # leaves alone, of entries that are another project's: see test_ledger.py
    "LedgerService/GetInclusionProof",
    "LedgerService/GetConsistencyProof",
    "EditionService/CreateEdition",
    "EditionService/ListEditions",
    "AuditService/GetDepositKey",
    "AuditService/DepositAudit",  # an id is a project's own
    "AuditService/ListAudits",  # see test_audits.py
}


@pytest.fixture(scope="module")
def facts(world: World, client: Client, tmp_path_factory: pytest.TempPathFactory) -> Facts:
    plan = world.experiment.plan
    return Facts(
        edition=world.edition.name,
        draft=a_draft(client, "matrix-draft-a").name,
        family=world.outcomes[0].family,
        grant=client.grants.request(
            world.edition.name, holder_key=KEY.public, request_id="exposure", preservation_count=3
        ).name,
        experiment=world.experiment.name,
        bank=world.experiment.banks[0].name,
        audit=deposit(client, a_locked(tmp_path_factory.mktemp("matrix"), "matrix-audit-a")).name,
        plan={
            "experiment_id": plan.experiment_id,
            "edition": plan.edition,
            "model_label": plan.model_label,
            "draw_count": plan.draw_count,
            "resample_count": plan.resample_count,
        },
    )


@pytest.fixture(scope="module")
def tokens(server: RunningServer, data_dir: Path) -> dict[str, str]:
    """A token of every kind, made as `leakscale-server token` makes them."""
    with closing(open_registry(data_dir)) as registry:
        registered = TokenRegistry(registry)

        def issued(role: Role, lifetime: timedelta = DAY) -> str:
            return registered.create(principal="matrix", project="default", role=role, lifetime=lifetime).text

        revoked = registered.create(principal="matrix", project="default", role=Role.ADMIN, lifetime=DAY)
        registered.revoke(revoked.stored.caller.token_id)
        return {
            "none": "",
            "unknown": "lsk_" + "0" * 12 + "_" + "0" * 64,
            "malformed": "lsk_0",
            "expired": issued(Role.ADMIN, timedelta(microseconds=1)),
            "revoked": revoked.text,
            "elsewhere": registered.create(principal="matrix", project="elsewhere", role=Role.ADMIN, lifetime=DAY).text,
            **{role.value: issued(role) for role in Role},
        }


@pytest.fixture(scope="module")
def channel(server: RunningServer) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(server.target) as channel:
        yield channel


def exchange(channel: grpc.Channel, name: str, request: dict[str, Any], token: str) -> Any:
    """Call a method by its name; return the answer, or the error as an exception."""
    method = METHODS[name]
    message = json_format.ParseDict(request, message_factory.GetMessageClass(method.input_type)())
    metadata = [("authorization", f"Bearer {token}")] if token else []
    make: Any = {
        (False, False): channel.unary_unary,
        (False, True): channel.unary_stream,
        (True, False): channel.stream_unary,
        (True, True): channel.stream_stream,
    }[method.client_streaming, method.server_streaming]
    rpc = make(
        f"/{method.containing_service.full_name}/{method.name}",
        response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
    )
    sent: Any = iter([message.SerializeToString()]) if method.client_streaming else message.SerializeToString()
    try:
        answer = rpc(sent, metadata=metadata, timeout=60)
        return list(answer) if method.server_streaming else answer
    except grpc.RpcError as error:
        return error


def call(channel: grpc.Channel, name: str, request: dict[str, Any], token: str) -> Any:
    """Call a method by its name; return the error, or None."""
    answer = exchange(channel, name, request, token)
    return answer if isinstance(answer, grpc.RpcError) else None


def outcome(channel: grpc.Channel, name: str, request: dict[str, Any], token: str) -> tuple[grpc.StatusCode, str]:
    """Call a method by its name; return the code and the reason of an error."""
    error = call(channel, name, request, token)
    return (OK, "") if error is None else (error.code(), reason_of(error))


def status_of(error: Any) -> bytes:
    status = rpc_status.from_call(error)
    assert status is not None, error
    return bytes(status.SerializeToString(deterministic=True))


def reason_of(error: Any) -> str:
    info = error_details_pb2.ErrorInfo()
    status = rpc_status.from_call(error)
    assert status is not None, error
    assert any(detail.Unpack(info) for detail in status.details if detail.Is(info.DESCRIPTOR))
    return str(info.reason).removeprefix("ERROR_REASON_")


def test_every_method_of_the_wire_has_its_row() -> None:
    """A new method says here what each caller gets, or it is not done."""
    assert set(ROWS) == set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_each_caller_gets_the_code_that_its_token_earns(
    name: str, facts: Facts, tokens: dict[str, str], channel: grpc.Channel
) -> None:
    """Who is nobody learns that it is nobody; who lacks the scope learns that; and neither that anything exists."""
    row, scope = ROWS[name], METHOD_SCOPES[f"/leakscale.v1.{name}"]
    expected = {
        "none": (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MISSING"),
        **dict.fromkeys(NOBODIES, (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_REFUSED")),
        **{role.value: (grpc.StatusCode.PERMISSION_DENIED, "SCOPE_MISSING") for role in Role},
        **{role.value: (row.own, "") for role in Role if scope in ROLE_SCOPES[role]},
    }
    found = {kind: outcome(channel, name, row.request(facts), tokens[kind]) for kind in expected}

    assert {kind: code for kind, (code, _) in found.items()} == {kind: code for kind, (code, _) in expected.items()}
    assert {kind: found[kind] for kind, (_, reason) in expected.items() if reason} == {
        kind: each for kind, each in expected.items() if each[1]
    }
    assert {kind for kind, (code, _) in found.items() if code is row.own} >= {Role.ADMIN.value}


@pytest.mark.parametrize(
    "name", ["ServerService/GetServerInfo", "GrantService/RedeemGrant", "BankService/SubmitAnswers"]
)
def test_why_a_token_is_refused_is_not_told(
    name: str, facts: Facts, tokens: dict[str, str], channel: grpc.Channel
) -> None:
    """A guess learns nothing of which ids there are and which have ended; who sent no token reads the same words."""
    errors = {kind: call(channel, name, ROWS[name].request(facts), tokens[kind]) for kind in (*NOBODIES, "none")}

    assert len({status_of(errors[kind]) for kind in NOBODIES}) == 1
    assert len({error.details() for error in errors.values()}) == 1


def posted(server: RunningServer, name: str, request: dict[str, Any], token: str) -> httpx.Response:
    """Call a method by its name, as JSON over HTTP."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx.post(f"http://{server.http_target}/leakscale.v1.{name}", json=request, headers=headers, timeout=60)


def same_as(answer: Any) -> tuple[int, Any]:
    """Return HTTP status and body that say what gRPC said."""
    if not isinstance(answer, grpc.RpcError):
        return 200, json_format.MessageToDict(answer)
    status: Any = status_pb2.Status.FromString(status_of(answer))
    code = code_pb2.Code.Name(status.code).lower()
    details = [(each.TypeName(), base64.b64encode(each.value).decode().rstrip("=")) for each in status.details]
    return HTTP_STATUSES[code], {"code": code, "message": status.message, "details": details}


@pytest.mark.parametrize("name", METHODS)
def test_json_over_http_says_what_grpc_says(
    name: str, facts: Facts, tokens: dict[str, str], channel: grpc.Channel, server: RunningServer
) -> None:
    """One gate and one handler: neither way tells more, takes more, or refuses in other words."""
    method, request = METHODS[name], ROWS[name].request(facts)
    if method.client_streaming or method.server_streaming:
        refused = posted(server, name, request, tokens["admin"])
        assert (refused.status_code, refused.json()["code"]) == (501, "unimplemented")
        assert "call it by gRPC" in refused.json()["message"]
        return
    for kind, token in tokens.items():
        by_http = posted(server, name, request, token)
        body = by_http.json()
        if by_http.status_code != 200:
            body["details"] = [(each["type"], each["value"]) for each in body["details"]]

        assert (by_http.status_code, body) == same_as(exchange(channel, name, request, token)), kind


def test_every_method_says_what_it_could_tell_of_another_project() -> None:
    """A new method is on one of the two lists, or it is not done."""
    assert set(HIDDEN) | NOTHING_HIDDEN == set(METHODS)
    assert set(HIDDEN).isdisjoint(NOTHING_HIDDEN)


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_another_projects_does_not_exist(
    name: str, facts: Facts, tokens: dict[str, str], channel: grpc.Channel
) -> None:
    """The status is the same to the byte whether somebody has the name or nobody; an admin's is no exception."""
    row = HIDDEN[name]
    taken = row.name(facts)
    free = row.free(taken)
    theirs, nobodys = (call(channel, name, row.request(each), tokens["elsewhere"]) for each in (taken, free))

    assert nobodys.code() is ABSENT
    assert theirs.code() is ABSENT
    taken_id, free_id = (each.rpartition("/")[2].encode() for each in (taken, free))
    assert status_of(theirs).replace(taken_id, free_id) == status_of(nobodys)
    # The attack is one: for its own project the name is there.
    own = call(channel, name, row.request(taken), tokens["admin"])
    assert own is None or own.code() is not ABSENT or taken_id not in status_of(own)


def test_drafts_of_another_project_are_not_listed(facts: Facts, tokens: dict[str, str], server: RunningServer) -> None:
    """A list is the easiest way of all to learn what exists."""
    with Client(server.target, token=tokens["elsewhere"]) as stranger, Client(server.target, token=server.token) as own:
        assert facts.draft in {edition.name for edition in own.editions.list()}
        names = {edition.name for edition in stranger.editions.list()}

    assert facts.edition in names
    assert facts.draft not in names


def test_every_write_says_by_what_it_is_known_again() -> None:
    """The SDK repeats a call whose answer was lost: the server must see that it is the same one."""
    for name, method in METHODS.items():
        scope = METHOD_SCOPES[f"/leakscale.v1.{name}"]
        if scope.is_read or method.client_streaming or method.server_streaming:
            continue
        fields = {field.name for field in method.input_type.fields}
        assert fields & {"request_id", "edition_id", "experiment_id", "name"} or name == "GrantService/TraceText", name
