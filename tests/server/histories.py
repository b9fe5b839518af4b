"""What clients of every role may do to a server: single calls drawn at random, and whole ways through its stages.

An act is two names and two small numbers, so that a history that fails shrinks to few acts and is read as it stands.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message
from hypothesis import strategies as st

from leakscale.answers import chunks_of
from leakscale.models import Answer, Domain, Family
from leakscale.v1 import (
    bank_service_pb2,
    certification_service_pb2,
    edition_service_pb2,
    enums_pb2,
    experiment_service_pb2,
    grant_service_pb2,
    ledger_service_pb2,
    resources_pb2,
    server_service_pb2,
)
from leakscale_server.attack.material import EDITION_ID

from .helpers import KEY, PRIVATE_SEED, PUBLIC_SEED, shape_files
from .twins import PROJECTS, WHO, Told
from .wire import decoded

__all__ = ["HISTORIES", "Act", "Scene", "answered", "certified", "exposed"]

EDITIONS = (f"editions/{EDITION_ID}", "editions/new-0", "editions/new-1")
"""The frozen one that is there from the start, and two that a history may make."""
EXPERIMENTS = ("experiments/one", "experiments/two")
BANKS = tuple(f"{domain}-{state}{ring}" for ring in ("", "-r2") for domain in Domain for state in ("base", "adapted"))
RINGS = (enums_pb2.RING_R0, enums_pb2.RING_R1, enums_pb2.RING_R2)
SHAPES = ("sql/threshold.toml", "python/missing-default.toml")
"""The answers of the second are of several lengths."""
CONDITIONS = (enums_pb2.CONDITION_C0, enums_pb2.CONDITION_C2)
FAMILIES_PER_CELL = 4


@dataclass(frozen=True, slots=True)
class Act:
    """One call: who, which method, and two numbers that its request is made of."""

    who: str
    method: str
    first: int = 0
    second: int = 0


@dataclass(slots=True)
class Scene:
    """What a client knows that makes requests: the public families, and the grants that it was answered."""

    families: Sequence[Family]
    grants: list[str] = field(default_factory=list)

    def requests(self, act: Act) -> list[Message]:
        """Write the messages of an act."""
        made = REQUESTS[act.method](self, act.first, act.second)
        return made if isinstance(made, list) else [made]

    def learn(self, act: Act, told: Told) -> None:
        """Keep what later requests need of an answer."""
        if act.method == "GrantService/RequestGrant":
            self.grants += [decoded(act.method, message).grant.name for message in told.reply.messages]

    def grant(self, number: int) -> str:
        """Return the name of a grant."""
        return self.grants[number % len(self.grants)] if self.grants else f"{EDITIONS[0]}/grants/g-none"

    def family(self, number: int) -> Family:
        """Return a family of the edition that is there from the start."""
        return self.families[number % len(self.families)]


def _edition(number: int) -> str:
    return EDITIONS[number % len(EDITIONS)]


def _bank(first: int, second: int) -> str:
    return f"{EXPERIMENTS[first % 2]}/banks/{BANKS[second % len(BANKS)]}"


def _created(_scene: Scene, first: int, second: int) -> Message:
    is_practice = second % 2 == 1
    kind = enums_pb2.EDITION_KIND_PRACTICE if is_practice else enums_pb2.EDITION_KIND_PRIVATE
    return edition_service_pb2.CreateEditionRequest(
        edition_id=_edition(first).rpartition("/")[2],
        kind=kind,
        families_per_cell=FAMILIES_PER_CELL,
        public_seed=PUBLIC_SEED,
        practice_private_seed=PRIVATE_SEED if is_practice else b"",
        shapes=[edition_service_pb2.ShapeSource(source=each.source, toml=each.toml) for each in shape_files(*SHAPES)],
    )


def _family_to_certify(_scene: Scene, first: int, second: int) -> Message:
    shape, place = divmod(second, 2 * FAMILIES_PER_CELL)
    condition, ordinal = divmod(place, FAMILIES_PER_CELL)
    return certification_service_pb2.CertifyFamiliesRequest(
        edition=_edition(first),
        shape_id=SHAPES[shape % 2].removesuffix(".toml").replace("/", "-"),
        condition=CONDITIONS[condition],
        ordinal=ordinal,
    )


def _registered(_scene: Scene, first: int, second: int) -> Message:
    return experiment_service_pb2.CreateExperimentRequest(
        experiment_id=EXPERIMENTS[first % 2].rpartition("/")[2],
        edition=_edition(second % 4 // 2 * (1 + first % 2)),
        draw_count=1,
        resample_count=100,
        rings=[enums_pb2.RING_R0, enums_pb2.RING_R2][: 1 + second % 2],
        cohort_families_min=(128, 512)[second // 8 % 2],
    )


def _submitted(scene: Scene, first: int, second: int) -> list[Message]:
    """Answer one family, or the whole bank, with one place or with nothing valid."""
    families = scene.families if first >= 4 else scene.families[first : first + 1]
    place = second // len(BANKS)
    # Another place for each next family: every place is right as often as any other.
    texts = [each.candidates[(place + turn) % 4].answer if place < 4 else "" for turn, each in enumerate(families)]
    answers = [Answer(each.family_id, 0, text) for each, text in zip(families, texts, strict=True)]
    return [
        bank_service_pb2.SubmitAnswersRequest(
            bank=_bank(first, second),
            number=number + first % 4,
            digest=digest,
            answers=[resources_pb2.Answer(family_id=each.family_id, draw=each.draw, text=each.text) for each in chunk],
        )
        for number, (chunk, digest) in enumerate(chunks_of(answers))
    ]


REQUESTS: Mapping[str, Callable[[Scene, int, int], Any]] = {
    "ServerService/GetServerInfo": lambda *_: server_service_pb2.GetServerInfoRequest(),
    "LedgerService/GetLedgerHead": lambda *_: ledger_service_pb2.GetLedgerHeadRequest(),
    "LedgerService/ListLedgerEntries": lambda *_: ledger_service_pb2.ListLedgerEntriesRequest(),
    "LedgerService/GetInclusionProof": lambda _, first, second: ledger_service_pb2.GetInclusionProofRequest(
        position=first, entry_count=1 + second
    ),
    "LedgerService/GetConsistencyProof": lambda _, first, second: ledger_service_pb2.GetConsistencyProofRequest(
        first_entry_count=1 + first, second_entry_count=1 + second
    ),
    "EditionService/CreateEdition": _created,
    "EditionService/GetEdition": lambda _, first, __: edition_service_pb2.GetEditionRequest(name=_edition(first)),
    "EditionService/ListEditions": lambda _, first, __: edition_service_pb2.ListEditionsRequest(page_size=1 + first),
    "EditionService/FreezeEdition": lambda _, first, __: edition_service_pb2.FreezeEditionRequest(name=_edition(first)),
    "EditionService/ListFamilies": lambda _, first, second: edition_service_pb2.ListFamiliesRequest(
        edition=_edition(first), page_size=1 + second, ring=RINGS[second % 3]
    ),
    "EditionService/GetFamily": lambda scene, first, second: edition_service_pb2.GetFamilyRequest(
        name=f"{_edition(first // 6)}/families/{scene.family(second).family_id}", ring=RINGS[second % 3]
    ),
    "EditionService/DownloadEdition": lambda _, first, __: edition_service_pb2.DownloadEditionRequest(
        name=_edition(first)
    ),
    "EditionService/RetireEdition": lambda _, first, __: edition_service_pb2.RetireEditionRequest(name=_edition(first)),
    "EditionService/ListOpenings": lambda _, first, __: edition_service_pb2.ListOpeningsRequest(
        edition=_edition(first)
    ),
    "CertificationService/CertifyFamilies": _family_to_certify,
    "GrantService/RequestGrant": lambda _, first, second: grant_service_pb2.RequestGrantRequest(
        edition=_edition(first), preservation_count=4, request_id=f"r-{second}", holder_key=KEY.public
    ),
    "GrantService/ApproveGrant": lambda scene, first, _: grant_service_pb2.ApproveGrantRequest(name=scene.grant(first)),
    "GrantService/GetGrant": lambda scene, first, _: grant_service_pb2.GetGrantRequest(name=scene.grant(first)),
    "GrantService/ListGrants": lambda _, first, __: grant_service_pb2.ListGrantsRequest(edition=_edition(first)),
    "GrantService/RedeemGrant": lambda scene, first, second: grant_service_pb2.RedeemGrantRequest(
        name=scene.grant(first), request_id=f"redeem-{second // 8}"
    ),
    "GrantService/TraceText": lambda scene, first, second: grant_service_pb2.TraceTextRequest(
        edition=_edition(first), text=f"{scene.family(second).key} {scene.family(second).task}"
    ),
    "ExperimentService/CreateExperiment": _registered,
    "ExperimentService/GetExperiment": lambda _, first, __: experiment_service_pb2.GetExperimentRequest(
        name=EXPERIMENTS[first % 2]
    ),
    "ExperimentService/WithdrawExperiment": lambda _, first, __: experiment_service_pb2.WithdrawExperimentRequest(
        name=EXPERIMENTS[first % 2]
    ),
    "ExperimentService/DiscloseExperiment": lambda _, first, __: experiment_service_pb2.DiscloseExperimentRequest(
        name=EXPERIMENTS[first % 2]
    ),
    "ExperimentService/GetBudget": lambda _, first, __: experiment_service_pb2.GetBudgetRequest(
        edition=_edition(first)
    ),
    "BankService/GetBank": lambda _, first, second: bank_service_pb2.GetBankRequest(name=_bank(first, second)),
    "BankService/ListChunks": lambda _, first, second: bank_service_pb2.ListChunksRequest(name=_bank(first, second)),
    "BankService/SubmitAnswers": _submitted,
    "BankService/SealBank": lambda _, first, second: bank_service_pb2.SealBankRequest(
        name=_bank(first, second), request_id=f"seal-{first // 4}"
    ),
}
"""A method that is not here is one that no history calls: the test of the whole way fails then."""


def certified(who: str, edition: int, *, is_practice: bool = False) -> list[Act]:
    """Take an edition from its draft to the freeze, family by family: several at once are answered as they end."""
    family_count = 2 * 2 * FAMILIES_PER_CELL
    return [
        Act(who, "EditionService/CreateEdition", edition, int(is_practice)),
        *(Act(who, "CertificationService/CertifyFamilies", edition, number) for number in range(family_count)),
        Act(who, "EditionService/FreezeEdition", edition),
    ]


def exposed(project: str, *, approver: str = f"author/{PROJECTS[0]}", edition: int = 0) -> list[Act]:
    """Take a grant from its request to its corpus."""
    newest = -1
    return [
        Act(f"trainer/{project}", "GrantService/RequestGrant", edition),
        Act(approver, "GrantService/ApproveGrant", newest),
        Act(f"trainer/{project}", "GrantService/RedeemGrant", newest),
    ]


def answered(who: str, experiment: int, *, place: int = 0) -> list[Act]:
    """Take an experiment on the first edition from its registration to the seal of both banks."""
    acts = [Act(who, "ExperimentService/CreateExperiment", experiment)]
    for bank in (BANKS.index("sql-base"), BANKS.index("sql-adapted")):
        acts += [
            Act(who, "BankService/SubmitAnswers", 4 + experiment, bank + place * len(BANKS)),
            Act(who, "BankService/SealBank", experiment, bank),
        ]
    return acts


def _single() -> st.SearchStrategy[Act]:
    # Admins reach every method: without more of them most single calls end at the gate.
    return st.builds(
        Act,
        who=st.sampled_from([*WHO, *(f"admin/{project}" for project in PROJECTS for _ in range(4))]),
        method=st.sampled_from(sorted(REQUESTS)),
        first=st.integers(0, 8),
        second=st.integers(0, 39),
    )


HISTORIES = st.lists(
    st.one_of(
        _single().map(lambda act: [act]),
        _single().map(lambda act: [act]),
        st.builds(
            certified,
            st.sampled_from([f"author/{project}" for project in PROJECTS]),
            st.integers(1, 2),
            is_practice=st.booleans(),
        ),
        st.builds(
            lambda made, project: [*certified(made, 1), *exposed(project, approver=made, edition=1)],
            st.sampled_from([f"author/{project}" for project in PROJECTS]),
            st.sampled_from(PROJECTS),
        ),
        st.builds(
            answered,
            st.sampled_from([f"{role}/{project}" for role in ("auditor", "admin") for project in PROJECTS]),
            st.integers(0, 1),
            place=st.integers(0, 4),
        ),
        st.builds(exposed, st.sampled_from(PROJECTS)),
    ),
    max_size=12,
).map(lambda parts: list(itertools.chain.from_iterable(parts)))
