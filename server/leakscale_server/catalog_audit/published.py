"""Hold an edition of a server against what its shapes and seeds give.

Opens the folder of a server, vault included, and changes nothing in it. Whoever may read that folder knows every truth;
no fault that is found here tells one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from leakscale.commitments import condition_commitment, public_digest, truth_leaf
from leakscale.edition_files import open_edition_file
from leakscale.errors import IntegrityError
from leakscale.models import Condition, Family, Ring
from leakscale.statements import Predicate, predicate_of, signed_bytes
from leakscale_server.catalog_audit.certification import Proven
from leakscale_server.catalog_audit.features import PublicFamily
from leakscale_server.catalog_audit.findings import Finding, find
from leakscale_server.catalog_audit.material import AuthorFile, Material, Recipe
from leakscale_server.catalog_audit.overlap import EarlierEdition
from leakscale_server.core.building.construction import Construction
from leakscale_server.errors import NotFound
from leakscale_server.registry.editions import Edition, EditionRegistry, SignedCertificate
from leakscale_server.store.data_folder import require_format
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Association, Vault
from leakscale_server.store.vault_key import read_vault_key

__all__ = [
    "PublishedEdition",
    "check_published",
    "check_reproof",
    "open_published",
    "public_families",
    "read_edition_file",
]


@dataclass(frozen=True, slots=True)
class PublishedEdition:
    """An edition as a server keeps it."""

    edition_id: str
    is_frozen: bool
    recipe: Recipe
    families: Mapping[str, tuple[Family, ...]]
    """By family id, in every ring, out of the frozen file; empty for a draft."""
    certificates: Sequence[SignedCertificate]
    associations: Mapping[str, Association]
    """What the vault holds, by family id."""
    public_key: bytes
    earlier: Sequence[EarlierEdition]
    """Frozen editions of the same server that were made before."""


def open_published(data_dir: Path, edition_id: str, *, vault_key_command: str = "") -> PublishedEdition:
    """Read an edition out of a server's folder. The server may be running.

    Raises:
        NotFound: If the folder is no server's, or it has no such edition.
        IntegrityFailure: If the edition's file is gone or not the one that was frozen.
        ConfigError: If the folder has another format.
        VaultError: If there is no key to the vault, or it does not open it.
    """
    if not (data_dir / "vault.db").is_file():
        raise NotFound(f"{data_dir} is no folder of a server; pass --data-dir with the one that it was started with")
    require_format(data_dir)
    vault_key = read_vault_key(data_dir, command=vault_key_command)
    with ExitStack() as stack:
        registry, vault = open_registry(data_dir), Vault(data_dir, vault_key)
        stack.callback(registry.close)
        stack.callback(vault.close)
        signer = Signer.load_or_create(data_dir / "signing.key")
        editions = EditionRegistry(registry, Ledger(registry, signer), signer, editions_dir=data_dir / "editions")
        edition = editions.get(edition_id)
        return PublishedEdition(
            edition_id=edition_id,
            is_frozen=edition.is_frozen,
            recipe=_recipe(edition, vault),
            families=_read_rings(editions, edition_id) if edition.is_frozen else {},
            certificates=editions.certificates.of(edition),
            associations=vault.associations(edition.key),
            public_key=signer.public_key,
            earlier=_earlier(editions, edition),
        )


def read_edition_file(path: Path) -> EarlierEdition:
    """Read the families of a frozen edition file in every ring.

    Raises:
        NotFound: If it is none.
    """
    try:
        with open_edition_file(path) as file:
            families = [family for ring in Ring for family in file.families(ring)]
    except IntegrityError as error:
        raise NotFound(f"{error}; pass one of a server's editions") from error
    return EarlierEdition(str(path), families)


def _recipe(edition: Edition, vault: Vault) -> Recipe:
    seed = vault.seed(edition.key)
    if seed is None:
        raise NotFound(
            f"edition {edition.edition_id!r} has no private seed in the vault; restore the vault from a copy"
        )
    files = tuple(
        AuthorFile(shape, source, hashlib.sha256(toml.encode()).hexdigest())
        for shape, (source, toml) in zip(edition.shapes, edition.sources, strict=True)
    )
    return Recipe(files, edition.families_per_cell, edition.public_seed, seed)


def _read_rings(editions: EditionRegistry, edition_id: str) -> dict[str, tuple[Family, ...]]:
    by_ring = [editions.families(edition_id, ring=ring) for ring in Ring]
    return {forms[0].family_id: forms for forms in zip(*by_ring, strict=True)}


def _earlier(editions: EditionRegistry, edition: Edition) -> list[EarlierEdition]:
    others = (editions.get(name) for name in editions.list_ids(before="", limit=1_000_000))
    before = [other for other in others if other.is_frozen and other.create_time < edition.create_time]
    return [
        EarlierEdition(
            f"edition {other.edition_id!r}",
            [family for ring in Ring for family in editions.families(other.edition_id, ring=ring)],
        )
        for other in before
    ]


def public_families(published: PublishedEdition, material: Material) -> list[PublicFamily]:
    """Return what is published of every family, in the order of the material's families."""
    places = {name: place for place, name in enumerate(sorted(family.family_id for family in material.families))}
    payloads = {each.family_id: each.payload for each in published.certificates}
    return [
        PublicFamily(
            rings=published.families.get(family.family_id) or [form.public for form in family.forms],
            condition=family.slot.condition.value,
            ordinal=family.slot.ordinal,
            place=places[family.family_id],
            certificate=payloads.get(family.family_id, b""),
        )
        for family in material.families
    ]


def check_published(published: PublishedEdition, material: Material) -> Iterator[Finding]:
    """Yield whether file, certificates and vault say what shapes and seeds give."""
    built = {family.family_id: family for family in material.families}
    if published.is_frozen:
        yield find("edition", f"{len(published.families)} families of the frozen file", _file_faults(published, built))
    certificates = published.certificates
    yield find("certificates", f"{len(certificates)} certificates", _certificate_faults(published, built))
    yield find("vault", f"{len(published.associations)} associations", _vault_faults(published, built))


def _file_faults(published: PublishedEdition, built: Mapping[str, Construction]) -> Iterator[str]:
    for name in sorted(built.keys() ^ published.families.keys()):
        yield f"{name} is in the file or in the catalog, and not in both"
    for name, rings in published.families.items():
        if rings != tuple(form.public for form in built[name].forms):
            yield f"{name} is published otherwise than shapes and public seed give"


def _certificate_faults(published: PublishedEdition, built: Mapping[str, Construction]) -> Iterator[str]:
    key = Ed25519PublicKey.from_public_bytes(published.public_key)
    for certificate in published.certificates:
        name = certificate.family_id
        try:
            key.verify(certificate.signature, signed_bytes(certificate.payload))
        except InvalidSignature:
            yield f"the certificate of {name} is not signed by this server's key"
        family, association = built.get(name), published.associations.get(name)
        if family is None or association is None:
            yield f"{name} has a certificate and is not in the catalog or not in the vault"
            continue
        body = predicate_of(certificate.payload, Predicate.CERTIFICATE)
        for form in family.forms:
            if body["rings"][form.public.ring]["public_digest"] != public_digest(form.public).hex():
                yield f"the certificate of {name} is for another task in {form.public.ring}"
        leaf = truth_leaf(
            edition_id=published.edition_id,
            family_id=name,
            key=association.key,
            truth=association.truth,
            nonce=association.nonce,
        )
        condition = condition_commitment(family.slot.condition, nonce=association.nonce)
        if body["condition_commitment"] != condition.hex():
            yield f"the certificate of {name} commits to another condition than the catalog gives"
        if body["truth_commitment"] != leaf.hex():
            yield f"the certificate of {name} commits to another association than the vault holds"
    missing = set(built) - {certificate.family_id for certificate in published.certificates}
    if published.is_frozen:
        yield from (f"{name} is frozen without a certificate" for name in sorted(missing))


def _vault_faults(published: PublishedEdition, built: Mapping[str, Construction]) -> Iterator[str]:
    for name, association in published.associations.items():
        family = built.get(name)
        if family is None:
            yield f"{name} is in the vault and not in the catalog"
        elif _bound(association) != (family.slot.condition, family.forms[0].public.key, family.truth, family.nonce):
            yield f"{name} has another association in the vault than the private seed gives"


def _bound(association: Association) -> tuple[Condition, str, int, bytes]:
    return association.condition, association.key, association.truth, association.nonce


def check_reproof(published: PublishedEdition, proven: Proven) -> Finding:
    """Check that running every family again gives what its certification stored."""
    checked = f"{len(proven.utilities)} families run again"
    return find("again", checked, _reproof_faults(published, proven))


def _reproof_faults(published: PublishedEdition, proven: Proven) -> Iterator[str]:
    payloads = {each.family_id: predicate_of(each.payload, Predicate.CERTIFICATE) for each in published.certificates}
    for name, utilities in proven.utilities.items():
        stored = published.associations.get(name)
        if stored is None:
            continue
        counts = [each.passed_count for each in utilities]
        if (stored.attempt, list(stored.passed_counts)) != (proven.attempts[name], counts):
            yield f"{name} has other utilities than when it was certified"
        for ring, body in payloads.get(name, {"rings": {}})["rings"].items():
            if body["fixtures_commitment"] != proven.commitments[name][Ring(ring)].hex():
                yield f"{name} has other fixtures in {ring} than its certificate commits to"
