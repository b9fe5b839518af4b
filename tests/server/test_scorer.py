"""Certification without a wire around it: what it reads ahead, how it stops, and what it runs."""

from __future__ import annotations

import dataclasses
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from leakscale.models import Condition, Ring
from leakscale.resources import catalog_folder
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.core.shapes import parse_shape
from leakscale_server.errors import IntegrityFailure, Unavailable
from leakscale_server.registry.editions import Edition, EditionDraft, EditionRegistry
from leakscale_server.sandbox_pool import Job, SandboxPool, open_backend
from leakscale_server.sandbox_pool.contract import JobResult
from leakscale_server.scorer.certifier import Certified, Certifier, Rejected
from leakscale_server.scorer.prover import FamilyRequest, build
from leakscale_server.scorer.scorer import Scorer
from leakscale_server.stages.editions import EditionStages
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer

from .helpers import CACHE, PRIVATE_SEED, PUBLIC_SEED, a_vault, shape_files


@dataclass(frozen=True, slots=True)
class Parts:
    stages: EditionStages
    editions: EditionRegistry
    edition: Edition


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    """The stages of an edition on real sandboxes, with a draft of one shape."""
    registry, vault, signer = open_registry(tmp_path), a_vault(tmp_path), Signer.load_or_create(tmp_path / "key")
    ledger = Ledger(registry, signer)
    editions = EditionRegistry(registry, ledger, signer, editions_dir=tmp_path / "editions")
    with SandboxPool(open_backend("bubblewrap", state_dir=CACHE), lane_count=2) as pool:
        stages = EditionStages(editions, Scorer(vault=vault, signer=signer, pool=pool))
        shapes = tuple((shape.source, shape.toml) for shape in shape_files("sql/threshold.toml"))
        draft = EditionDraft("draft", "practice", 4, PUBLIC_SEED, shapes)
        yield Parts(stages, editions, stages.create(draft, practice_private_seed=PRIVATE_SEED, principal="ada"))
        stages.close()
    registry.close()
    vault.close()


def settled(count: list[object]) -> int:
    """Wait until a list stops growing, and return its length."""
    before = -1
    while len(count) != before:
        before = len(count)
        time.sleep(0.5)
    return before


def test_a_client_that_sends_and_does_not_read_is_not_read_ahead_of(parts: Parts) -> None:
    """Otherwise one slow reader fills the server's memory with answers."""
    read: list[object] = []

    def endless() -> Iterator[tuple[Edition, FamilySlot]]:
        while True:
            read.append(None)
            yield parts.edition, FamilySlot("sql-threshold", Condition.C0, 0)

    stream = parts.stages.certify(endless(), principal="ada")
    next(stream)

    assert settled(read) <= 2 + 4 * 2
    stream.close()  # type: ignore[attr-defined]


def test_a_stopping_server_ends_streams_and_opens_no_sandbox(parts: Parts) -> None:
    """A sandbox opened after its pool was closed would stay for ever; what was certified before stays too."""

    def all_of_it() -> Iterator[tuple[Edition, FamilySlot]]:
        for ordinal in range(4):
            yield parts.edition, FamilySlot("sql-threshold", Condition.C0, ordinal)
            if ordinal == 0:
                certified.wait(60)

    certified = threading.Event()
    stream = parts.stages.certify(all_of_it(), principal="ada")
    next(stream)
    parts.stages.stop()
    certified.set()

    with pytest.raises(Unavailable, match="is stopping"):
        list(stream)
    parts.stages.close()
    assert parts.editions.get("draft").certified_count == 1


def test_a_draft_whose_seed_was_lost_says_so(parts: Parts) -> None:
    """A kill between the two files leaves a draft without its seed; creating it again heals it."""
    shapes = tuple((shape.source, shape.toml) for shape in shape_files("sql/threshold.toml"))
    draft = EditionDraft("half", "practice", 4, PUBLIC_SEED, shapes)
    half = parts.editions.create(draft, principal="ada", check=lambda _: None)
    slot = FamilySlot("sql-threshold", Condition.C0, 0)

    with pytest.raises(IntegrityFailure, match="create it again with the same contents"):
        list(parts.stages.certify([(half, slot)], principal="ada"))

    parts.stages.create(draft, practice_private_seed=PRIVATE_SEED, principal="ada")
    assert [outcome.certificate is not None for outcome in parts.stages.certify([(half, slot)], principal="ada")] == [
        True
    ]


def test_two_freezes_at_once_are_one(parts: Parts) -> None:
    """Both would write one file; the loser must not leave half of it."""
    list(parts.stages.certify(((parts.edition, slot) for slot in parts.edition.slots()), principal="ada"))
    frozen: list[Edition] = []
    threads = [
        threading.Thread(target=lambda: frozen.append(parts.stages.freeze(parts.edition, principal="ada")))
        for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(frozen) == 8
    assert all(edition == frozen[0] for edition in frozen)
    assert len(parts.editions.families("draft")) == 8


def a_request(file: str, *changes: tuple[str, str], ordinal: int = 0) -> FamilyRequest:
    """Ask for one family of a shipped shape with changes."""
    toml = (catalog_folder() / file).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in toml
        toml = toml.replace(old, new)
    shape = parse_shape(toml, source=file)
    return FamilyRequest(
        edition_id="draft",
        shape=shape,
        shape_digest=file,
        slot=FamilySlot(shape.id, Condition.C0, ordinal),
        families_per_cell=4,
        public_seed=PUBLIC_SEED,
        private_seed=PRIVATE_SEED,
    )


def certify(tmp_path: Path, *requests: FamilyRequest, **limits: float) -> tuple[list[Certified | Rejected], list[Run]]:
    """Certify families, and return what came of them and what was run for them."""
    with SandboxPool(open_backend("bubblewrap", state_dir=CACHE), lane_count=2) as pool:
        counted = _CountingPool(pool, limits)
        certifier = Certifier(counted, Signer.load_or_create(tmp_path / "key"))  # type: ignore[arg-type]
        return [certifier.certify(request, first_lane=0) for request in requests], counted.runs


def rejected(tmp_path: Path, request: FamilyRequest, **limits: float) -> tuple[Rejection, list[Run]]:
    """Certify one family that breaks the rule."""
    (outcome,), runs = certify(tmp_path, request, **limits)
    assert isinstance(outcome, Rejected)
    return outcome.rejection, runs


def test_family_whose_first_program_hits_a_limit_runs_no_other(tmp_path: Path) -> None:
    """Its programs differ in one value; two dozen loops would take their CPU seconds from everybody else."""
    request = a_request("python/threshold.toml", ("    return [", "    while True: pass\n    return ["))
    rejection, runs = rejected(tmp_path, request, cpu_time_s_max=1)

    assert rejection.reason is RejectionReason.UNSTABLE
    assert "more CPU time than allowed" in rejection.message
    assert runs == [Run(lane=0, program_count=1)]


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("sql/threshold.toml", "SELECT t.id", "SELECT t.id_", "OperationalError: no such column: t.id_;"),
        ("sql/threshold.toml", "WHERE t.", "WHERE WHERE t.", 'OperationalError: near "WHERE": syntax error;'),
        ("sql/threshold.toml", "FROM {{orders}} AS t", "FROM {{orders}}_2 AS t", "no such table: "),
        ("python/threshold.toml", "    return [", "    return 1 + '' or [", "TypeError;"),
        (
            "python/threshold.toml",
            "    return [",
            "    return {1} or [",
            "of another type than list, tuple, dict, str, int,",
        ),
    ],
)
def test_program_that_never_returns_is_rejected_with_what_it_ended_with(
    tmp_path: Path, file: str, old: str, new: str, words: str
) -> None:
    """An author corrects it from the message; nothing is drawn again and no second pass is run for it."""
    rejection, runs = rejected(tmp_path, a_request(file, (old, new)))

    assert rejection.reason is RejectionReason.PROGRAM_FAILED
    assert rejection.message.startswith("no candidate's program returns: ")
    assert words in rejection.message
    first_pass = [Run(0, 8)] if file.startswith("sql") else [Run(0, 1)] * 8
    assert runs == [*TRIAL, *first_pass]


def test_error_of_a_running_statement_says_its_class_only(tmp_path: Path) -> None:
    """What SQLite says while it reads rows may quote one of them."""
    condition = "WHERE json_extract('{' || t.{{amount}}, '$.a') IS NULL AND t."
    rejection, _ = rejected(tmp_path, a_request("sql/threshold.toml", ("WHERE t.", condition)))

    assert rejection.message == "no candidate's program returns: OperationalError; correct the program"


def test_a_shape_that_ended_well_takes_two_jobs_a_pass(tmp_path: Path) -> None:
    """Three rings of four programs, and R1 has the fixtures of R0: a third job would only send them again."""
    outcomes, runs = certify(tmp_path, *(a_request("sql/threshold.toml", ordinal=ordinal) for ordinal in range(2)))

    assert [isinstance(outcome, Certified) for outcome in outcomes] == [True, True]
    family = [Run(lane, program_count) for lane in (0, 1) for program_count in (8, 4)]
    assert runs == [*TRIAL, *family, *family]


def test_a_pair_that_no_fixtures_separate_is_named_by_its_values(tmp_path: Path) -> None:
    """The author sees which two values the shape cannot tell apart, after eight sets of fixtures."""
    blind = [("{{policy}}", "{{policy}}[:0]")]
    rejection, runs = rejected(tmp_path, a_request("python/prefix.toml", *blind))

    assert rejection.reason is RejectionReason.PERFECT_COUNT
    assert re.match(r"candidates '\w\w' and '\w\w' give the same result on 16 of 16 fixtures, ", rejection.message)
    new = [*TRIAL, *[Run(0, 1)] * 8, Run(0, 4), Run(1, 8), Run(1, 4)]
    assert runs == [*new, *[Run(lane, program_count) for lane in (0, 1) for program_count in (8, 4)] * 7]


@pytest.mark.parametrize(
    ("program", "reason", "words"),
    [
        (
            "[{{policy}}]",
            RejectionReason.REWORDING_DIFFERS,
            "candidate 0 gives another result than in R0 on fixture 0;",
        ),
        ("records[{{policy}}:0][0]", RejectionReason.PROGRAM_FAILED, "no candidate's program returns: TypeError;"),
        ("[{{policy}}, id(records)]", RejectionReason.NONDETERMINISTIC, "candidate 0 gave two different results"),
    ],
)
def test_a_fault_in_the_rewording_alone_rejects_the_family(
    tmp_path: Path, program: str, reason: RejectionReason, words: str
) -> None:
    """R1 is published, so it is proved like R0."""
    toml = (catalog_folder() / "python/threshold.toml").read_text(encoding="utf-8")
    reworded = toml[toml.index("def transform", toml.index("[rings.R1]")) : toml.rindex("'''")]
    request = a_request("python/threshold.toml", (reworded, f"def transform(records):\n    return {program}\n"))
    rejection, _ = rejected(tmp_path, request)

    assert (rejection.reason, rejection.ring) == (reason, Ring.R1)
    assert rejection.message.startswith(f"R1: {words}")


def test_a_program_that_reads_its_own_names_is_another_one_when_renamed(tmp_path: Path) -> None:
    """Where the name of a field decides what is returned, R2 is no isomorphic question."""
    first_field = build(a_request("python/threshold.toml"), attempt=0).form(Ring.R0).public.inputs[0].split()[1]
    change = ("{{policy}}", f"({{{{policy}}}} if '{{{{label}}}}' != '{first_field.strip('{:')}' else 25)")
    rejection, _ = rejected(tmp_path, a_request("python/threshold.toml", change))

    assert rejection.reason is RejectionReason.RENAMING_DIFFERS


def mutating(toml: str) -> str:
    return toml.replace("def transform(records):\n", "def transform(records):\n    records.reverse()\n", 1)


def with_key(toml: str) -> str:
    return toml.replace('task = "', 'task = "By K-12ab34cd: ', 1)


def with_candidate(toml: str) -> str:
    return toml.replace('task = "', 'task = "Of at most 25: ', 1)


def with_long_task(toml: str) -> str:
    return toml.replace('task = "', 'task = "' + "again and " * 30, 1)


def with_copied_task(toml: str) -> str:
    exact, reworded = re.findall('task = "(.*)"', toml)
    return toml.replace(reworded, f"{exact.rstrip('.')}!")


def with_copied_program(toml: str) -> str:
    exact, reworded = re.findall("program = '''(.*?)'''", toml, re.DOTALL)
    return toml.replace(reworded, exact.replace(":\n", ":\n    unread = 1\n", 1))


@pytest.mark.parametrize(
    ("spoil", "reason", "lanes"),
    [
        (with_key, RejectionReason.TEXT_NAMES_KEY, set()),
        (with_candidate, RejectionReason.TEXT_NAMES_CANDIDATE, set()),
        (with_long_task, RejectionReason.PROMPT_TOO_LONG, set()),
        (with_copied_task, RejectionReason.TASK_NOT_REWORDED, set()),
        (with_copied_program, RejectionReason.PROGRAM_NOT_REWORDED, set()),
        (mutating, RejectionReason.ARGUMENT_CHANGED, {0}),
    ],
)
def test_what_an_audit_finds_is_not_certified(
    tmp_path: Path, spoil: Callable[[str], str], reason: RejectionReason, lanes: set[int]
) -> None:
    """A certificate that says less than `catalog check` would be worth less than none; and no second pass is run."""
    toml = (catalog_folder() / "python/threshold.toml").read_text(encoding="utf-8")
    shape = parse_shape(spoil(toml), source="threshold.toml")
    request = dataclasses.replace(a_request("python/threshold.toml"), shape=shape, shape_digest="spoilt")
    rejection, runs = rejected(tmp_path, request)

    assert rejection.reason is reason
    assert {run.lane for run in runs} == lanes


def a_given_shape(*, stated: str = "[[%d]]") -> str:
    """A shape whose eight fixtures and their outputs stand in the file."""
    outputs = ", ".join(f"'{stated % number}'" for number in (1, 2, 3, 4))
    fixtures = "".join(
        f"[[fixtures]]\nsql = 'INSERT INTO things VALUES ({number}, 7)'\n"
        f"outputs = [{outputs.replace(']]', f', {number}]]')}]\n"
        for number in range(8)
    )
    return (
        'format = 1\nid = "sql-given"\ndomain = "sql"\ntitle = "Given"\n'
        '[candidates]\ntype = "integer"\npool = [1, 2, 3, 4]\n'
        '[vocabulary]\nthings = ["things", "items"]\n'
        '[[tables]]\nname = "things"\ncolumns = [{ name = "id", generator = "given", type = "integer" }, '
        '{ name = "size", generator = "given", type = "integer" }]\n'
        f"{fixtures}"
        '[rings.R0]\ntask = "The policy value beside each id."\n'
        'program = "SELECT {{policy}} AS shown, t.id AS id FROM {{things}} AS t ORDER BY t.id"\n'
        '[rings.R1]\ntask = "Show what the policy value is, with every id there is."\n'
        'program = "SELECT {{policy}} AS shown, e.id AS id FROM {{things}} AS e WHERE e.size = 7 ORDER BY e.id"\n'
        '[result]\ncolumns = ["shown", "id"]\norder = "ordered"\n'
    )


def test_a_family_of_given_fixtures_and_outputs_is_certified(tmp_path: Path) -> None:
    """The author's bytes and the sandbox's are compared; that they are equal is no matter of course."""
    shape = parse_shape(a_given_shape(), source="given.toml")
    request = dataclasses.replace(
        a_request("sql/threshold.toml"), shape=shape, slot=FamilySlot(shape.id, Condition.C0, 0)
    )
    (outcome,), _ = certify(tmp_path, request)

    assert isinstance(outcome, Certified)


def test_an_output_that_the_program_does_not_return_rejects_the_family_at_once(tmp_path: Path) -> None:
    """`1.0` is no `1`, and given fixtures cannot be drawn again."""
    shape = parse_shape(a_given_shape(stated="[[%d.0]]"), source="given.toml")
    request = dataclasses.replace(
        a_request("sql/threshold.toml"), shape=shape, slot=FamilySlot(shape.id, Condition.C0, 0)
    )
    rejection, runs = rejected(tmp_path, request)

    assert rejection == Rejection(RejectionReason.OUTPUT_DIFFERS, candidate_position=0, fixture_index=0)
    assert len(runs) == len(TRIAL) + 4


@dataclass(frozen=True, slots=True)
class Run:
    """One job."""

    lane: int | None
    program_count: int


TRIAL = [Run(lane=0, program_count=1)] * 2
"""What a shape that nobody has seen end is tried with: the first program of each wording, alone."""


class _CountingPool:
    """A real pool whose jobs may run under other limits, and which notes each."""

    def __init__(self, pool: SandboxPool, limits: Mapping[str, float]) -> None:
        self._pool, self._limits = pool, limits
        self.identity, self.lane_count = pool.identity, pool.lane_count
        self.runs: list[Run] = []

    def run(self, job: Job, *, lane: int | None = None) -> JobResult:
        self.runs.append(Run(lane, len(job.programs)))
        limits = dataclasses.replace(job.limits, **self._limits)  # type: ignore[arg-type]
        return self._pool.run(dataclasses.replace(job, limits=limits), lane=lane)
