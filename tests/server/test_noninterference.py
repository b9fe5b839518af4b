"""Until something is disclosed, no history of calls tells two truths apart: neither code, byte, word nor order.

Two servers hold one edition, to the byte: families, certificates, commitments, keys, ledger, clock and salts. Only the
associations in their vaults differ. The same calls go to both, through the services that the wire ends in.

Does not look at time, nor at what gRPC adds; the gate, whose log and metrics know method, code and caller alone, is
held by `test_operations.py`.
"""

from __future__ import annotations

import dataclasses
import itertools
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from leakscale.answers import chunks_of
from leakscale.models import Answer, Family
from leakscale.v1 import (
    bank_service_pb2,
    edition_service_pb2,
    enums_pb2,
    experiment_service_pb2,
    grant_service_pb2,
    ledger_service_pb2,
    resources_pb2,
)
from leakscale_server.attack.material import EDITION_ID, Material, build_material
from leakscale_server.attack.victim import Arena, Victim
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.methods import METHOD_SCOPES
from leakscale_server.identity.scopes import ROLE_SCOPES, Role
from leakscale_server.services.call import Call
from leakscale_server.services.editions import EditionService
from leakscale_server.services.experiments import BankService, ExperimentService
from leakscale_server.services.grants import GrantService
from leakscale_server.services.ledger import LedgerService
from leakscale_server.translation import to_fault

from .helpers import KEY

EDITION = f"editions/{EDITION_ID}"
EXPERIMENTS = ("one", "two")
BANKS = ("sql-base", "sql-adapted")
PROJECTS = ("author", "north", "south")
START = datetime(2030, 1, 1, tzinfo=UTC)
SCOPES = {method.rpartition("/")[2]: scope for method, scope in METHOD_SCOPES.items()}


@dataclass(frozen=True, slots=True)
class Act:
    """One call: who, which method, and two numbers that its request is made of."""

    role: Role
    project: str
    method: str
    first: int = 0
    second: int = 0


class World:
    """One of the two servers, with its services."""

    def __init__(self, victim: Victim) -> None:
        self._victim = victim
        self._families = victim.client(Role.AUDITOR).families()
        key = victim.signer.public_key
        unused: Any = None  # retiring opens every commitment: that is a disclosure
        self._services: list[Any] = [
            EditionService(victim.editions, unused, unused),
            ExperimentService(victim.experiments, victim.disclosing),
            BankService(victim.experiments),
            GrantService(victim.exposure),
            LedgerService(victim.ledger, public_key=key),
        ]

    def answer(self, act: Act) -> object:
        """Return everything that the caller of an act gets."""
        caller = Caller("t", f"{act.role}-{act.project}", act.project, act.role, ROLE_SCOPES[act.role])
        if SCOPES[act.method] not in caller.scopes:
            return "no scope"
        unused: Any = None
        method = next(getattr(each, act.method) for each in self._services if act.method in vars(type(each)))
        try:
            found = method(self._request(act), Call("request", caller, unused))
            if act.method == "RedeemGrant":
                # Sealed under a fresh key each time; how long the pieces are is for all to see.
                return [(len(each.sealed), each.is_last) for each in found]
            return [each.SerializeToString() for each in ([found] if hasattr(found, "DESCRIPTOR") else found)]
        except Exception as error:
            fault = to_fault(error)
            return type(fault).__name__, str(fault)

    def _request(self, act: Act) -> Any:
        name = f"experiments/{EXPERIMENTS[act.first % 2]}"
        bank = f"{name}/banks/{BANKS[act.second % 2]}"
        grants = self._victim.exposure.visible(EDITION_ID, self._victim.author())
        grant = grants[act.first % len(grants)].name if grants else f"{EDITION}/grants/g-none"
        family = self._families[act.first % len(self._families)]
        requests: dict[str, Callable[[], Any]] = {
            "GetEdition": lambda: edition_service_pb2.GetEditionRequest(name=EDITION),
            "ListFamilies": lambda: edition_service_pb2.ListFamiliesRequest(
                edition=EDITION, page_size=1 + act.first, ring=enums_pb2.RING_R0
            ),
            "GetFamily": lambda: edition_service_pb2.GetFamilyRequest(
                name=f"{EDITION}/families/{family.family_id}", ring=enums_pb2.RING_R0
            ),
            "DownloadEdition": lambda: edition_service_pb2.DownloadEditionRequest(name=EDITION),
            "CreateExperiment": lambda: experiment_service_pb2.CreateExperimentRequest(
                experiment_id=EXPERIMENTS[act.first % 2],
                edition=EDITION,
                draw_count=1,
                resample_count=100,
                rings=[enums_pb2.RING_R0],
                cohort_families_min=(128, 512)[act.second // 6],
            ),
            "GetExperiment": lambda: experiment_service_pb2.GetExperimentRequest(name=name),
            "DiscloseExperiment": lambda: experiment_service_pb2.DiscloseExperimentRequest(name=name),
            "GetBudget": lambda: experiment_service_pb2.GetBudgetRequest(edition=EDITION),
            "GetBank": lambda: bank_service_pb2.GetBankRequest(name=bank),
            "ListChunks": lambda: bank_service_pb2.ListChunksRequest(name=bank),
            "SubmitAnswers": lambda: self._answers(bank, act),
            "SealBank": lambda: bank_service_pb2.SealBankRequest(name=bank, request_id=f"seal-{act.first // 4}"),
            "RequestGrant": lambda: grant_service_pb2.RequestGrantRequest(
                edition=EDITION, preservation_count=4, request_id=f"r-{act.first}", holder_key=KEY.public
            ),
            "ApproveGrant": lambda: grant_service_pb2.ApproveGrantRequest(name=grant),
            "GetGrant": lambda: grant_service_pb2.GetGrantRequest(name=grant),
            "ListGrants": lambda: grant_service_pb2.ListGrantsRequest(edition=EDITION),
            "RedeemGrant": lambda: grant_service_pb2.RedeemGrantRequest(name=grant, request_id="redeem"),
            "TraceText": lambda: grant_service_pb2.TraceTextRequest(
                edition=EDITION, text=f"{family.key} {family.task}"
            ),
            "GetLedgerHead": ledger_service_pb2.GetLedgerHeadRequest,
            "ListLedgerEntries": ledger_service_pb2.ListLedgerEntriesRequest,
            "GetInclusionProof": lambda: ledger_service_pb2.GetInclusionProofRequest(
                position=act.first, entry_count=1 + act.second
            ),
            "GetConsistencyProof": lambda: ledger_service_pb2.GetConsistencyProofRequest(
                first_entry_count=act.first, second_entry_count=3
            ),
        }
        return requests[act.method]()

    def _answers(self, bank: str, act: Act) -> Iterator[bank_service_pb2.SubmitAnswersRequest]:
        """Answer one family, or the whole bank, with one place or with nothing valid."""
        families: Sequence[Family] = self._families if act.first >= 4 else self._families[act.first : act.first + 1]
        place = act.second // 2
        # Another place for each next family: every place is right as often as any other.
        texts = [each.candidates[(place + turn) % 4].answer if place < 4 else "" for turn, each in enumerate(families)]
        answers = [Answer(each.family_id, 0, text) for each, text in zip(families, texts, strict=True)]
        for number, (chunk, digest) in enumerate(chunks_of(answers)):
            yield bank_service_pb2.SubmitAnswersRequest(
                bank=bank,
                number=number + act.first % 4,
                digest=digest,
                answers=[
                    resources_pb2.Answer(family_id=each.family_id, draw=each.draw, text=each.text) for each in chunk
                ],
            )


METHODS = (
    *("GetEdition", "ListFamilies", "GetFamily", "DownloadEdition", "CreateExperiment", "GetExperiment"),
    *("DiscloseExperiment", "GetBudget", "GetBank", "ListChunks", "SubmitAnswers", "SealBank", "RequestGrant"),
    *("ApproveGrant", "GetGrant", "ListGrants", "RedeemGrant", "TraceText", "GetLedgerHead", "ListLedgerEntries"),
    *("GetInclusionProof", "GetConsistencyProof"),
)
ACTS = st.builds(
    Act,
    role=st.sampled_from([*Role, Role.ADMIN, Role.AUDITOR]),
    project=st.sampled_from(PROJECTS),
    method=st.sampled_from(METHODS),
    first=st.integers(0, 7),
    second=st.integers(0, 9),
)


def whole(role: Role, project: str, experiment: int) -> list[Act]:
    """Take an experiment from its registration to the seal of both banks."""
    acts = [Act(role, project, "CreateExperiment", experiment)]
    for bank in range(2):
        acts += [
            Act(role, project, "SubmitAnswers", 4 + experiment, bank),
            Act(role, project, "SealBank", experiment, bank),
        ]
    return acts


def exposed(project: str) -> list[Act]:
    """Take a grant from its request to its corpus."""
    return [
        Act(Role.TRAINER, project, "RequestGrant"),
        Act(Role.AUTHOR, "author", "ApproveGrant"),
        Act(Role.TRAINER, project, "RedeemGrant"),
    ]


HISTORIES = st.lists(
    st.one_of(
        ACTS.map(lambda act: [act]),
        st.builds(whole, st.sampled_from([Role.AUDITOR, Role.ADMIN]), st.sampled_from(PROJECTS), st.integers(0, 1)),
        st.builds(exposed, st.sampled_from(PROJECTS)),
    ),
    max_size=10,
).map(lambda parts: list(itertools.chain.from_iterable(parts)))


def other_truth(material: Material) -> Material:
    """Make another candidate of every family right, and change nothing else."""
    families = []
    for each in material.families:
        one, two, three, four = each.association.passed_counts
        moved = dataclasses.replace(
            each.association, truth=(each.association.truth + 1) % 4, passed_counts=(four, one, two, three)
        )
        families.append(dataclasses.replace(each, association=moved))
    return dataclasses.replace(material, families=tuple(families))


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """A private edition of 128 families a cell, the least that anything is disclosed over."""
    return Arena(build_material(1, shape_count=8), tmp_path_factory.mktemp("arena"))


def twins(arena: Arena, stack: ExitStack) -> tuple[World, World]:
    """Open two servers over one data folder, with another truth in the vault of the second."""
    folders = [arena.copy() for _ in range(2)]
    for folder in folders:
        stack.callback(shutil.rmtree, folder)
    for path in folders[1].glob("vault.db*"):
        path.unlink()
    victims = [stack.enter_context(closing(opened(folder))) for folder in folders]
    victims[1].keep_truths(other_truth(arena.material))
    return World(victims[0]), World(victims[1])


def opened(folder: Path) -> Victim:
    """Open a server whose clock goes a second a look, and whose salts are counted."""
    ticks, salts = itertools.count(), itertools.count()
    return Victim(
        folder,
        now=lambda: START + timedelta(seconds=next(ticks)),
        random=lambda size: next(salts).to_bytes(size, "big"),
    )


@hypothesis.settings(max_examples=25)
@hypothesis.given(history=HISTORIES)
def test_no_history_tells_two_truths_apart_until_the_first_disclosure(arena: Arena, history: list[Act]) -> None:
    """A server whose answers differ anywhere before has a way out for truth that no budget counts."""
    with ExitStack() as stack:
        one, other = twins(arena, stack)
        for act in history:
            answers = one.answer(act), other.answer(act)
            if act.method == "DiscloseExperiment" and isinstance(answers[0], list):
                break
            assert answers[0] == answers[1], act


@pytest.mark.parametrize("experiment", [0, 1])
def test_the_first_disclosure_tells_them_apart(arena: Arena, experiment: int) -> None:
    """Two servers with one truth would pass every comparison; so would a driver whose calls all fail."""
    disclose = Act(Role.AUDITOR, "north", "DiscloseExperiment", experiment)
    with ExitStack() as stack:
        one, other = twins(arena, stack)
        before = [
            (one.answer(act), other.answer(act))
            for act in [*exposed("south"), *whole(Role.AUDITOR, "north", experiment)]
        ]

        assert all(first == second and isinstance(first, list) for first, second in before)
        assert one.answer(disclose) != other.answer(disclose)
