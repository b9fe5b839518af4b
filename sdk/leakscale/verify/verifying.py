"""Check everything that a server said, from a directory and its public key alone.

The order of the argument: the key signed a head, the head is over these leaves, the entries are these leaves, and
whatever else lies there is what an entry names. What this does not guard: a server that keeps two ledgers and shows
each to another caller. Whoever keeps a head, or compares heads with another caller, finds that out; `leakscale ledger
export` into the same directory again does the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leakscale.errors import NotFoundError
from leakscale.verify.checks import Check, Checks
from leakscale.verify.directory import ServerDirectory
from leakscale.verify.disclosures import check_disclosure
from leakscale.verify.editions import CheckedEdition, check_edition
from leakscale.verify.ledger import Facts, check_ledger
from leakscale.verify.openings import check_openings

__all__ = ["Verification", "verify_directory", "verify_edition"]

_FROZEN: Final = "edition-frozen"
_RETIRED: Final = "edition-retired"
_DISCLOSED: Final = "experiment-disclosed"


@dataclass(frozen=True, slots=True)
class Verification:
    """All checks, in the order in which one rests on the other."""

    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Tell whether everything holds."""
        return all(check.holds for check in self.checks)


def verify_directory(root: Path, *, public_key: bytes) -> Verification:
    """Check an exported directory: ledger, editions, openings, disclosures, and that nothing else lies there.

    Args:
        root: What `leakscale ledger export` wrote.
        public_key: Raw Ed25519 key of the server, from somebody whom you trust and not from the directory.

    Raises:
        NotFoundError: If there is no such directory.
    """
    directory, checks = _open(root), Checks()
    ledger = check_ledger(directory, checks, public_key=public_key)
    if not checks.hold:
        return Verification(tuple(checks.made))  # whatever else lies there is checked against the ledger
    editions = {
        str(entry["edition"]): check_edition(directory, entry, checks, public_key=public_key)
        for entry in _of(ledger, _FROZEN)
    }
    for entry in _of(ledger, _RETIRED):
        edition = editions.get(str(entry["edition"]))
        check_openings(directory, entry, checks, edition=edition, public_key=public_key)
    for entry in _of(ledger, _DISCLOSED):
        check_disclosure(directory, entry, checks, ledger=ledger, public_key=public_key)
    _check_nothing_else(directory, ledger, checks)
    return Verification(tuple(checks.made))


def verify_edition(root: Path, edition_id: str, *, public_key: bytes) -> Verification:
    """Check one edition of an exported directory, and its openings if it is retired.

    Raises:
        NotFoundError: If there is no such directory.
    """
    directory, checks = _open(root), Checks()
    ledger = check_ledger(directory, checks, public_key=public_key)
    if not checks.hold:
        return Verification(tuple(checks.made))
    edition: CheckedEdition | None = None
    with checks.claim(directory.relative(directory.ledger), f"edition {edition_id!r} is frozen, by the ledger"):
        if not any(entry["edition"] == edition_id for entry in _of(ledger, _FROZEN)):
            raise ValueError("no entry says so")
    for entry in _of(ledger, _FROZEN):
        if entry["edition"] == edition_id:
            edition = check_edition(directory, entry, checks, public_key=public_key)
    for entry in _of(ledger, _RETIRED):
        if entry["edition"] == edition_id:
            check_openings(directory, entry, checks, edition=edition, public_key=public_key)
    return Verification(tuple(checks.made))


def _open(root: Path) -> ServerDirectory:
    if not root.is_dir():
        raise NotFoundError(f"'{root}' is no directory; fetch one with `leakscale ledger export {root}`")
    return ServerDirectory(root)


def _of(ledger: list[Facts], kind: str) -> Iterator[Facts]:
    return (entry for entry in ledger if entry.get("kind") == kind)


def _check_nothing_else(directory: ServerDirectory, ledger: list[Facts], checks: Checks) -> None:
    known = {directory.head, directory.ledger}
    for entry in _of(ledger, _FROZEN):
        known |= {directory.edition(entry["edition"]), directory.edition_statement(entry["edition"])}
    for entry in _of(ledger, _RETIRED):
        known |= {directory.openings(entry["edition"]), directory.retirement(entry["edition"])}
    for entry in _of(ledger, _DISCLOSED):
        known.add(directory.disclosure(entry["experiment"]))
    with checks.claim(".", "every file is one that the ledger names"):
        for path in sorted(directory.root.rglob("*")):
            if not path.is_dir() and path not in known:
                raise ValueError(f"{directory.relative(path)} is none")
