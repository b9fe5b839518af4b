"""What passes between the API process and the scorer: frames, messages, faults, and several calls at once."""

from __future__ import annotations

import inspect
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.sealing import SealedPiece
from leakscale_server.core.building.families import FamilySlot
from leakscale_server.core.edition_keys import first_key
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.errors import FAULTS, Internal, ServerFault, Unavailable
from leakscale_server.scorer.audits.contract import AuditScoring
from leakscale_server.scorer.audits.scorer import AuditScorer
from leakscale_server.scorer.contract import (
    FamilyOrder,
    FamilyOutcome,
    Scoring,
    SealedBank,
    ShapeText,
    SignedPayload,
)
from leakscale_server.scorer.operations import OPERATIONS, decode_fault, encode_fault
from leakscale_server.scorer.scorer import Scorer
from leakscale_server.scorer.wire import BODY_BYTES_MAX, Frame, FrameKind, WireError, read_frame, write_frame
from leakscale_server.scorer_process.audit_calls import AuditCalls
from leakscale_server.scorer_process.connection import Connection
from leakscale_server.scorer_process.process import ScorerProcess

HEAD = struct.Struct(">IQB")


@contextmanager
def a_pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


@given(call_id=st.integers(0, 2**64 - 1), kind=st.sampled_from(FrameKind), body=st.binary(max_size=4096))
def test_a_frame_arrives_as_it_was_sent(call_id: int, kind: FrameKind, body: bytes) -> None:
    frame = Frame(call_id, kind, body)
    with a_pair() as (one, other):
        write_frame(one, frame)
        write_frame(one, frame)
        one.shutdown(socket.SHUT_WR)

        assert [read_frame(other), read_frame(other), read_frame(other)] == [frame, frame, None]


@pytest.mark.parametrize("cut", [1, 12, 13, 17])
def test_half_a_frame_is_no_end(cut: int) -> None:
    """A scorer that was killed in mid-answer has not answered."""
    with a_pair() as (one, other):
        one.sendall((HEAD.pack(5, 1, FrameKind.ANSWER) + b"hello")[:cut])
        one.shutdown(socket.SHUT_WR)

        with pytest.raises(WireError, match="the other side is gone after"):
            read_frame(other)


@pytest.mark.parametrize("head", [HEAD.pack(BODY_BYTES_MAX + 1, 1, 3), HEAD.pack(1, 1, 0), HEAD.pack(1, 1, 9)])
def test_a_head_that_makes_no_sense_is_refused_before_its_body(head: bytes) -> None:
    """Else one flipped bit would have us reserve gigabytes."""
    with a_pair() as (one, other):
        one.sendall(head)

        with pytest.raises(WireError, match="a head announces"):
            read_frame(other)


def test_a_body_that_is_too_long_is_refused_where_it_was_made() -> None:
    with a_pair() as (one, _), pytest.raises(WireError, match="is longer than"):
        write_frame(one, Frame(1, FrameKind.ANSWER, bytes(BODY_BYTES_MAX + 1)))


def test_every_method_of_the_contract_travels_and_is_answered() -> None:
    """A method that one side lacks would fail at its first call."""
    sides: dict[str, tuple[type, tuple[type, ...]]] = {
        "": (Scoring, (Scorer, ScorerProcess)),
        "audits.": (AuditScoring, (AuditScorer, AuditCalls)),
    }
    methods = {prefix: _methods(contract) for prefix, (contract, _) in sides.items()}

    assert {f"{prefix}{name}" for prefix, names in methods.items() for name in names} == OPERATIONS.keys()
    for prefix, (contract, both) in sides.items():
        for side in both:
            for name in methods[prefix]:
                wanted, found = inspect.signature(getattr(contract, name)), inspect.signature(getattr(side, name))
                assert found == wanted, f"{side.__name__}.{name}"


def _methods(contract: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(contract, inspect.isfunction) if not name.startswith("_")}


ANY_BYTES = bytes(range(256))
ORDER = FamilyOrder(
    first_key("e"), ShapeText("ä.toml", 'id = "x"\n'), FamilySlot("sql-x", Condition.C2, 3), 4, ANY_BYTES
)
BANK = SealedBank("sql-base", Domain.SQL, ModelState.BASE, Ring.R2, ANY_BYTES, bytes([0, 3, 255]))
REJECTION = Rejection(RejectionReason.PERFECT_COUNT, Ring.R1, candidate_position=1, equal_count=16, pair=("'a'", "'b'"))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("certify", FamilyOutcome("f-1", SignedPayload(ANY_BYTES, ANY_BYTES), None)),
        ("certify", FamilyOutcome("f-1", None, REJECTION)),
        ("commit", ANY_BYTES),
        ("corpus", SealedPiece(ANY_BYTES, is_last=True)),
        ("disclose", SignedPayload(b"", b"\xff\xfe")),
    ],
)
def test_an_answer_comes_back_as_it_was(name: str, answer: object) -> None:
    """Bytes of any kind, and every field of a rejection."""
    operation = OPERATIONS[name]

    assert operation.decode_answer(operation.encode_answer(answer)) == answer


def test_a_request_names_its_method_and_carries_its_arguments() -> None:
    name, _, body = OPERATIONS["certify"].encode_request(ORDER).partition(b"\n")

    assert name == b"certify"
    assert OPERATIONS["certify"].arguments.validate_json(body) == (ORDER,)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_every_fault_travels_as_its_class(fault: type[ServerFault]) -> None:
    """What the scorer ends a call with is what the caller of the server sees."""
    arrived = decode_fault(encode_fault(fault("a 'message'\n with ü", subject="editions/e")))

    assert type(arrived) is fault
    assert (arrived.message, arrived.subject) == ("a 'message'\n with ü", "editions/e")


def test_an_unknown_fault_is_internal() -> None:
    assert type(decode_fault(b'{"fault": "Other", "message": "m", "subject": ""}')) is Internal


def answer_backwards(channel: socket.socket, count: int) -> None:
    """Take some calls, and answer the last one first."""
    requests = [frame for _ in range(count) if (frame := read_frame(channel)) is not None]
    for request in reversed(requests):
        root = OPERATIONS["commit"].arguments.validate_json(request.body.partition(b"\n")[2])[0].encode()
        write_frame(channel, Frame(request.call_id, FrameKind.ANSWER, OPERATIONS["commit"].encode_answer(root)))


def test_calls_in_flight_get_each_its_own_answer() -> None:
    """Whatever the order in which they come: one caller's answer must never be another's."""
    with a_pair() as (ours, theirs):
        connection = Connection(ours)
        scorer = threading.Thread(target=answer_backwards, args=(theirs, 16))
        scorer.start()
        answers: dict[str, bytes] = {}

        def call(name: str) -> None:
            answers[name] = connection.ask(OPERATIONS["commit"], name, ())

        threads = [threading.Thread(target=call, args=(f"edition-{number}",)) for number in range(16)]
        for thread in [*threads, scorer]:
            if thread is not scorer:
                thread.start()
        for thread in [*threads, scorer]:
            thread.join(20)
        connection.close()

    assert answers == {f"edition-{number}": f"edition-{number}".encode() for number in range(16)}


def break_off(channel: socket.socket, pieces: list[SealedPiece]) -> None:
    """Answer a call with some items and a fault."""
    request = read_frame(channel)
    assert request is not None
    for piece in pieces:
        write_frame(channel, Frame(request.call_id, FrameKind.PART, OPERATIONS["corpus"].encode_answer(piece)))
    write_frame(channel, Frame(request.call_id, FrameKind.FAULT, encode_fault(Internal("the end"))))


def test_items_come_one_by_one_and_a_fault_among_them_is_raised() -> None:
    """A corpus that breaks off must not look complete."""
    pieces = [SealedPiece(bytes([number]), is_last=False) for number in range(3)]
    found: list[SealedPiece] = []
    with a_pair() as (ours, theirs):
        connection = Connection(ours)
        scorer = threading.Thread(target=break_off, args=(theirs, pieces))
        scorer.start()

        with pytest.raises(Internal, match="the end"):
            found.extend(connection.ask_items(OPERATIONS["corpus"], None))
        scorer.join(20)
        connection.close()

    assert found == pieces


@pytest.mark.parametrize("last_words", [b"", b"\0\0", HEAD.pack(100, 0, FrameKind.ANSWER) + b"half"])
def test_a_scorer_that_goes_leaves_no_caller_waiting(last_words: bytes) -> None:
    """Those that wait and those that come later hear at once that it is gone."""
    with a_pair() as (ours, theirs):
        connection = Connection(ours)
        told: list[ServerFault] = []

        def call() -> None:
            try:
                connection.ask(OPERATIONS["commit"], "e", ())
            except ServerFault as fault:
                told.append(fault)

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in threads:
            read_frame(theirs)
        theirs.sendall(last_words)
        theirs.close()
        for thread in threads:
            thread.join(20)
        call()

    assert [type(fault) for fault in told] == [Unavailable] * 5


def test_a_scorer_whose_server_ends_while_it_starts_ends_without_a_word() -> None:
    """A traceback would stand between the lines of the log."""
    ours, its = socket.socketpair()
    command = [sys.executable, "-m", "leakscale_server.scorer", str(its.fileno())]
    with subprocess.Popen(command, pass_fds=[its.fileno()], stderr=subprocess.PIPE, text=True) as scorer:
        its.close()
        write_frame(ours, Frame(1, FrameKind.REQUEST, b"open\n[]"))
        ours.close()
        _, said = scorer.communicate(timeout=120)

    assert (scorer.returncode, said) == (0, "")
