"""The ledger: its head is the server's, its entries give that head, and they tell a possible story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from leakscale.digests import canonical_json
from leakscale.heads import head_bytes
from leakscale.merkle import leaf_hash, tree_hash
from leakscale.models import LedgerEntry, LedgerHead
from leakscale.verify.audit_story import AUDIT_FIELDS, AuditStory
from leakscale.verify.checks import Checks
from leakscale.verify.directory import ServerDirectory, facts_of, read_entries, read_head

__all__ = ["Facts", "check_head_signature", "check_ledger"]

Facts = Mapping[str, Any]
"""What one entry says."""

_FIELDS: Final[Mapping[str, Sequence[str]]] = {
    "edition-frozen": ("edition", "file", "root", "certificates", "envelope"),
    "edition-retired": ("edition", "openings", "envelope"),
    "experiment-registered": ("experiment", "edition", "plan"),
    "bank-sealed": ("experiment", "bank", "answers"),
    "experiment-disclosed": ("experiment", "envelope"),
    **AUDIT_FIELDS,
}
"""What an entry of a kind says at least, each a text; entries of other kinds are in the tree and nothing more."""


def check_ledger(directory: ServerDirectory, checks: Checks, *, public_key: bytes) -> list[Facts]:
    """Check head, entries and their order; return what the entries say that the caller may read."""
    head: LedgerHead | None = None
    entries: list[LedgerEntry] = []
    facts: list[Facts] = []
    name = directory.relative(directory.head)
    with checks.claim(name, "the head is signed by the server's key"):
        read = read_head(directory.head)
        check_head_signature(read, public_key=public_key)
        head = read
    name = directory.relative(directory.ledger)
    with checks.claim(name, "each entry has its leaf and its place"):
        entries = list(read_entries(directory.ledger))
        facts = [_facts(entry) for entry in entries if entry.content]
    with checks.claim(name, "all leaves together give the root of the head"):
        if head is None:
            raise ValueError("not checked: there is no head to trust")
        _require_root(head, entries)
    with checks.claim(name, "what follows from what: frozen, registered, sealed, retired"):
        _require_order(facts)
    return facts


def check_head_signature(head: LedgerHead, *, public_key: bytes) -> None:
    """Check that a head is signed.

    Raises:
        ValueError: If it names another key, or the signature does not hold.
    """
    if head.public_key != public_key:
        raise ValueError(f"it is of the key {head.public_key.hex()}, not of {public_key.hex()}")
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    signed = head_bytes(entry_count=head.entry_count, root=head.root)
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(head.signature, signed)
    except InvalidSignature as error:
        raise ValueError("its signature does not hold; entry count, root or signature was changed") from error


def _facts(entry: LedgerEntry) -> Facts:
    where = f"line {entry.position + 1}"
    if leaf_hash(entry.content) != entry.leaf:
        raise ValueError(f"{where}: the entry is not the one of its leaf")
    facts = facts_of(entry)
    if canonical_json(facts) != entry.content:
        raise ValueError(f"{where}: the entry is no canonical JSON")
    if facts.get("position") != entry.position:
        raise ValueError(f"{where}: the entry says position {facts.get('position')}, it stands at {entry.position}")
    lacking = [name for name in _FIELDS.get(str(facts.get("kind")), ()) if not isinstance(facts.get(name), str)]
    if lacking:
        raise ValueError(f"{where}: the entry lacks {', '.join(lacking)}")
    return facts


def _require_root(head: LedgerHead, entries: Sequence[LedgerEntry]) -> None:
    if len(entries) != head.entry_count:
        raise ValueError(f"there are {len(entries)} entries, the head is over {head.entry_count}")
    root = tree_hash(entry.leaf for entry in entries)
    if root != head.root:
        raise ValueError(f"their root is {root.hex()}, the head says {head.root.hex()}; a leaf was changed")


def _require_order(entries: Sequence[Facts]) -> None:
    story = _Story()
    for facts in entries:
        try:
            story.tell(facts)
        except ValueError as error:
            raise ValueError(f"line {facts['position'] + 1}: {error}") from error


class _Story:
    """What has happened so far."""

    def __init__(self) -> None:
        self._frozen: set[str] = set()
        self._retired: set[str] = set()
        self._registered: dict[str, str] = {}
        self._sealed: set[tuple[str, str]] = set()
        self._audits = AuditStory()

    def tell(self, facts: Facts) -> None:
        """Let the next thing happen.

        Raises:
            ValueError: If it cannot follow what was before.
        """
        tell = {
            "edition-frozen": self._freeze,
            "edition-retired": self._retire,
            "experiment-registered": self._register,
            "bank-sealed": self._seal,
            **self._audits.tellers,
        }.get(str(facts.get("kind")))
        if tell is not None:
            tell(facts)

    def _freeze(self, facts: Facts) -> None:
        edition = facts["edition"]
        _once(edition, self._frozen, f"edition {edition!r} is frozen")

    def _retire(self, facts: Facts) -> None:
        edition = facts["edition"]
        if edition not in self._frozen:
            raise ValueError(f"edition {edition!r} is retired before it is frozen")
        _once(edition, self._retired, f"edition {edition!r} is retired")

    def _register(self, facts: Facts) -> None:
        experiment, edition = facts["experiment"], facts["edition"]
        if edition not in self._frozen:
            raise ValueError(f"experiment {experiment!r} is registered before its edition {edition!r} is frozen")
        if edition in self._retired:
            raise ValueError(f"experiment {experiment!r} is registered after its edition {edition!r} is retired")
        self._registered[experiment] = edition

    def _seal(self, facts: Facts) -> None:
        experiment, bank = facts["experiment"], facts["bank"]
        edition = self._registered.get(experiment)
        if edition is None:
            raise ValueError(f"bank {bank!r} is sealed before its experiment {experiment!r} is registered")
        if edition in self._retired:
            raise ValueError(f"bank {bank!r} of experiment {experiment!r} is sealed after its edition is retired")
        _once((experiment, bank), self._sealed, f"bank {bank!r} of experiment {experiment!r} is sealed")


def _once(what: Any, before: set[Any], claim: str) -> None:
    if what in before:
        raise ValueError(f"{claim} twice")
    before.add(what)
