"""What may be registered on a private edition: how many releases, over which families, by whom, and until when."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leakscale.models import BankPhase, EditionPhase, Ring
from leakscale.resources import catalog_folder
from leakscale_server.__main__ import app
from leakscale_server.core.disclosure.atoms import Cohort
from leakscale_server.core.disclosure.budget import Account
from leakscale_server.errors import BudgetSpent, CohortTooSmall, Expired, InvalidRequest, NotFound
from leakscale_server.registry.editions import EditionDraft, EditionRegistry
from leakscale_server.registry.experiments import ExperimentPlan, ExperimentRegistry, Party
from leakscale_server.registry.experiments.permits import permit_small_cohorts
from leakscale_server.store.data_folder import FORMAT
from leakscale_server.store.database import InsertOnlyDatabase
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer

PLAN = ExperimentPlan(
    experiment_id="first",
    edition_id="large",
    model_label="any",
    draw_count=1,
    bank_seed=0,
    resample_count=100,
    bootstrap_seed=0,
    cohort_families_min=128,
)
PARTY = Party("ada", "north")
START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def frozen(
    folder: Path, *, kind: str, shape_count: int, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> ExperimentRegistry:
    """Register an edition of SQL shapes as frozen; its families are not needed to register an experiment."""
    registry = open_registry(folder)
    signer = Signer.load_or_create(folder / "key")
    ledger = Ledger(registry, signer)
    editions = EditionRegistry(registry, ledger, signer, editions_dir=folder / "editions")
    toml = (catalog_folder() / "sql" / "threshold.toml").read_text(encoding="utf-8")
    shapes = tuple(("shape.toml", toml.replace("sql-threshold", f"sql-threshold-{n}")) for n in range(shape_count))
    editions.create(EditionDraft("large", kind, 16, b"p" * 16, shapes), principal="ada", check=lambda _: None)
    _freeze(registry, editions)
    return ExperimentRegistry(registry, ledger, editions, now=now)


def _freeze(registry: InsertOnlyDatabase, editions: EditionRegistry) -> None:
    row = {"edition_id": "large", "file_digest": "", "commitment_root": b"r", "certificates_digest": b"c"}
    row |= {"payload": b"p", "signature": b"s"}
    registry.add("freezes", [row])
    editions.lifecycle.reach("large", EditionPhase.FROZEN, principal="ada")


def numbered(number: int) -> ExperimentPlan:
    return dataclasses.replace(PLAN, experiment_id=f"experiment-{number}")


def shapes(*numbers: int) -> tuple[str, ...]:
    return tuple(sorted(f"sql-threshold-{number}" for number in numbers))


def registered(experiments: ExperimentRegistry, parties: list[Party], count: int) -> int:
    """Register experiments of several parties by turns until one is refused, and return how many there are."""
    for number in range(count):
        try:
            experiments.create(numbered(number), party=parties[number % len(parties)])
        except BudgetSpent:
            return number
    return count


def test_private_edition_of_small_cohorts_is_refused(tmp_path: Path) -> None:
    """A total over few families is nearly the answer to one of them."""
    experiments = frozen(tmp_path, kind="private", shape_count=7)
    plan = dataclasses.replace(PLAN, cohort_families_min=112)

    with pytest.raises(CohortTooSmall, match="112 families"):
        experiments.create(plan, party=PARTY)


def test_cohorts_under_512_families_are_asked_for_by_name(tmp_path: Path) -> None:
    """Whoever says nothing else gets numbers over 512 families or none."""
    experiments = frozen(tmp_path, kind="private", shape_count=31)
    plan = dataclasses.replace(PLAN, cohort_families_min=512)

    with pytest.raises(CohortTooSmall, match=r"496 families.*--families-min 496"):
        experiments.create(plan, party=PARTY)
    assert experiments.create(PLAN, party=PARTY).plan == PLAN


@pytest.mark.parametrize(("shape_count", "most"), [(8, 2), (31, 2), (32, 4)])
def test_a_project_runs_out_of_releases(tmp_path: Path, shape_count: int, most: int) -> None:
    """Totals of ever new experiments would give away one association after the other. Each makes two releases."""
    experiments = frozen(tmp_path, kind="private", shape_count=shape_count)

    assert registered(experiments, [PARTY], 9) == most


def test_the_edition_runs_out_whoever_asks(tmp_path: Path) -> None:
    """Eight principals of eight projects who put their numbers together have one budget, not eight."""
    experiments = frozen(tmp_path, kind="private", shape_count=32)
    parties = [Party(f"principal-{number}", f"project-{number}") for number in range(8)]

    assert registered(experiments, parties, 16) == 8
    with pytest.raises(BudgetSpent, match="the edition has 16 of 16 releases"):
        experiments.create(numbered(99), party=Party("fresh", "fresh"))


def test_a_principal_has_one_budget_in_all_projects(tmp_path: Path) -> None:
    """A person who is in two projects does not learn twice as much."""
    experiments = frozen(tmp_path, kind="private", shape_count=32)
    parties = [Party("ada", "north"), Party("ada", "south")]

    assert registered(experiments, parties, 16) == 4
    with pytest.raises(BudgetSpent, match="the principal has 8 of 8 releases"):
        experiments.create(numbered(99), party=parties[0])


def test_a_project_has_one_budget_for_all_its_principals(tmp_path: Path) -> None:
    """Colleagues read the same disclosures."""
    experiments = frozen(tmp_path, kind="private", shape_count=32)
    parties = [Party(f"principal-{number}", "north") for number in range(8)]

    assert registered(experiments, parties, 16) == 4
    with pytest.raises(BudgetSpent, match="the project has 8 of 8 releases"):
        experiments.create(numbered(99), party=parties[7])


def test_each_ring_of_an_experiment_is_charged(tmp_path: Path) -> None:
    """Every ring has totals of its own over the same families: two of them say as much as two experiments."""
    experiments = frozen(tmp_path, kind="private", shape_count=32)
    experiments.create(dataclasses.replace(PLAN, rings=(Ring.R0, Ring.R1, Ring.R2)), party=PARTY)

    with pytest.raises(BudgetSpent, match=r"6 of 8 releases over sql/.*asks 4; ask fewer rings"):
        experiments.create(dataclasses.replace(numbered(1), rings=(Ring.R0, Ring.R2)), party=PARTY)
    assert experiments.create(numbered(1), party=PARTY).plan.rings == (Ring.R0,)


def test_repeated_registration_costs_nothing(tmp_path: Path) -> None:
    """A client that asks again after a broken call must not use up the budget."""
    experiments = frozen(tmp_path, kind="private", shape_count=32)
    for number in [0, 1, 2, 3, 3, 0]:
        experiments.create(numbered(number), party=PARTY)

    assert experiments.create(numbered(2), party=PARTY).plan == numbered(2)


def test_a_refused_registration_costs_nothing(tmp_path: Path) -> None:
    """What is refused is neither there nor paid."""
    experiments = frozen(tmp_path, kind="private", shape_count=32)
    small = Cohort("small", shapes(0))
    for number in range(9):
        with pytest.raises(CohortTooSmall):
            experiments.create(dataclasses.replace(numbered(number), cohorts=(small,)), party=PARTY)

    assert experiments.budget("large", party=PARTY) == []
    assert registered(experiments, [PARTY], 9) == 4


def test_sixteen_threads_get_what_one_would(tmp_path: Path) -> None:
    """A race for the last release is won once."""
    experiments = frozen(tmp_path, kind="private", shape_count=32)
    start = threading.Barrier(16)
    won: list[int] = []

    def race(number: int) -> None:
        start.wait()
        try:
            experiments.create(numbered(number), party=PARTY)
        except BudgetSpent:
            return
        won.append(number)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(won) == 4
    budget = experiments.budget("large", party=PARTY)
    assert budget is not None
    assert {each.spent[account].release_count for each in budget for account in Account} == {8}


def test_leaving_shapes_out_one_by_one_is_refused(tmp_path: Path) -> None:
    """The whole and all but eight shapes are fine; the whole and all but one would tell of sixteen families."""
    experiments = frozen(tmp_path, kind="private", shape_count=40)
    all_but_eight, all_but_one = Cohort("most", shapes(*range(8, 40))), Cohort("most", shapes(*range(1, 40)))

    with pytest.raises(CohortTooSmall, match=r"over 16 families \(sql-threshold-0\), alone or as a difference"):
        experiments.create(dataclasses.replace(numbered(1), cohorts=(all_but_one,)), party=PARTY)
    experiments.create(dataclasses.replace(numbered(2), cohorts=(all_but_eight,)), party=PARTY)
    with pytest.raises(CohortTooSmall, match="as a difference"):
        shifted = Cohort("shifted", shapes(*range(7, 39)))
        experiments.create(dataclasses.replace(numbered(3), cohorts=(shifted,)), party=Party("bob", "south"))


@pytest.mark.parametrize(
    ("cohort", "words"),
    [
        (Cohort("all", shapes(0)), "is taken"),
        (Cohort("Bad", shapes(0)), "not a valid id"),
        (Cohort("none", ()), "or none"),
        (Cohort("twice", shapes(0) * 2), "twice"),
        (Cohort("unknown", ("sql-other",)), "does not have"),
    ],
)
def test_a_cohort_that_is_not_of_the_edition_is_refused(tmp_path: Path, cohort: Cohort, words: str) -> None:
    """A typo must not quietly become another cohort."""
    experiments = frozen(tmp_path, kind="practice", shape_count=2)

    with pytest.raises(InvalidRequest, match=words):
        experiments.create(dataclasses.replace(PLAN, cohorts=(cohort,)), party=PARTY)


def test_small_cohorts_are_for_an_administrator_to_allow(tmp_path: Path) -> None:
    """Over 64 families one comparison is disclosed, once somebody answers for it; below that none ever is."""
    for count, is_allowed in ((4, True), (3, False)):
        folder = tmp_path / str(count)
        folder.mkdir()
        experiments = frozen(folder, kind="private", shape_count=count)
        plan = dataclasses.replace(PLAN, cohort_families_min=1)
        with pytest.raises(CohortTooSmall):
            experiments.create(plan, party=PARTY)
        registry = open_registry(folder)
        ledger = Ledger(registry, Signer.load_or_create(folder / "key"))
        assert permit_small_cohorts(registry, ledger, "large", principal="root", now=START)
        assert not permit_small_cohorts(registry, ledger, "large", principal="root", now=START)
        if not is_allowed:
            with pytest.raises(CohortTooSmall):
                experiments.create(plan, party=PARTY)
            continue
        experiments.create(plan, party=PARTY)
        with pytest.raises(BudgetSpent, match="2 of 2 releases"):
            experiments.create(dataclasses.replace(plan, experiment_id="next"), party=PARTY)


def test_practice_edition_has_no_budget_for_its_authors_project(tmp_path: Path) -> None:
    """Its author can rebuild the truth anyway, and may have numbers over single shapes. Others cannot, and may not."""
    experiments = frozen(tmp_path, kind="practice", shape_count=32)
    author, stranger = Party("ada", "default"), Party("bob", "south")
    alone = (Cohort("first", shapes(0)), Cohort("second", shapes(1)))

    for number in range(9):
        experiments.create(dataclasses.replace(numbered(number), cohorts=alone), party=author)
    assert experiments.budget("large", party=author) is None
    with pytest.raises(CohortTooSmall):
        experiments.create(dataclasses.replace(PLAN, cohorts=alone), party=stranger)
    assert registered(experiments, [stranger], 9) == 4


def test_what_expires_is_free_again_and_can_no_longer_be_disclosed(tmp_path: Path) -> None:
    """A registration that comes to nothing must not hold the budget for ever."""
    clock = Clock()
    experiments = frozen(tmp_path, kind="private", shape_count=32, now=clock)
    plan = dataclasses.replace(PLAN, lifetime_s=3600)
    for number in range(4):
        experiments.create(dataclasses.replace(plan, experiment_id=f"old-{number}"), party=PARTY)
    with pytest.raises(BudgetSpent):
        experiments.create(numbered(0), party=PARTY)

    clock.now += timedelta(hours=1)

    assert registered(experiments, [PARTY], 9) == 4
    assert {bank.phase for bank in experiments.get("north", "old-0").banks} == {BankPhase.EXPIRED}
    with pytest.raises(Expired, match="expired, or was withdrawn, on 2026-01-01 01:00 UTC"):
        experiments.releases.charge("north", "old-0")
    with pytest.raises(Expired):
        experiments.answers.seal("north", "old-0", "sql-base", request_id="late")


def test_what_is_withdrawn_is_free_again_and_what_is_disclosed_is_not(tmp_path: Path) -> None:
    """A mistyped registration, or a stranger's, must not lock an edition for a year."""
    clock = Clock()
    experiments = frozen(tmp_path, kind="private", shape_count=32, now=clock)
    assert registered(experiments, [PARTY], 9) == 4
    clock.now += timedelta(minutes=1)

    name = numbered(0).experiment_id
    withdrawn = experiments.withdraw(name, party=PARTY)

    assert {bank.phase for bank in withdrawn.banks} == {BankPhase.EXPIRED}
    assert experiments.withdraw(name, party=PARTY) == withdrawn
    with pytest.raises(Expired, match="withdrawn"):
        experiments.answers.seal("north", name, "sql-base", request_id="late")
    assert experiments.create(numbered(0), party=PARTY) == withdrawn
    experiments.create(dataclasses.replace(PLAN, experiment_id="instead"), party=PARTY)
    with pytest.raises(BudgetSpent):
        experiments.create(dataclasses.replace(PLAN, experiment_id="one-more"), party=PARTY)
    with pytest.raises(NotFound):
        experiments.withdraw(name, party=Party("eve", "south"))


def test_projects_do_not_see_each_others_experiments(tmp_path: Path) -> None:
    """Two projects may use one id, and neither learns of the other's."""
    experiments = frozen(tmp_path, kind="private", shape_count=32)
    north, south = Party("ada", "north"), Party("bob", "south")
    experiments.create(PLAN, party=north)
    other = dataclasses.replace(PLAN, draw_count=9)

    assert experiments.create(other, party=south).plan.draw_count == 9
    assert experiments.get("north", "first").plan == PLAN


def test_the_command_permits_small_cohorts_of_private_editions_and_says_so_in_the_ledger(tmp_path: Path) -> None:
    """An administrator answers for it by name; asked twice it is one decision."""
    experiments = frozen(tmp_path, kind="private", shape_count=4)
    (tmp_path / "key").rename(tmp_path / "signing.key")
    (tmp_path / "version").write_text(f"{FORMAT}\n")
    plan = dataclasses.replace(PLAN, cohort_families_min=64)
    command = ["edition", "allow-small-cohorts", "--data-dir", str(tmp_path), "--principal", "root"]
    with pytest.raises(CohortTooSmall):
        experiments.create(plan, party=PARTY)

    first, again = (CliRunner().invoke(app, [*command, "large", "--json"]) for _ in range(2))
    missing = CliRunner().invoke(app, [*command, "other"])

    assert (json.loads(first.stdout)["is_new"], json.loads(again.stdout)["is_new"]) == (True, False)
    assert (missing.exit_code, "'other' is not frozen" in missing.stderr) == (2, True)
    assert experiments.create(plan, party=PARTY).plan == plan
    entries = Ledger(open_registry(tmp_path), Signer.load_or_create(tmp_path / "signing.key")).entries(
        project="anybody", start=0, limit=99
    )
    told = [json.loads(entry.content) for entry in entries if entry.content]
    assert [(each["edition"], each["by"]) for each in told if each["kind"] == "small-cohorts-permitted"] == [
        ("large", "root")
    ]


def test_an_administrator_withdraws_what_a_stranger_registered(tmp_path: Path) -> None:
    """Beside a server that runs; for every project, with who decided it in the ledger, and once."""
    experiments = frozen(tmp_path, kind="private", shape_count=32)
    (tmp_path / "key").rename(tmp_path / "signing.key")
    (tmp_path / "version").write_text(f"{FORMAT}\n")
    experiments.create(numbered(0), party=Party("eve", "south"))
    command = ["experiment", "withdraw", "--data-dir", str(tmp_path), "--principal", "root", "--json"]

    made = [CliRunner().invoke(app, [*command, "south", numbered(0).experiment_id]) for _ in range(2)]
    unknown = CliRunner().invoke(app, [*command, "north", numbered(0).experiment_id])

    assert [json.loads(each.stdout)["is_new"] for each in made] == [True, False]
    assert (unknown.exit_code, "does not exist in this project" in unknown.stderr) == (2, True)
    banks = experiments.get("south", numbered(0).experiment_id).banks
    assert {bank.phase for bank in banks} == {BankPhase.EXPIRED}
