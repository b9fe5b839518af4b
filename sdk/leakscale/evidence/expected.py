"""Summary and provenance, written once more from the other files of a tree: what they say has to follow from those."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from leakscale.evidence.tree import EvidenceTree
from leakscale.models import ModelState
from leakscale.reading import parse_json
from leakscale.study.config import named_seeds
from leakscale.study.released import numbers_digest, released_counts, released_numbers

__all__ = ["expected_provenance", "expected_summary", "unconstrained_mass"]

_ROUNDING = 1e-3
"""Of a sum of probabilities read in the precision of a network."""
_ELSEWHERE = {"model", "tokenizer", "template", "adapter", "torch", "transformers"}
"""Fields of an engine that a provenance has in another place."""


def expected_summary(tree: EvidenceTree) -> dict[str, Any]:
    """Return every field of a summary that follows from the other files."""
    diagnostics = tree.completion["diagnostics"]
    return {
        "format": 1,
        "study": tree.study.name,
        "seed": tree.study.seed,
        "backend": _backends(tree),
        "model": tree.disclosure_model,
        **parse_json(json.dumps(released_numbers(tree.disclosure))),
        "counts": {
            "families": len(tree.edition.certificates),
            "shapes": len({family.shape_id for family in tree.edition.by_id.values()}),
            "certified": len(tree.edition.certificates),
            "banks": len(tree.attempts_headers),
            **released_counts(tree.disclosure),
            "training_records": diagnostics["record_count"],
            "optimizer_steps": diagnostics["step_count"],
        },
        "mode": _adapted_header(tree)["mode"],
        "unconstrained_valid_mass": _valid_masses(tree),
        "identity": {
            "certificates": _certificates_digest(tree),
            "commitment_root": tree.edition.facts.commitment_root.hex(),
            "adapter": tree.completion["identity"]["adapter"],
            "answers": dict(tree.disclosure.numbers["banks"]),
            **numbers_digest(tree.disclosure),
        },
    }


def expected_provenance(tree: EvidenceTree) -> dict[str, Any]:
    """Return every field of a provenance that follows from the other files."""
    identity, engine = tree.completion["identity"], _adapted_header(tree)["engine"]
    settings = {name: value for name, value in tree.completion["config"].items() if name != "seed"}
    shown = {name: value for name, value in engine.items() if name not in _ELSEWHERE and value is not None}
    return {
        "format": "leakscale-provenance-v1",
        "study": tree.study.name,
        "model_id": tree.disclosure_model,
        "model_digests": {
            "weights": identity["model"],
            "tokenizer": identity["tokenizer"],
            "chat template": identity["template"],
        },
        "adapter_digest": identity["adapter"],
        "corpus_digest": identity["corpus"],
        "certificates_digest": tree.edition.facts.certificates_digest.hex(),
        "certified_count": len(tree.edition.certificates),
        "rejected_count": 0,
        "backend": _backends(tree),
        "seeds": named_seeds(tree.study),
        "bank_digests": dict(tree.disclosure.numbers["banks"]),
        "training": {**settings, **tree.completion["diagnostics"]},
        "answering": {"mode": _adapted_header(tree)["mode"], **shown},
        "unconstrained_valid_mass": _valid_masses(tree),
    }


def _adapted_header(tree: EvidenceTree) -> Mapping[str, Any]:
    """Return the head of the attempts of some adapted bank; one engine answered them all."""
    return next(
        header for bank_id, header in tree.attempts_headers.items() if tree.state_of(bank_id) is ModelState.ADAPTED
    )


def _backends(tree: EvidenceTree) -> str:
    return " and ".join(sorted({facts["environment"]["backend"] for facts in tree.certificate_facts.values()}))


def _certificates_digest(tree: EvidenceTree) -> str:
    digests = (hashlib.sha256(certificate.payload).digest() for certificate in tree.edition.certificates)
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _valid_masses(tree: EvidenceTree) -> dict[str, float]:
    """Return the mean probability of the four answers with nothing forced, by bank that has it."""
    masses: dict[str, float] = {}
    for bank_id in tree.layout.bank_ids():
        values = []
        path = tree.layout.bank(bank_id).attempts
        with tree.naming(path), path.open("rb") as opened:
            next(opened)
            for number, line in enumerate(opened, 2):
                if b'"unconstrained":' in line:
                    values.append(unconstrained_mass(parse_json(line)["unconstrained"], line_number=number))
        if values:
            masses[bank_id] = sum(values) / len(values)
    return masses


def unconstrained_mass(log_probabilities: Sequence[float], *, line_number: int) -> float:
    """Return the probability that a model writes one of the answers with nothing forced.

    Args:
        log_probabilities: Natural logarithms, one an answer; minus infinity of one that it never writes.
        line_number: Of the attempts, for the message.

    Raises:
        ValueError: If they are none of a distribution: together more than 1, or no number.
    """
    try:
        mass = math.fsum(map(math.exp, log_probabilities))
    except OverflowError:
        mass = math.inf
    if not mass <= 1 + _ROUNDING:  # nan is not
        raise ValueError(f"line {line_number}: four answers have probability {mass:.6g}, expected at most 1")
    return mass
