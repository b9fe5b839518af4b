"""Facts that hold no truth and no utility: digests of tokens, editions, grants, experiments, answers, disclosures."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from leakscale_server.config import ConfigError
from leakscale_server.store.database import InsertOnlyDatabase, Table

__all__ = ["open_registry", "require_key"]

_TABLES: Final = (
    Table(
        "editions",
        {
            "edition_id": str,
            "kind": str,
            "families_per_cell": int,
            "public_seed": bytes,
            "project": str,
            "request_digest": str,
            "create_time": str,
        },
        ("edition_id",),
    ),
    Table(
        "shapes",
        {"edition_id": str, "position": int, "shape_id": str, "source": str, "toml": str},
        ("edition_id", "position"),
        unique=("edition_id", "shape_id"),
    ),
    Table(
        "certificates",
        {
            "edition_id": str,
            "family_id": str,
            "shape_id": str,
            "condition": str,
            "ordinal": int,
            "payload": bytes,
            "payload_digest": bytes,
            "signature": bytes,
        },
        ("edition_id", "family_id"),
        unique=("edition_id", "shape_id", "condition", "ordinal"),
    ),
    Table(
        "freezes",
        {
            "edition_id": str,
            "file_digest": str,
            "commitment_root": bytes,
            "certificates_digest": bytes,
            "payload": bytes,
            "signature": bytes,
        },
        ("edition_id",),
    ),
    Table(
        "transitions",
        {"edition_id": str, "phase": str, "time": str, "principal": str},
        ("edition_id", "phase"),
    ),
    Table(
        "retirements",
        {"edition_id": str, "openings_digest": bytes, "payload": bytes, "signature": bytes},
        ("edition_id",),
    ),
    Table(
        "grants",
        {
            "grant_id": str,
            "edition_id": str,
            "project": str,
            "holder": str,
            "holder_key": bytes,
            "preservation_count": int,
            "request_id": str,
            "create_time": str,
        },
        ("grant_id",),
        unique=("edition_id", "project", "holder", "request_id"),
    ),
    Table(
        "grant_approvals",
        {"grant_id": str, "approver": str, "approve_time": str, "expire_time": str},
        ("grant_id",),
    ),
    Table("redemptions", {"grant_id": str, "request_id": str, "principal": str, "redeem_time": str}, ("grant_id",)),
    Table(
        "experiments",
        {
            "project": str,
            "experiment_id": str,
            "principal": str,
            "edition_id": str,
            "plan": str,
            "create_time": str,
            "expire_time": str,
        },
        ("project", "experiment_id"),
    ),
    # What a registration sets aside, spent once it is charged.
    Table(
        "reservations",
        {
            "project": str,
            "experiment_id": str,
            "principal": str,
            "edition_id": str,
            "domain": str,
            "shape_id": str,
            "condition": str,
            "release_count": int,
            "millibits": int,
        },
        ("project", "experiment_id", "shape_id", "condition"),
    ),
    Table("charges", {"project": str, "experiment_id": str, "charge_time": str}, ("project", "experiment_id")),
    Table("small_cohort_permits", {"edition_id": str, "principal": str, "permit_time": str}, ("edition_id",)),
    Table(
        "chunks",
        {
            "project": str,
            "experiment_id": str,
            "bank_id": str,
            "number": int,
            "digest": bytes,
            "principal": str,
            "answer_count": int,
            "places": bytes,
            "lines": bytes,
        },
        ("project", "experiment_id", "bank_id", "number"),
    ),
    Table(
        "seals",
        {
            "project": str,
            "experiment_id": str,
            "bank_id": str,
            "request_id": str,
            "answers_digest": bytes,
            "ledger_index": int,
            "seal_time": str,
        },
        ("project", "experiment_id", "bank_id"),
    ),
    Table(
        "scores",
        {
            "project": str,
            "experiment_id": str,
            "payload": bytes,
            "signature": bytes,
            "public_key": bytes,
            "score_time": str,
        },
        ("project", "experiment_id"),
    ),
    Table(
        "withdrawals",
        {"project": str, "experiment_id": str, "principal": str, "withdraw_time": str},
        ("project", "experiment_id"),
    ),
    Table(
        "disclosures",
        {"project": str, "experiment_id": str, "ledger_index": int, "disclose_time": str},
        ("project", "experiment_id"),
    ),
    Table(
        "tokens",
        {
            "token_id": str,
            "principal": str,
            "project": str,
            "role": str,
            "scopes": str,
            "digest": bytes,
            "create_time": str,
            "expire_time": str,
        },
        ("token_id",),
    ),
    # The earliest end counts: a token that ends after an overlap can still be revoked before.
    Table("signing_keys", {"name": str, "public_key": bytes}, ("name",)),
    Table("token_ends", {"token_id": str, "end_time": str}, ("token_id", "end_time")),
    Table(
        "audits",
        {
            "project": str,
            "audit_id": str,
            "depositor": str,
            "title": str,
            "author_key": bytes,
            "registration": bytes,
            "model_ids": str,
            "banks": str,
            "create_time": str,
        },
        ("project", "audit_id"),
    ),
    Table(
        "audit_amendments",
        {
            "project": str,
            "audit_id": str,
            "number": int,
            "amendment": bytes,
            "principal": str,
            "payload": bytes,
            "signature": bytes,
        },
        ("project", "audit_id", "number"),
    ),
    Table(
        "audit_fetches",
        {"project": str, "audit_id": str, "bank": str, "principal": str, "fetch_time": str},
        ("project", "audit_id", "bank", "principal"),
    ),
    # Sealed to the vault's key; each principal has chunks of its own until one of them seals the set.
    Table(
        "form_chunks",
        {
            "project": str,
            "audit_id": str,
            "variant": str,
            "bank": str,
            "model_id": str,
            "principal": str,
            "number": int,
            "version": int,
            "digest": bytes,
            "answer_count": int,
            "case_count": int,
            "places": bytes,
            "sealed": bytes,
        },
        ("project", "audit_id", "variant", "bank", "model_id", "principal", "number", "version"),
    ),
    Table(
        "form_seals",
        {
            "project": str,
            "audit_id": str,
            "variant": str,
            "bank": str,
            "model_id": str,
            "principal": str,
            "request_id": str,
            "chunk_count": int,
            "ledger_index": int,
            "payload": bytes,
            "signature": bytes,
        },
        ("project", "audit_id", "variant", "bank", "model_id"),
    ),
    Table(
        "audit_scores",
        {
            "project": str,
            "audit_id": str,
            "variant": str,
            "ledger_index": int,
            "payload": bytes,
            "signature": bytes,
            "release_time": str,
        },
        ("project", "audit_id", "variant"),
    ),
    Table(
        "audit_tables",
        {"project": str, "audit_id": str, "variant": str, "position": int, "content": bytes},
        ("project", "audit_id", "variant", "position"),
    ),
    # Of no project: for everybody.
    Table("ledger", {"position": int, "project": str, "entry": bytes, "leaf": bytes}, ("position",)),
)


def open_registry(data_dir: Path) -> InsertOnlyDatabase:
    """Open or create the registry of a server."""
    return InsertOnlyDatabase(data_dir / "registry.db", _TABLES)


def require_key(registry: InsertOnlyDatabase, public_key: bytes) -> None:
    """Keep the key that a server signs with; from then on take no other.

    Raises:
        ConfigError: If the registry was begun under another key.
    """
    registry.add("signing_keys", [{"name": "server", "public_key": public_key}])
    kept = registry.row("SELECT public_key FROM signing_keys")
    if kept is None or kept["public_key"] != public_key:
        raise ConfigError(
            "signing.key is another one than this registry was begun with, and who trusts that one would trust nothing "
            "signed from now on; restore the file from a copy of the folder"
        )
