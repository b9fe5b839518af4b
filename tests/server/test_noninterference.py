"""Until something is disclosed, no history of calls tells two truths apart: over the wire, in the log, on any page.

`twins` says what the two servers share and what is compared, `histories` what clients do to them. Code, words, bytes,
metadata and order of every answer, the lines in the log, the page with metrics and the leaves of the ledger must be
the same after each call. Does not look at time, nor below gRPC.

A longer run, by `make noninterference`, draws forty times as many histories.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import hypothesis
import pytest
import structlog

from leakscale.commitments import truth_leaf
from leakscale.models import Family
from leakscale_server.attack.material import build_material
from leakscale_server.attack.victim import Arena
from leakscale_server.errors import NotFound
from leakscale_server.sandbox_pool import open_backend

from .helpers import CACHE
from .histories import HISTORIES, REQUESTS, Act, Scene, answered, certified, exposed
from .twins import Leak, RememberingPool, Tokens, Told, World, hiding, issue_tokens, twins
from .wire import METHODS, decoded

EXAMPLES = hypothesis.settings().max_examples // 4
DISCLOSE, RETIRE = "ExperimentService/DiscloseExperiment", "EditionService/RetireEdition"
Step = tuple[Act, Told, Told]


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Stage:
    """What every example begins with."""

    arena: Arena
    pool: RememberingPool
    tokens: Tokens
    families: tuple[Family, ...]

    def played(self, history: list[Act], *, leak: Leak = lambda _: None) -> Iterator[Step]:
        """Play a history to two servers, act by act."""
        scene = Scene(self.families)
        with twins(self.arena, self.pool, leak=leak) as worlds:
            for act in history:
                requests, token = scene.requests(act), self.tokens[act.who]
                one, other = (world.tell(act.method, requests, token=token) for world in worlds)
                scene.learn(act, one)
                yield act, one, other


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A private edition of 128 families a cell, the least that anything is disclosed over; and hiding commitments."""
    folder = tmp_path_factory.mktemp("arena")
    with pytest.MonkeyPatch.context() as patch, RememberingPool(open_backend("bubblewrap", state_dir=CACHE)) as pool:
        hiding(patch)
        material = build_material(1, shape_count=8)
        arena = Arena(material, folder)
        yield Stage(arena, pool, issue_tokens(folder / "frozen"), tuple(each.rings[0] for each in material.families))


def is_answered(told: Told) -> bool:
    return told.reply.code is grpc.StatusCode.OK


@hypothesis.settings(max_examples=EXAMPLES)
@hypothesis.given(history=HISTORIES)
def test_no_history_tells_two_truths_apart_until_the_first_disclosure(stage: Stage, history: list[Act]) -> None:
    """A server whose answers differ anywhere before has a way out for truth that no budget counts."""
    for act, one, other in stage.played(history):
        if act.method == DISCLOSE and is_answered(one):
            break
        if act.method == RETIRE and is_answered(one):
            assert as_retired(one) == as_retired(other), act
            break
        assert one == other, act


def as_retired(told: Told) -> Told:
    """Leave out what a retirement opens by design: the statement of the openings, and its entry in the ledger."""
    (message,) = told.reply.messages
    answer = decoded(RETIRE, message)
    answer.edition.ClearField("retirement_statement")
    reply = dataclasses.replace(told.reply, messages=(answer.SerializeToString(),))
    return dataclasses.replace(told, reply=reply, leaves=told.leaves[:-1])


WHOLE_WAY = [
    *certified("author/north", 1),
    *certified("admin/south", 2, is_practice=True),
    *exposed("south"),
    *exposed("south", approver="author/north", edition=1),
    *answered("auditor/north", 0, place=1),
    Act("auditor/north", "BankService/GetBank"),
    Act("auditor/north", "BankService/ListChunks"),
    *(Act("admin/author", method) for method in sorted(REQUESTS) if method not in (DISCLOSE, RETIRE)),
    *(Act("admin/south", method, 2) for method in sorted(REQUESTS) if method not in (DISCLOSE, RETIRE)),
    *(Act("admin/north", method, 1) for method in sorted(REQUESTS) if method not in (DISCLOSE, RETIRE)),
]
NOT_BEFORE_THE_END = {DISCLOSE, RETIRE, "EditionService/ListOpenings"}
OF_AUDITS = {name for name in METHODS if name.startswith("AuditService/")}
"""What is secret there is no association: see test_audit_secrecy.py."""


def test_the_whole_way_up_to_the_first_disclosure_is_the_same(stage: Stage) -> None:
    """Histories that end at a refusal compare little: here every method that tells nothing succeeds at least once."""
    steps = list(stage.played(WHOLE_WAY))

    assert [act for act, one, other in steps if one != other] == []
    assert {act.method for act, one, _ in steps if is_answered(one)} == set(METHODS) - NOT_BEFORE_THE_END - OF_AUDITS


@pytest.mark.parametrize("experiment", [0, 1])
def test_the_first_disclosure_tells_them_apart(stage: Stage, experiment: int) -> None:
    """Two servers with one truth would pass every comparison."""
    history = [*answered("auditor/north", experiment), Act("auditor/north", DISCLOSE, experiment)]
    *before, (_, one, other) = stage.played(history)

    assert all(is_answered(first) and first == second for _, first, second in before)
    assert is_answered(one)
    assert one.reply.messages != other.reply.messages
    assert dataclasses.replace(one.reply, messages=()) == dataclasses.replace(other.reply, messages=())
    assert (one.log, one.page) == (other.log, other.page)


@pytest.mark.parametrize(("edition", "history"), [(0, []), (1, certified("author/author", 1))])
def test_a_retirement_opens_and_tells_nothing_else(stage: Stage, edition: int, history: list[Act]) -> None:
    """Root, phases, times and sizes were public before, and stay what they were."""
    *_, (_, one, other) = stage.played([*history, Act("author/author", RETIRE, edition)])

    assert is_answered(one)
    assert one.reply.messages != other.reply.messages
    assert as_retired(one) == as_retired(other)
    assert len(one.leaves) == len(other.leaves)


def wrapped(method: str, change: Callable[[World, Any, Any], Any]) -> Leak:
    """Change what a method answers: the leak is given the server, the answer and the call."""
    service, name = method.split("/")
    field = {"BankService": "banks", "EditionService": "editions", "GrantService": "grants"}[service]

    def leak(world: World) -> None:
        found = getattr(world.services, field)
        honest = getattr(found, name)
        setattr(found, name, lambda request, call: change(world, honest(request, call), call))

    return leak


def tell_in_a_trailer(world: World, answer: Any, call: Any) -> Any:
    call.context.set_trailing_metadata((("x-right", str(world.truth)),))
    return answer


def tell_in_front(world: World, answer: Any, call: Any) -> Any:
    call.context.send_initial_metadata((("x-right", str(world.truth)),))
    return answer


def tell_in_the_log(world: World, answer: Any, _call: Any) -> Any:
    structlog.get_logger().info("sealed", right=world.truth)
    return answer


def tell_in_the_ledger(world: World, answer: Any, call: Any) -> Any:
    world.ledger.append("noted", {"right": world.truth}, project=call.caller.project)
    return answer


def tell_by_an_error(world: World, answer: Any, _call: Any) -> Any:
    if world.truth % 2:
        raise NotFound("this bank does not exist")
    return answer


def tell_by_the_words(world: World, _answer: Any, _call: Any) -> Any:
    raise NotFound(f"family {world.truth} is missing")


def tell_by_the_order(world: World, answer: Any, _call: Any) -> Any:
    families = list(answer.families)[:: 1 if world.truth % 2 else -1]
    del answer.families[:]
    answer.families.extend(families)
    return answer


def tell_by_the_pieces(world: World, answer: Any, _call: Any) -> Any:
    pieces = list(answer)
    return iter([*pieces, pieces[-1]] if world.truth % 2 else pieces)


def tell_by_the_size(world: World, answer: Any, _call: Any) -> Any:
    for piece in answer:
        piece.sealed += bytes(world.truth)
        yield piece


def tell_on_the_page(world: World) -> None:
    world.observers.append(lambda ended: world.metrics.count(dataclasses.replace(ended, reason=str(world.truth))))


LEAKS: dict[str, Leak] = {
    "a trailer": wrapped("BankService/SealBank", tell_in_a_trailer),
    "initial metadata": wrapped("BankService/GetBank", tell_in_front),
    "a line in the log": wrapped("BankService/SealBank", tell_in_the_log),
    "an entry in the ledger": wrapped("BankService/SealBank", tell_in_the_ledger),
    "a code": wrapped("BankService/ListChunks", tell_by_an_error),
    "the words of an error": wrapped("BankService/ListChunks", tell_by_the_words),
    "an order": wrapped("EditionService/ListFamilies", tell_by_the_order),
    "how many pieces": wrapped("EditionService/DownloadEdition", tell_by_the_pieces),
    "the size of a sealed piece": wrapped("GrantService/RedeemGrant", tell_by_the_size),
    "a label on the page": tell_on_the_page,
}


@pytest.mark.parametrize("kind", LEAKS)
def test_a_server_that_tells_is_caught(stage: Stage, kind: str) -> None:
    """The comparison is not blind: one bit of one association, told in any of these ways, is seen."""
    history = [
        *exposed("south"),
        *answered("auditor/north", 0),
        Act("auditor/north", "BankService/GetBank"),
        Act("auditor/north", "BankService/ListChunks"),
        Act("nobody", "EditionService/GetEdition"),
        Act("trainer/south", "EditionService/ListFamilies", second=7),
        Act("trainer/south", "EditionService/DownloadEdition"),
    ]

    assert any(one != other for _, one, other in stage.played(history, leak=LEAKS[kind]))


def test_commitments_that_do_not_hide_are_caught(stage: Stage) -> None:
    """What is taken for granted of a commitment is all that is taken for granted of a freeze."""
    with pytest.MonkeyPatch.context() as patch:
        hiding(patch, truth_leaf)
        *before, (_, one, other) = stage.played(certified("author/north", 1))

    assert is_answered(one)
    assert one.reply.messages != other.reply.messages
    assert any(first != second for _, first, second in before)
