"""A disclosure: signed, logged, and about an experiment that was registered and sealed as it says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from leakscale.envelopes import Opened, open_envelope, statement_in
from leakscale.statements import Predicate
from leakscale.verify.checks import Checks
from leakscale.verify.directory import ServerDirectory
from leakscale.verify.disclosed_values import require_consistent
from leakscale.verify.ledger import Facts

__all__ = ["check_disclosure"]


def check_disclosure(
    directory: ServerDirectory, entry: Facts, checks: Checks, *, ledger: Iterable[Facts], public_key: bytes
) -> None:
    """Check the numbers that a ledger entry says were released."""
    experiment = str(entry["experiment"])
    path = directory.disclosure(experiment)
    name = directory.relative(path)
    with checks.claim(name, "the numbers are signed by the server's key and logged"):
        content = path.read_bytes()
        opened = open_envelope(content, Predicate.DISCLOSURE, public_key=public_key, source="its envelope")
        digest = hashlib.sha256(content).hexdigest()
        if digest != entry["envelope"]:
            raise ValueError(f"its SHA-256 is {digest}, the ledger says {entry['envelope']}")
        with checks.claim(name, "plan, edition and answers are the logged ones"):
            _require_logged(opened, experiment, ledger)
        with checks.claim(name, "totals are rounded as it says, and every value follows from them"):
            require_consistent(statement_in(content, public_key=public_key).payload)


def _require_logged(opened: Opened, experiment: str, ledger: Iterable[Facts]) -> None:
    facts = opened.facts
    entries = list(ledger)
    registered = _entry(entries, kind="experiment-registered", experiment=experiment)
    frozen = _entry(entries, kind="edition-frozen", edition=registered["edition"])
    seals = {
        each["bank"]: each["answers"]
        for each in entries
        if each["kind"] == "bank-sealed" and each["experiment"] == experiment
    }
    found = {
        "subject": (opened.subject, f"experiments/{experiment}"),
        "experiment": (facts.get("experiment_id"), experiment),
        "edition": (facts.get("edition_id"), registered["edition"]),
        "plan": (opened.digest.hex(), registered["plan"]),
        "commitment root": (facts.get("commitment_root"), frozen["root"]),
        "certificates": (facts.get("certificates_digest"), frozen["certificates"]),
        "answers": (facts.get("banks"), seals),
    }
    for name, (said, logged) in found.items():
        if said != logged:
            raise ValueError(f"{name}: it says {said}, the ledger {logged}")


def _entry(entries: Iterable[Facts], **fields: Any) -> Mapping[str, Any]:
    for entry in entries:
        if all(entry.get(name) == value for name, value in fields.items()):
            return entry
    said = ", ".join(f"{name} {value!r}" for name, value in fields.items())
    raise ValueError(f"the ledger has no entry with {said}")
