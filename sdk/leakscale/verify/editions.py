"""A frozen edition: the file that was frozen, certified family by family, under the root that was logged."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leakscale.commitments import family_of, public_bytes
from leakscale.edition_files import Atom, EditionFacts, FiledCertificate, open_edition_file
from leakscale.envelopes import Opened, check_signature, open_envelope
from leakscale.merkle import tree_hash
from leakscale.models import Family, Ring
from leakscale.reading import fault_of
from leakscale.statements import Predicate, predicate_of, subject_of
from leakscale.verify.checks import Checks
from leakscale.verify.directory import ServerDirectory
from leakscale.verify.ledger import Facts

__all__ = ["CheckedEdition", "check_edition"]


@dataclass(frozen=True, slots=True)
class CheckedEdition:
    """A frozen edition whose file is the one that was frozen."""

    facts: EditionFacts
    atoms: tuple[Atom, ...]
    families: Mapping[str, Family]
    """R0 of each, by id, in order."""
    certificates: Mapping[str, Mapping[str, Any]]
    """What each certificate says, by family id."""


def check_edition(
    directory: ServerDirectory, entry: Facts, checks: Checks, *, public_key: bytes
) -> CheckedEdition | None:
    """Check the file that a ledger entry says was frozen.

    Returns:
        The edition, or None if a check failed: nothing that rests on it can be checked then.
    """
    edition_id = str(entry["edition"])
    path = directory.edition(edition_id)
    name, before = directory.relative(path), len(checks.made)
    with checks.claim(name, "it is the file that was frozen, by the ledger"):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest != entry["file"]:
            raise ValueError(f"its SHA-256 is {digest}, the ledger says {entry['file']}")
    checked: CheckedEdition | None = None
    with checks.claim(name, "each family is certified, word for word, by the server's key"):
        with open_edition_file(path) as file:
            forms = {ring: file.forms(ring) for ring in Ring}
            certificates = file.certificates()
            facts, atoms = file.facts(), file.atoms()
        statements = _certified(edition_id, certificates, forms, public_key=public_key)
        families = {family_id: family_of(public) for family_id, public in forms[Ring.R0].items()}
        checked = CheckedEdition(facts, atoms, families, statements)
    if checked is not None:
        with checks.claim(name, "the certificates' commitments give the root that was logged"):
            _require_root(checked, certificates, entry)
        with checks.claim(name, "keys, candidates and atoms are as an edition has them"):
            _require_form(checked, edition_id)
    statement = directory.edition_statement(edition_id)
    with checks.claim(directory.relative(statement), "the server states it so, signed and logged"):
        content = statement.read_bytes()
        opened = open_envelope(content, Predicate.EDITION, public_key=public_key, source="its envelope")
        _require_stated(opened, content, entry)
    return checked if all(check.holds for check in checks.made[before:]) else None


def _certified(
    edition_id: str,
    certificates: Sequence[FiledCertificate],
    forms: Mapping[Ring, Mapping[str, bytes]],
    *,
    public_key: bytes,
) -> dict[str, Mapping[str, Any]]:
    statements: dict[str, Mapping[str, Any]] = {}
    for certificate in certificates:
        family_id = certificate.family_id
        try:
            check_signature(certificate.payload, signature=certificate.signature, public_key=public_key)
            facts = predicate_of(certificate.payload, Predicate.CERTIFICATE)
            subject, digest = subject_of(certificate.payload)
            exact = forms[Ring.R0][family_id]
            if (subject, digest) != (f"editions/{edition_id}/families/{family_id}", hashlib.sha256(exact).digest()):
                raise ValueError("it is about another family")
            for ring, publics in forms.items():
                _require_public(publics[family_id], facts["rings"][ring.value]["public_digest"])
        except KeyError as error:
            raise ValueError(f"certificate of {family_id}: {fault_of(error)}") from error
        except ValueError as error:
            raise ValueError(f"certificate of {family_id}: {error}") from error
        statements[family_id] = facts
    for ring, publics in forms.items():
        if publics.keys() != statements.keys():
            raise ValueError(f"{len(publics)} families have a form in {ring}, {len(statements)} a certificate")
    return statements


def _require_public(public: bytes, digest: str) -> None:
    if hashlib.sha256(public).hexdigest() != digest:
        raise ValueError("it is for another task")
    if public_bytes(family_of(public)) != public:
        raise ValueError("its task is no canonical JSON")


def _require_root(edition: CheckedEdition, certificates: Sequence[FiledCertificate], entry: Facts) -> None:
    leaves = [bytes.fromhex(facts["truth_commitment"]) for facts in edition.certificates.values()]
    digests = b"".join(hashlib.sha256(each.payload).digest() for each in certificates)
    for what, found, filed, logged in (
        ("commitment root", tree_hash(leaves), edition.facts.commitment_root, entry["root"]),
        (
            "certificates' digest",
            hashlib.sha256(digests).digest(),
            edition.facts.certificates_digest,
            entry["certificates"],
        ),
    ):
        if not found == filed == bytes.fromhex(logged):
            raise ValueError(f"{what} is {found.hex()}, the file says {filed.hex()}, the ledger {logged}")


def _require_form(edition: CheckedEdition, edition_id: str) -> None:
    facts, families = edition.facts, edition.families
    if facts.edition_id != edition_id:
        raise ValueError(f"it is of edition {facts.edition_id!r}")
    if facts.family_count != len(families):
        raise ValueError(f"it says {facts.family_count} families and has {len(families)}")
    if len({family.key for family in families.values()}) != len(families):
        raise ValueError("two families share a key")
    for family in families.values():
        if len({candidate.answer for candidate in family.candidates}) != len(family.candidates):
            raise ValueError(f"two candidates of {family.family_id} have one answer")
    shapes = Counter((family.domain, family.shape_id) for family in families.values())
    atoms: Counter[Any] = Counter()
    for atom in edition.atoms:
        atoms[atom.domain, atom.shape_id] += atom.family_count
        if atom.family_count != facts.families_per_cell:
            raise ValueError(f"{atom.shape_id} has {atom.family_count} families in {atom.condition}")
    if atoms != shapes:
        raise ValueError("the atoms do not have the families that the shapes have")


def _require_stated(opened: Opened, content: bytes, entry: Facts) -> None:
    found = {
        "edition": opened.subject.removeprefix("editions/"),
        "file": opened.digest.hex(),
        "root": opened.facts["commitment_root"],
        "certificates": opened.facts["certificates_digest"],
        "envelope": hashlib.sha256(content).hexdigest(),
    }
    for name, value in found.items():
        if entry[name] != value:
            raise ValueError(f"{name} is {value}, the ledger says {entry[name]}")
