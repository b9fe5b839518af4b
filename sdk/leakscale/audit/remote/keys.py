"""Whom to believe: the server's key, what else it vouches for, and what a runner's uploads are salted with."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from leakscale.audit.directory import AuditDirectory
from leakscale.envelopes import Opened, open_envelope
from leakscale.errors import IntegrityError
from leakscale.statements import Predicate, envelope_bytes

if TYPE_CHECKING:
    from leakscale.client import Client
    from leakscale.models import SignedStatement

__all__ = ["deposit_key_of", "envelope_of", "opened", "salt_of", "server_key_of"]

_SALT: Final = b"leakscale-answer-salt-v1/"


def server_key_of(client: Client, *, expected: bytes | None = None, server: str) -> bytes:
    """Return the key by which a server signs.

    Args:
        client: Of the server.
        expected: The key that it has to be, where it is known: published, or that of an earlier time.
        server: Address, for messages.

    Raises:
        IntegrityError: If it is another one.
    """
    key = client.server.info().public_key
    if expected is not None and key != expected:
        raise IntegrityError(
            f"server '{server}' signs with the key {key.hex()}, and {expected.hex()} is the one to trust; call the "
            "server that has it"
        )
    return key


def deposit_key_of(client: Client, *, server_key: bytes, server: str) -> bytes:
    """Return the key that deposits and answers are sealed to, which the server's key vouches for.

    Raises:
        IntegrityError: If the server's key did not sign it: whoever handed it out could read what is sealed to it.
    """
    found = client.audits.deposit_key()
    source = f"the deposit key of server '{server}'"
    facts = opened(found.statement, Predicate.DEPOSIT_KEY, server_key=server_key, source=source).facts
    if facts.get("public_key") != found.public_key.hex():
        raise IntegrityError(f"{source} is not the one that its statement names; nothing is sealed to it")
    return found.public_key


def opened(statement: SignedStatement, predicate: Predicate, *, server_key: bytes, source: str) -> Opened:
    """Return what a server's statement says.

    Raises:
        IntegrityError: If the key did not sign it, or it is of another type.
    """
    return open_envelope(envelope_of(statement), predicate, public_key=server_key, source=source)


def envelope_of(statement: SignedStatement) -> bytes:
    """Return a statement as the file that it is kept in."""
    return envelope_bytes(statement.payload, signature=statement.signature, public_key=statement.public_key)


def salt_of(directory: AuditDirectory, answer_set: str) -> bytes:
    """Return what keeps the digest of an upload from confirming a guess: 32 bytes, the same at each attempt."""
    return hashlib.sha256(_SALT + directory.key.read_bytes() + answer_set.encode()).digest()
