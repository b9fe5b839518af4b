"""An edition of a real server, held against its shapes, its seeds and its own certificates."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leakscale.models import Ring
from leakscale.statements import Predicate, predicate_of
from leakscale_server.catalog_audit.certification import Proven, prove_recipe
from leakscale_server.catalog_audit.material import Material, build_material
from leakscale_server.catalog_audit.overlap import check_overlap
from leakscale_server.catalog_audit.published import (
    PublishedEdition,
    check_published,
    check_reproof,
    open_published,
    public_families,
    read_edition_file,
)
from leakscale_server.catalog_audit.secrecy import attack
from leakscale_server.errors import IntegrityFailure, NotFound, ServerFault
from leakscale_server.sandbox_pool import SandboxPool, open_backend

from .helpers import CACHE, World


@pytest.fixture(scope="module")
def published(data_dir: Path, world: World) -> PublishedEdition:
    return open_published(data_dir, world.edition.name.removeprefix("editions/"))


@pytest.fixture(scope="module")
def material(published: PublishedEdition) -> Material:
    return build_material(published.recipe)


@pytest.fixture(scope="module")
def proven(published: PublishedEdition) -> Proven:
    with SandboxPool(open_backend("bubblewrap", state_dir=CACHE), lane_count=2) as pool:
        return prove_recipe(published.recipe, pool)


def faults(published: PublishedEdition, material: Material) -> dict[str, str]:
    return {finding.invariant: finding.fault for finding in check_published(published, material)}


def test_a_frozen_edition_is_what_its_shapes_and_seeds_give(published: PublishedEdition, material: Material) -> None:
    """While its server runs, which an audit must not disturb."""
    assert faults(published, material) == {"edition": "", "certificates": "", "vault": ""}
    assert len(published.families) == len(published.certificates) == len(published.associations) == 16


def test_running_it_again_gives_what_was_certified(published: PublishedEdition, proven: Proven) -> None:
    finding = check_reproof(published, proven)

    assert finding.fault == ""
    assert finding.checked == "16 families run again"


def test_an_attacker_is_given_certificates_too(published: PublishedEdition, material: Material) -> None:
    shown = public_families(published, material)

    for family in shown:
        statement = predicate_of(family.certificate, Predicate.CERTIFICATE)
        assert statement["family"] == family.rings[0].family_id
    assert [ring.ring for ring in shown[0].rings] == list(Ring)
    truths = np.array([family.truth for family in material.families], dtype=np.int64)
    assert {accuracy.family_count for accuracy in attack(shown, truths)} == {16}


def renamed_task(published: PublishedEdition) -> PublishedEdition:
    name, (first, second, third) = next(iter(published.families.items()))
    changed = dataclasses.replace(first, task=f"{first.task} Please.")
    return dataclasses.replace(published, families={**published.families, name: (changed, second, third)})


def lost_family(published: PublishedEdition) -> PublishedEdition:
    return dataclasses.replace(published, families=dict(list(published.families.items())[1:]))


def forged_signature(published: PublishedEdition) -> PublishedEdition:
    first, *others = published.certificates
    return dataclasses.replace(published, certificates=[dataclasses.replace(first, signature=bytes(64)), *others])


def lost_certificate(published: PublishedEdition) -> PublishedEdition:
    return dataclasses.replace(published, certificates=published.certificates[1:])


def other_truth(published: PublishedEdition) -> PublishedEdition:
    name, row = next(iter(published.associations.items()))
    changed = dataclasses.replace(row, truth=(row.truth + 1) % 4)
    return dataclasses.replace(published, associations={**published.associations, name: changed})


@pytest.mark.parametrize(
    ("spoil", "invariant", "words"),
    [
        (renamed_task, "edition", "is published otherwise than shapes and public seed give"),
        (lost_family, "edition", "and not in both"),
        (forged_signature, "certificates", "is not signed by this server's key"),
        (lost_certificate, "certificates", "is frozen without a certificate"),
        (other_truth, "vault", "has another association in the vault than the private seed gives"),
        (other_truth, "certificates", "commits to another association than the vault holds"),
    ],
)
def test_what_was_changed_is_found(
    published: PublishedEdition,
    material: Material,
    spoil: Callable[[PublishedEdition], PublishedEdition],
    invariant: str,
    words: str,
) -> None:
    """A folder that somebody edited must not pass for the one that was frozen."""
    assert words in faults(spoil(published), material)[invariant]


def test_other_utilities_and_other_fixtures_are_found(published: PublishedEdition, proven: Proven) -> None:
    name = next(iter(proven.attempts))
    redrawn = dataclasses.replace(proven, attempts={**proven.attempts, name: 1})
    moved = dataclasses.replace(proven, commitments={**proven.commitments, name: dict.fromkeys(Ring, bytes(32))})

    assert f"{name} has other utilities than when it was certified" in check_reproof(published, redrawn).fault
    assert f"{name} has other fixtures in R0 than its certificate commits to" in check_reproof(published, moved).fault


def test_no_fault_tells_a_truth(published: PublishedEdition, material: Material) -> None:
    """What an audit prints may be sent around; a position or a value in it would be an answer."""
    said = faults(other_truth(published), material)
    shown = {each.answer for family in material.families for each in family.forms[0].public.candidates}

    assert all(answer not in fault for answer in shown for fault in said.values())
    assert not any("position" in fault or "rank" in fault for fault in said.values())


def test_an_edition_file_can_be_the_earlier_edition(
    data_dir: Path, published: PublishedEdition, material: Material
) -> None:
    """A second edition from the same seeds would bring every key back."""
    earlier = read_edition_file(data_dir / "editions" / f"{published.edition_id}.sqlite")

    assert len(earlier.families) == 48
    assert "choose another public seed" in check_overlap(material, corpus=[], earlier=[earlier]).fault


def test_the_command_audits_an_edition_of_a_running_server(data_dir: Path, published: PublishedEdition) -> None:
    verb = [sys.executable, "-m", "leakscale_server", "catalog", "audit", f"editions/{published.edition_id}"]
    options = ["--data-dir", str(data_dir), "--backend", "bubblewrap", "--cache-dir", str(CACHE), "--json"]
    done = subprocess.run([*verb, *options], capture_output=True, text=True, check=False)

    told = json.loads(done.stdout)
    assert (done.returncode, told["holds"], told["families"]) == (0, True, 16)
    assert {"edition", "certificates", "vault", "again"} <= {each["invariant"] for each in told["invariants"]}


def test_what_is_no_edition_is_refused(data_dir: Path, tmp_path: Path, world: World) -> None:
    """In one line that names it, and without making a folder or a key where none was."""
    (tmp_path / "a.sqlite").write_bytes(b"no database")
    with pytest.raises(NotFound, match="is no folder of a server"):
        open_published(tmp_path / "nothing", "world")
    with pytest.raises(ServerFault, match="does not exist"):
        open_published(data_dir, "no-such-edition")
    with pytest.raises(NotFound, match="is no file of a frozen edition"):
        read_edition_file(tmp_path / "a.sqlite")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.sqlite"]


def test_a_changed_edition_file_is_not_audited(data_dir: Path, tmp_path: Path, world: World) -> None:
    """Its digest is in the registry."""
    copy = tmp_path / "copy"
    shutil.copytree(data_dir, copy)
    file = copy / "editions" / "world.sqlite"
    file.chmod(0o644)
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE meta SET value = '9' WHERE name = 'families_per_cell'")
    connection.close()

    with pytest.raises(IntegrityFailure):
        open_published(copy, "world")
