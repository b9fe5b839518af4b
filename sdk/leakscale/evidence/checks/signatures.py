"""Signatures and ledger proofs: what the server said is signed, logged, and about this study.

What this does not show: whose key it is, unless whoever verifies brings the key; and that the server shows everybody
the same ledger, for which heads are compared.
"""

from __future__ import annotations

import hashlib
import json

from leakscale.errors import IntegrityError
from leakscale.evidence.checks.outcome import Checked, counted, require_same
from leakscale.evidence.tree import EvidenceTree
from leakscale.reading import parse_json
from leakscale.statements import envelope_bytes
from leakscale.study.registration import plan_bytes, registered_plan
from leakscale.verify.directory import read_head
from leakscale.verify.verifying import verify_directory

__all__ = ["check_signatures"]


def check_signatures(tree: EvidenceTree, *, public_key: bytes | None = None) -> Checked:
    """Check the export of the server, and that plan, certificates and disclosure of the tree are in it.

    Args:
        tree: What is checked.
        public_key: Raw key of the server, from somebody whom you trust; None takes the one in the tree.
    """
    directory = tree.layout.server
    with tree.naming(directory.head):
        key = read_head(directory.head).public_key if public_key is None else public_key
    verification = verify_directory(directory.root, public_key=key)
    for check in verification.checks:
        if not check.holds:
            name = tree.layout.relative(directory.root / check.subject)
            raise IntegrityError(f"{name}: {check.claim}: {check.fault}")
    _require_plan(tree)
    _require_disclosure(tree, key)
    lines = _require_certificates(tree)
    what = (
        f"{counted(len(verification.checks), 'claim', 'claims')} on {counted(len(tree.ledger), 'entry', 'entries')} of "
        f"the ledger and {counted(lines, 'certificate', 'certificates')}, all signed by {key.hex()[:16]}"
    )
    note = "" if public_key is not None else "the key is the tree's own; --public-key says whose it has to be"
    return Checked(len(verification.checks) + lines, what, note)


def _require_plan(tree: EvidenceTree) -> None:
    path = tree.layout.plan
    name, content = tree.layout.relative(path), path.read_bytes()
    own = ("experiment-registered", tree.study.experiment.id)
    entry = next((each for each in tree.ledger if (each["kind"], each.get("experiment")) == own), None)
    if entry is None:
        raise IntegrityError(f"{name}: the ledger registers no experiment {tree.study.experiment.id!r}")
    require_same(name, "SHA-256, by the ledger,", hashlib.sha256(content).hexdigest(), entry["plan"])
    study = tree.study
    with tree.naming(path):
        plan = parse_json(content)
    for field, expected in (
        ("edition_id", study.edition.id),
        ("draw_count", study.experiment.draw_count),
        ("bank_seed", str(study.seeds.bank)),
        ("bootstrap_seed", str(study.seeds.bootstrap)),
        ("resample_count", study.experiment.resample_count),
        ("rings", [ring.value for ring in study.experiment.rings]),
    ):
        require_same(name, field, plan[field], expected)
    require_same(name, "content", content, plan_bytes(registered_plan(study, model_label=tree.disclosure_model)))


def _require_disclosure(tree: EvidenceTree, public_key: bytes) -> None:
    disclosure = tree.disclosure
    name = tree.layout.relative(tree.layout.disclosure)
    require_same(name, "public key", disclosure.public_key.hex(), public_key.hex())
    require_same(name, "experiment", disclosure.experiment_id, tree.study.experiment.id)
    signed = envelope_bytes(disclosure.payload, signature=disclosure.signature, public_key=disclosure.public_key)
    logged = tree.layout.server.disclosure(tree.study.experiment.id)
    digests = [hashlib.sha256(content).hexdigest() for content in (signed, logged.read_bytes())]
    require_same(name, "SHA-256 of what was signed", *digests)


def _require_certificates(tree: EvidenceTree) -> int:
    """Hold the certificates by line against those of the frozen edition; return how many there are."""
    path = tree.layout.certificates
    name = tree.layout.relative(path)
    lines = path.read_bytes().splitlines()
    require_same(name, "number of lines", len(lines), len(tree.edition.certificates))
    for number, (line, filed) in enumerate(zip(lines, tree.edition.certificates, strict=True), 1):
        fields = {
            "family": f"editions/{tree.study.edition.id}/families/{filed.family_id}",
            "payload_digest": hashlib.sha256(filed.payload).hexdigest(),
            "signature": filed.signature.hex(),
            "payload": filed.payload.decode(),
        }
        if line != json.dumps(fields).encode():
            raise IntegrityError(
                f"{name} line {number}: it is not the edition's certificate of {filed.family_id}, expected payload "
                f"digest {fields['payload_digest']}"
            )
    return len(lines)
