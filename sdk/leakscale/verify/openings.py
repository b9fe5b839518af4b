"""A retired edition: what its commitments hid is shown, and is what was committed to."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

from leakscale.commitments import condition_commitment, truth_leaf
from leakscale.envelopes import open_envelope
from leakscale.merkle import tree_hash
from leakscale.models import Opening
from leakscale.openings import opening_of_line
from leakscale.statements import Predicate
from leakscale.verify.checks import Checks
from leakscale.verify.directory import ServerDirectory, read_lines
from leakscale.verify.editions import CheckedEdition
from leakscale.verify.ledger import Facts

__all__ = ["check_openings", "require_openings"]


def check_openings(
    directory: ServerDirectory, entry: Facts, checks: Checks, *, edition: CheckedEdition | None, public_key: bytes
) -> None:
    """Check the openings that a ledger entry says were shown."""
    edition_id = str(entry["edition"])
    path, retirement = directory.openings(edition_id), directory.retirement(edition_id)
    with checks.claim(directory.relative(retirement), "the server states the openings, signed and logged"):
        content = retirement.read_bytes()
        opened = open_envelope(content, Predicate.RETIREMENT, public_key=public_key, source="its envelope")
        for what, found, logged in (
            ("edition", opened.subject, f"editions/{edition_id}"),
            ("openings", opened.digest.hex(), entry["openings"]),
            ("envelope", hashlib.sha256(content).hexdigest(), entry["envelope"]),
        ):
            if found != logged:
                raise ValueError(f"{what} is {found}, the ledger says {logged}")
    name = directory.relative(path)
    with checks.claim(name, "they are the openings that were logged"):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest != entry["openings"]:
            raise ValueError(f"its SHA-256 is {digest}, the ledger says {entry['openings']}")
    with checks.claim(name, "each opening is what its family was committed to, with key and candidates"):
        openings = [_read(line, number) for number, line in enumerate(read_lines(path), start=1)]
        if edition is None:
            raise ValueError("not checked: the edition itself does not hold")
        require_openings(openings, edition)


def require_openings(openings: Iterable[Opening], edition: CheckedEdition) -> None:
    """Check that openings are those of an edition, all of them and no others.

    Raises:
        ValueError: At the first that is not, by its family.
    """
    leaves: list[bytes] = []
    conditions: Counter[Any] = Counter()
    found: set[str] = set()
    for each in openings:
        family = edition.families.get(each.family_id)
        if family is None or each.family_id in found:
            raise ValueError(f"{each.family_id} is no family of the edition, or opened twice")
        found.add(each.family_id)
        if each.key != family.key:
            raise ValueError(f"{each.family_id} is opened with key {each.key!r}, the edition has {family.key!r}")
        if not 0 <= each.truth < len(family.candidates):
            raise ValueError(f"{each.family_id} has no candidate {each.truth}")
        leaf = truth_leaf(
            edition_id=edition.facts.edition_id,
            family_id=each.family_id,
            key=each.key,
            truth=each.truth,
            nonce=each.nonce,
        )
        certificate = edition.certificates[each.family_id]
        if leaf.hex() != certificate["truth_commitment"]:
            raise ValueError(f"{each.family_id} was committed to another truth or nonce")
        if condition_commitment(each.condition, nonce=each.nonce).hex() != certificate["condition_commitment"]:
            raise ValueError(f"{each.family_id} was committed to another condition")
        conditions[family.domain, family.shape_id, each.condition] += 1
        leaves.append(leaf)
    if found != edition.families.keys():
        raise ValueError(f"{len(edition.families) - len(found)} families are not opened")
    if tree_hash(leaves) != edition.facts.commitment_root:
        raise ValueError("together they do not give the commitment root; they stand in another order")
    atoms = {(atom.domain, atom.shape_id, atom.condition): atom.family_count for atom in edition.atoms}
    if conditions != atoms:
        raise ValueError("the conditions do not have the families that the atoms say")


def _read(line: bytes, number: int) -> Opening:
    try:
        return opening_of_line(line)
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from error
