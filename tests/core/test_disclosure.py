"""What may be disclosed of an edition: no small set can be cut out, and no account is overdrawn."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.models import Condition, Domain
from leakscale.stats.transfer.fieller import RatioSet, RatioShape
from leakscale_server.core.disclosure.atoms import Atom, Cell, Cohort, atoms_of, cells_of
from leakscale_server.core.disclosure.budget import Account, Overdraft, TooSmall, first_overdraft, tiers_of
from leakscale_server.core.disclosure.cells import class_sizes, classes
from leakscale_server.core.disclosure.cost import Cost, cost_of, millibits
from leakscale_server.core.disclosure.grids import BOUND_COUNT, OFFSET_COUNT
from leakscale_server.core.disclosure.policy import TIERS, Tier, tier_of
from leakscale_server.core.disclosure.rounding import round_bounds, round_ends

SHAPES = [f"sql-{number}" for number in range(6)]
FEW = [Atom(Domain.SQL, shape, Condition.C0) for shape in SHAPES]
cell = st.frozensets(st.sampled_from(FEW), min_size=1)


def an_edition(shape_count: int, *, domains: Sequence[Domain] = (Domain.SQL,)) -> tuple[Atom, ...]:
    return atoms_of((domain, f"{domain}-{number}") for domain in domains for number in range(shape_count))


def everything(atoms: Sequence[Atom]) -> Cohort:
    return Cohort("everything", tuple(sorted({atom.shape_id for atom in atoms})))


def ring_of(cells: Sequence[Cell]) -> set[Cell]:
    """Close cells under union and difference the long way."""
    found = set(cells)
    while True:
        more = {made for a, b in itertools.product(found, repeat=2) for made in (a | b, a - b)} - found
        if not more:
            return found - {frozenset()}
        found |= more


@given(st.lists(cell, min_size=1, max_size=3))
def test_classes_are_the_smallest_sets_that_union_and_difference_make(cells: list[Cell]) -> None:
    """A floor on the classes is worth as much as one on everything that an attacker can derive, and no less."""
    derivable = ring_of(cells)
    found = classes(cells)

    assert set(found) == {each for each in derivable if not any(other < each for other in derivable)}
    assert sorted(atom for group in found for atom in group) == sorted(frozenset().union(*cells))


def test_a_cohort_that_leaves_few_families_out_is_too_small_beside_the_whole() -> None:
    """Leave-one-out: the difference of two large totals is a total over the shape that was left out."""
    atoms = an_edition(40)
    whole, rest = cells_of(everything(atoms), atoms), cells_of(Cohort("rest", everything(atoms).shape_ids[1:]), atoms)

    alone = tiers_of(rest, families_per_atom=16, is_opted_in=False)
    beside = tiers_of([*whole, *rest], families_per_atom=16, is_opted_in=False)

    assert not isinstance(alone, TooSmall)
    assert isinstance(beside, TooSmall)
    assert beside.family_count == 16
    assert {atom.shape_id for atom in beside.atoms} == {everything(atoms).shape_ids[0]}


def test_a_cohort_has_a_cell_for_each_condition_of_each_domain_it_names() -> None:
    """Totals are never over both conditions or both domains at once."""
    atoms = an_edition(2, domains=list(Domain))

    cells = cells_of(Cohort("some", ("sql-0", "python-0", "python-1")), atoms)

    assert [sorted(atom.name for atom in each) for each in cells] == [
        ["python/python-0/C0", "python/python-1/C0"],
        ["python/python-0/C2", "python/python-1/C2"],
        ["sql/sql-0/C0"],
        ["sql/sql-0/C2"],
    ]


@pytest.mark.parametrize(
    ("family_count", "releases"), [(4096, (8, 16)), (512, (8, 16)), (511, (4, 4)), (128, (4, 4)), (127, None)]
)
def test_the_table_gives_larger_classes_more(family_count: int, releases: tuple[int, int] | None) -> None:
    """The figures are the measured ones; they are data, and this is what they say."""
    tier = tier_of(family_count, is_opted_in=False)

    assert (tier and (tier.project.release_count, tier.edition.release_count)) == releases


@pytest.mark.parametrize(("family_count", "is_allowed"), [(127, True), (64, True), (63, False), (1, False)])
def test_small_classes_need_an_administrator_and_the_smallest_have_none(family_count: int, is_allowed: bool) -> None:
    """Below 64 families nothing leaves before the edition is retired, whoever asks."""
    tier = tier_of(family_count, is_opted_in=True)

    assert (tier is not None) is is_allowed
    assert tier is None or (tier.project.release_count, tier.edition.release_count) == (2, 2)


@pytest.mark.parametrize(("shape_count", "comparisons"), [(256, 4), (32, 4), (8, 2)])
def test_the_bits_let_every_release_through(shape_count: int, comparisons: int) -> None:
    """In both domains with every interval; else the releases of the table would be promised and not given."""
    atoms = an_edition(shape_count, domains=list(Domain))
    cost = cost_of([everything(atoms)], atoms, families_per_atom=16, ring_count=1)
    tier = tier_of(16 * shape_count, is_opted_in=False)

    assert tier is not None
    assert {each.release_count * comparisons for each in cost.values()} == {tier.project.release_count}
    assert max(each.millibits for each in cost.values()) * comparisons <= tier.project.millibits


def test_a_total_costs_one_value_more_than_it_has_families() -> None:
    """It is told in whole families, so draws used as weights add nothing that would have to be paid for."""
    costs = []
    for shape_count in (32, 64):
        atoms = an_edition(shape_count)
        costs.append(cost_of([everything(atoms)], atoms, families_per_atom=16, ring_count=1)[atoms[0]].millibits)

    assert costs[1] - costs[0] == 2 * (millibits(1025) - millibits(513))
    assert millibits(513) == 9003


def test_a_cohort_beside_the_whole_is_charged_to_its_own_atoms() -> None:
    """Whoever looks at half the shapes twice spends twice on them, and once on the others."""
    atoms = an_edition(4)
    half = Cohort("half", ("sql-0", "sql-1"))

    cost = cost_of([everything(atoms), half], atoms, families_per_atom=16, ring_count=1)

    assert {atom.shape_id: each.release_count for atom, each in cost.items()} == {
        "sql-0": 4, "sql-1": 4, "sql-2": 2, "sql-3": 2,
    }  # fmt: skip


@given(
    cohorts=st.lists(st.frozensets(st.integers(0, 39), min_size=1), max_size=12),
    projects=st.lists(st.sampled_from(["north", "south", "east"]), min_size=12, max_size=12),
    ring_count=st.integers(1, 3),
)
def test_whatever_is_admitted_keeps_the_floor_and_every_allowance(
    cohorts: list[frozenset[int]], projects: list[str], ring_count: int
) -> None:
    """A history of plans of several parties, each admitted or refused as the registry does."""
    atoms = an_edition(40)
    cells: list[Cell] = []
    spent: dict[str, Counter[Atom]] = {name: Counter() for name in ("north", "south", "east", "edition")}
    bits: dict[str, Counter[Atom]] = {name: Counter() for name in spent}
    for chosen, project in zip(cohorts, projects, strict=False):
        plan = [everything(atoms), Cohort("some", tuple(f"sql-{number}" for number in sorted(chosen)))]
        own = [each for cohort in plan for each in cells_of(cohort, atoms)]
        tiers = tiers_of([*cells, *own], families_per_atom=16, is_opted_in=False)
        if isinstance(tiers, TooSmall):
            continue
        asked = cost_of(plan, atoms, families_per_atom=16, ring_count=ring_count)
        before = {
            account: {atom: Cost(spent[name][atom], bits[name][atom]) for atom in asked}
            for account, name in zip(Account, (project, project, "edition"), strict=True)
        }
        if first_overdraft(asked, before, tiers) is not None:
            continue
        cells += own
        for name in (project, "edition"):
            spent[name].update({atom: each.release_count for atom, each in asked.items()})
            bits[name].update({atom: each.millibits for atom, each in asked.items()})

    sizes = class_sizes(cells, families_per_atom=16)
    assert all(size >= 128 for size in sizes.values())
    for name, each in spent.items():
        most = 16 if name == "edition" else 8
        assert all(count <= most for count in each.values())
        assert all(count <= 1_024_000 for count in bits[name].values())


@pytest.mark.parametrize("account", list(Account))
@pytest.mark.parametrize("kind", ["releases", "bits"])
def test_each_account_runs_out_of_either_currency_by_itself(account: Account, kind: str) -> None:
    """Eight principals of one project, or eight projects of one edition, do not have eight budgets."""
    atom, tier = FEW[0], TIERS[0]
    allowance = account.allowance(tier)
    full = Cost(allowance.release_count, 0) if kind == "releases" else Cost(0, allowance.millibits)
    spent: dict[Account, Mapping[Atom, Cost]] = {each: {} for each in Account}

    assert first_overdraft({atom: Cost(1, 1)}, spent, {atom: tier}) is None
    found = first_overdraft({atom: Cost(1, 1)}, {**spent, account: {atom: full}}, {atom: tier})

    assert found == Overdraft(account, atom, allowance, full, Cost(1, 1))
    assert found.is_of_releases is (kind == "releases")


def test_a_split_lowers_the_allowance_of_what_it_splits() -> None:
    """Two halves of 512 families are two classes of 256, with the budget of 256."""
    atoms = an_edition(32)
    halves = [Cohort("low", tuple(f"sql-{n}" for n in range(16))), everything(atoms)]

    tiers = tiers_of(
        [each for cohort in halves for each in cells_of(cohort, atoms)], families_per_atom=16, is_opted_in=False
    )

    assert not isinstance(tiers, TooSmall)
    assert set(tiers.values()) == {TIERS[1]}


@given(
    estimate=st.floats(-2, 2),
    below=st.floats(-0.5, 4),
    above=st.floats(-0.5, 4),
    error_max=st.floats(0, 0.05),
    off_by=st.floats(-1, 1),
)
def test_rounded_ends_only_widen_an_interval(
    estimate: float, below: float, above: float, error_max: float, off_by: float
) -> None:
    """What covered before covers after, and the estimate that is told lies inside, however it was rounded."""
    told = estimate + off_by * error_max

    low, high = round_ends(told, below=below, above=above, error_max=error_max)

    assert low <= told <= high
    if max(below, above) > 0:
        assert low <= estimate - below + 1e-9
        assert high >= estimate + above - 1e-9
    assert told - low <= max(1.1 * (below + error_max), 2**-8) + 1e-9


@given(below=st.floats(0, 1), above=st.floats(0, 1), error_max=st.floats(0, 0.05), told=st.integers(-512, 512))
def test_distances_of_ends_do_not_say_what_was_rounded_away(
    below: float, above: float, error_max: float, told: int
) -> None:
    """They depend on how families spread and not on the part of a family by which the estimate is off."""
    value = told / 512

    low, high = round_ends(value, below=below, above=above, error_max=error_max)
    first, last = round_ends(0.0, below=below, above=above, error_max=error_max)

    assert (value - low, high - value) == pytest.approx((-first, last), abs=1e-12)


@pytest.mark.parametrize("error_max", [0.0, 2 / 512])
def test_ends_take_no_more_values_than_are_charged(error_max: float) -> None:
    """The bits of an interval are counted by its grid, so the grid must be all there is."""
    steps = [step / 10_000 for step in range(80_001)]
    found = {round_ends(0.0, below=below, above=0.0, error_max=error_max)[0] for below in steps}

    assert len(found) <= OFFSET_COUNT
    assert len(found) == OFFSET_COUNT or error_max


def test_bounds_of_a_share_take_no_more_values_than_are_charged() -> None:
    """A share of another ring's effect is a number like the others."""
    found = {round_bounds(RatioSet(RatioShape.TWO_RAYS, step / 100, None)).low for step in range(-10_000, 10_001)}

    assert len(found - {None}) == BOUND_COUNT


@given(st.floats(-100, 100), st.floats(-100, 100), st.sampled_from([RatioShape.BOUNDED, RatioShape.TWO_RAYS]))
def test_rounded_shares_keep_every_ratio_that_they_had(one: float, other: float, shape: RatioShape) -> None:
    """A wider set still says the truth; a narrower one would promise what was not computed."""
    before = RatioSet(shape, min(one, other), max(one, other))
    after = round_bounds(before)

    for ratio in (one, other, (one + other) / 2, one - 1, one + 1, -200.0, 200.0):
        assert after.contains(ratio) or not before.contains(ratio)


def test_the_docs_name_every_allowance() -> None:
    """Whoever plans a study reads them there."""
    page = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")

    for tier in TIERS:
        project, edition = (
            f"{each.release_count} releases, {each.millibits / 1000:,.0f} bits" for each in (tier.project, tier.edition)
        )
        assert f"| {project} | {edition} |" in page


def test_tiers_are_listed_from_the_largest() -> None:
    """The first that fits is taken."""
    sizes = [tier.families_min for tier in TIERS]

    assert sizes == sorted(sizes, reverse=True)
    assert all(isinstance(tier, Tier) for tier in TIERS)
