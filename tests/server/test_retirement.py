"""The life of an edition, whose it is, and its end: truth in the open, as it was committed to."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from leakscale.cli.entry import run
from leakscale.client import Client
from leakscale.errors import (
    EditionRetiredError,
    IntegrityError,
    NotFoundError,
    NotFrozenError,
    NotRetiredError,
    PermissionDeniedError,
)
from leakscale.models import CertificationRequest, Condition, Edition, EditionPhase, ExperimentPlan, Opening
from leakscale.verify.checks import Checks
from leakscale.verify.editions import CheckedEdition, check_edition
from leakscale.verify.exporting import export_server
from leakscale.verify.ledger import check_ledger
from leakscale.verify.openings import require_openings
from leakscale_server.app import RunningServer

from .helpers import KEY, OTHER_SEEDS, World, a_draft, a_frozen_edition, a_plan, answers_to


def phases(edition: Edition) -> list[str]:
    return [transition.phase.value for transition in edition.transitions]


def test_an_edition_goes_through_its_phases_with_who_and_when(client: Client) -> None:
    """From its draft to its end, each once, in order."""
    draft = a_draft(client, "phases", **OTHER_SEEDS)
    assert (draft.phase, phases(draft)) == (EditionPhase.DRAFT, ["draft"])

    list(client.families.certify_edition(draft))
    certified = client.editions.get(draft.name)
    assert (certified.phase, certified.is_frozen) == (EditionPhase.CERTIFIED, False)

    frozen = client.editions.freeze(draft.name)
    assert (frozen.phase, frozen.is_frozen) == (EditionPhase.FROZEN, True)

    client.grants.expose(draft.name, key=KEY, request_id="r")
    assert client.editions.get(draft.name).phase is EditionPhase.EXPOSED

    retired = client.editions.retire(draft.name)
    assert retired.phase is EditionPhase.RETIRED
    assert phases(retired) == ["draft", "certified", "frozen", "exposed", "retired"]
    assert [each.principal for each in retired.transitions] == ["bootstrap", "bootstrap", "bootstrap", "", "bootstrap"]
    assert [each.time for each in retired.transitions] == sorted(each.time for each in retired.transitions)


def test_retiring_again_changes_nothing(client: Client, retired: Edition) -> None:
    """A repeated call returns what the first one made, and logs nothing."""
    before = client.ledger.head().entry_count

    assert client.editions.retire(retired.name) == retired
    assert client.ledger.head().entry_count == before


def test_only_a_frozen_edition_is_retired(client: Client) -> None:
    """A draft has committed to nothing."""
    draft = a_draft(client, "early")

    with pytest.raises(NotFrozenError, match="is a draft"):
        client.editions.retire(draft.name)


def test_nothing_is_open_before_retirement(client: Client, world: World) -> None:
    """To nobody, its author included."""
    with pytest.raises(NotRetiredError, match="is not retired, so its commitments stay closed"):
        list(client.editions.openings(world.edition.name))


def test_a_retired_edition_measures_nothing_any_more(client: Client) -> None:
    """Whoever answers with the truth at hand measures nothing; what was sealed before still counts."""
    edition, _ = a_frozen_edition(client, "late", **OTHER_SEEDS)
    families = client.editions.families(edition.name)
    done = client.experiments.create(a_plan(edition, "late-done"))
    for bank in done.banks:
        client.banks.submit(bank.name, answers_to(bank, families))
        client.banks.seal(bank.name)
    half = client.experiments.create(a_plan(edition, "late-half"))
    open_bank, full_bank = half.banks[0], half.banks[1]
    client.banks.submit(full_bank.name, answers_to(full_bank, families))

    client.editions.retire(edition.name)

    late: dict[str, Callable[[], object]] = {
        "create": lambda: client.experiments.create(a_plan(edition, "late-new")),
        "expose": lambda: client.grants.expose(edition.name, key=KEY, request_id="late"),
        "submit": lambda: client.banks.submit(open_bank.name, answers_to(open_bank, families)),
        "seal": lambda: client.banks.seal(full_bank.name),
    }
    for act in late.values():
        with pytest.raises(EditionRetiredError, match="is retired, its truth is in the open"):
            act()
    assert client.experiments.disclose(done.name).experiment_id == "late-done"
    assert client.experiments.create(a_plan(edition, "late-done")).name == done.name


def test_openings_are_what_the_families_were_committed_to(client: Client, retired: Edition) -> None:
    """All of them, each with a truth, a nonce of its own and its condition."""
    openings = list(client.editions.openings(retired.name))

    assert [each.family_id for each in openings] == [
        family.family_id for family in client.editions.families(retired.name)
    ]
    assert {each.truth for each in openings} == {0, 1, 2, 3}
    assert len({each.nonce for each in openings}) == 16
    assert [each.condition for each in openings].count(Condition.C0) == 8


def test_the_leaf_of_a_commitment_is_what_anybody_can_hash(client: Client, retired: Edition) -> None:
    """SHA-256 over one zero byte and the canonical JSON of the opening, written here by hand; then the tree."""
    leaves = []
    for each in client.editions.openings(retired.name):
        text = (
            f'{{"edition":"spent","family":"{each.family_id}","key":"{each.key}","nonce":"{each.nonce.hex()}",'
            f'"truth":{each.truth},"v":1}}'
        )
        leaves.append(hashlib.sha256(b"\x00" + text.encode()).digest())

    while len(leaves) > 1:  # sixteen: every level is even
        pairs = zip(leaves[::2], leaves[1::2], strict=True)
        leaves = [hashlib.sha256(b"\x01" + left + right).digest() for left, right in pairs]
    assert leaves[0] == retired.commitment_root


@pytest.fixture(scope="module")
def checked(client: Client, retired: Edition, tmp_path_factory: pytest.TempPathFactory) -> CheckedEdition:
    """The retired edition, as `leakscale verify` sees it."""
    directory = export_server(client, tmp_path_factory.mktemp("retired") / "export")
    key, checks = client.server.info().public_key, Checks()
    ledger = check_ledger(directory, checks, public_key=key)
    entry = next(each for each in ledger if each["kind"] == "edition-frozen" and each["edition"] == "spent")
    edition = check_edition(directory, entry, checks, public_key=key)
    assert edition is not None
    return edition


Change = Callable[[list[Opening]], list[Opening]]


def first(**changes: object) -> Change:
    """Change the first opening."""
    return lambda openings: [dataclasses.replace(openings[0], **changes), *openings[1:]]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda openings: [dataclasses.replace(openings[0], truth=openings[0].truth ^ 1), *openings[1:]], "truth"),
        (first(truth=4), "has no candidate 4"),
        (first(truth=-1), "has no candidate -1"),
        (first(nonce=bytes(32)), "was committed to another truth or nonce"),
        (first(key="K-0"), "is opened with key 'K-0'"),
        (first(family_id="f-none"), "is no family of the edition"),
        (
            lambda openings: [
                dataclasses.replace(
                    openings[0],
                    condition=Condition.C0 if openings[0].condition is Condition.C2 else Condition.C2,
                ),
                *openings[1:],
            ],
            "was committed to another condition",
        ),
        (lambda openings: openings[1:], "1 families are not opened"),
        (lambda openings: [openings[0], *openings], "or opened twice"),
        (lambda openings: openings[::-1], "they stand in another order"),
    ],
)
def test_an_opening_that_was_not_committed_to_is_caught(
    client: Client, retired: Edition, checked: CheckedEdition, change: Change, fault: str
) -> None:
    """Truth, nonce, key, family, condition and number, each by its family's name."""
    openings = list(client.editions.openings(retired.name))
    require_openings(openings, checked)

    with pytest.raises(ValueError, match=fault):
        require_openings(change(openings), checked)


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_openings_that_are_lost_are_opened_again(client: Client, data_dir: Path, damage: str) -> None:
    """A crash between record and file, or a damaged disk: retiring again writes them again, and logs nothing."""
    frozen, _ = a_frozen_edition(client, f"lost-{damage}", **OTHER_SEEDS)
    client.editions.retire(frozen.name)
    path = data_dir / "editions" / f"lost-{damage}.openings.jsonl"
    content, entries = path.read_bytes(), client.ledger.head().entry_count
    path.unlink()
    if damage == "changed":
        path.write_bytes(content.replace(b'"truth":1', b'"truth":2'))

    with pytest.raises(IntegrityError, match="run `leakscale edition retire` again"):
        list(client.editions.openings(frozen.name))
    client.editions.retire(frozen.name)

    assert path.read_bytes() == content
    assert len(list(client.editions.openings(frozen.name))) == 16
    assert client.ledger.head().entry_count == entries


def test_a_draft_exists_for_its_project_alone(client: Client, stranger: Client) -> None:
    """Another project's draft and an id that is free give the same error, whatever is asked of it."""
    draft = a_draft(client, "hidden")
    request = CertificationRequest("sql-threshold", Condition.C0, 0)

    def refusals(name: str) -> list[str]:
        acts: list[Callable[[], object]] = [
            lambda: stranger.editions.get(name),
            lambda: stranger.editions.freeze(name),
            lambda: stranger.editions.retire(name),
            lambda: stranger.editions.families(name),
            lambda: stranger.editions.family(f"{name}/families/f-0"),
            lambda: list(stranger.editions.download(name)),
            lambda: list(stranger.editions.openings(name)),
            lambda: list(stranger.families.certify(name, [request])),
            lambda: stranger.experiments.create(ExperimentPlan("hidden-x", name, "a model")),
            lambda: stranger.experiments.budget(name),
            lambda: stranger.grants.expose(name, key=KEY, request_id="hidden"),
        ]
        said = []
        for act in acts:
            with pytest.raises(NotFoundError) as caught:
                act()
            said.append(str(caught.value))
        return said

    assert refusals(draft.name) == [said.replace("nobody", "hidden") for said in refusals("editions/nobody")]
    assert draft.name not in [edition.name for edition in stranger.editions.list()]
    assert draft.name in [edition.name for edition in client.editions.list()]


def test_a_frozen_edition_is_for_all_and_its_end_for_its_project(
    client: Client, stranger: Client, world: World, retired: Edition
) -> None:
    """Everybody may read and check it; who did what is its project's business, and so is its retirement."""
    seen = stranger.editions.get(world.edition.name)

    assert seen.freeze_statement == world.edition.freeze_statement
    assert stranger.editions.families(world.edition.name) == world.families
    assert {each.principal for each in seen.transitions} == {""}
    assert list(stranger.editions.openings(retired.name)) == list(client.editions.openings(retired.name))
    with pytest.raises(PermissionDeniedError, match="another project's"):
        stranger.editions.retire(world.edition.name)


def test_one_family_is_read_by_its_name(client: Client, world: World) -> None:
    """In each ring the same as in the list."""
    from leakscale.models import Ring

    for ring in Ring:
        family = client.editions.families(world.edition.name, ring=ring)[3]
        assert client.editions.family(f"{world.edition.name}/families/{family.family_id}", ring=ring) == family
    with pytest.raises(NotFoundError, match="has no family 'f-none'"):
        client.editions.family(f"{world.edition.name}/families/f-none")


def test_the_command_asks_before_it_opens_the_truth(
    server: RunningServer, retired: Edition, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It cannot be taken back."""
    monkeypatch.setenv("LEAKSCALE_SERVER", server.target)
    monkeypatch.setenv("LEAKSCALE_TOKEN", server.token)

    assert run(["edition", "retire", "world"]) == 2
    assert "add --yes" in capsys.readouterr().err
    assert run(["edition", "retire", "spent", "--yes"]) == 0
    assert "editions/spent  practice  retired" in capsys.readouterr().out
    assert run(["edition", "show", "world"]) == 0
    shown = capsys.readouterr().out
    assert "phase                exposed" in shown
    assert "bootstrap" in shown
