"""Adapter activity: there is one adapter, it acts, and every bank of the adapted state was answered with it.

Source: LeakScale D.4, METHODS 10.10 (largest change of a target's log-probability above 1e-7).
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Final

from leakscale.errors import IntegrityError
from leakscale.evidence.checks.outcome import Checked, counted, require_same
from leakscale.evidence.tree import EvidenceTree
from leakscale.models import ModelState
from leakscale.reading import parse_json
from leakscale.training_files import losses_to_lines

__all__ = ["check_activity"]

_ACTIVITY_MIN: Final = 1e-7
"""Nats; as `leakscale.adaptation.probe` has it, which loads torch."""
_RECORD: Final = "training/completion.json"
_LOSS_TAIL: Final = 10
"""The last loss is the mean over one step of so many."""


def check_activity(tree: EvidenceTree) -> Checked:
    """Compare the adapter's record with the engines that answered."""
    identity, diagnostics = tree.completion["identity"], tree.completion["diagnostics"]
    activity = diagnostics["activity"]
    if not activity > _ACTIVITY_MIN:  # not a number fails too
        raise IntegrityError(f"{_RECORD}: diagnostics.activity is {activity}, expected above {_ACTIVITY_MIN:g} nats")
    config = json.dumps(tree.completion["config"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    require_same(_RECORD, "identity.config", identity["config"], hashlib.sha256(config.encode()).hexdigest())
    _require_settings(tree)
    _require_losses(tree)
    for bank_id, header in tree.attempts_headers.items():
        _require_engine(tree, bank_id, header["engine"])
    moved = _moved_count(tree)
    seen = f"; {moved[0]:,} of {counted(moved[1], 'question', 'questions')} answered otherwise" if moved[1] else ""
    return Checked(
        len(tree.attempts_headers),
        f"adapter {identity['adapter'][:12]} moves a target token by {activity:.3g} nats and answered every adapted "
        f"one of {counted(len(tree.attempts_headers), 'bank', 'banks')}{seen}",
        "" if tree.layout.losses.is_file() else "the loss of each step was not kept",
    )


def _require_settings(tree: EvidenceTree) -> None:
    """See that the adapter was trained as the study says."""
    config = tree.completion["config"]
    require_same(_RECORD, "config.seed", config["seed"], tree.study.seeds.adaptation)
    for name, value in tree.study_fields["model"]["adaptation"].items():
        require_same(_RECORD, f"config.{name}", config[name], value)


def _require_losses(tree: EvidenceTree) -> None:
    path, diagnostics = tree.layout.losses, tree.completion["diagnostics"]
    if not path.is_file():
        return  # an adapter of an earlier version keeps no log
    name = tree.layout.relative(path)
    with tree.naming(path):
        losses = [parse_json(line)["loss"] for line in path.read_bytes().splitlines()]
        if losses_to_lines(losses) != path.read_bytes() or not all(map(math.isfinite, losses)):
            raise ValueError("its bytes are not the ones that were written")
    require_same(name, "number of steps", len(losses), diagnostics["step_count"])
    tail = losses[-max(1, len(losses) // _LOSS_TAIL) :]
    require_same(name, "mean of the last tenth", sum(tail) / len(tail), diagnostics["loss_last"])


def _require_engine(tree: EvidenceTree, bank_id: str, engine: dict[str, object]) -> None:
    identity, name = tree.completion["identity"], tree.layout.relative(tree.layout.bank(bank_id).attempts)
    adapter = identity["adapter"] if tree.state_of(bank_id) is ModelState.ADAPTED else None
    require_same(f"{name} line 1", "engine.adapter", engine.get("adapter"), adapter)
    planned = tree.planned_banks().get(bank_id)
    if planned is not None:
        require_same(f"{name} line 1", "model state", tree.state_of(bank_id), planned[1])
    for part in ("model", "tokenizer", "template"):
        # An engine that talks to an endpoint knows the name of its model and not its bytes.
        if isinstance(engine.get(part), str) and len(str(engine[part])) == len(identity[part]):
            require_same(f"{name} line 1", f"engine.{part}", engine[part], identity[part])


def _moved_count(tree: EvidenceTree) -> tuple[int, int]:
    """Count the questions whose exact distribution differs between the two states, of those that have both."""
    laws: dict[ModelState, dict[tuple[str, int], object]] = {state: {} for state in ModelState}
    for bank_id, (domain, state, ring) in tree.planned_banks().items():
        if bank_id not in tree.attempts_headers:
            continue
        path = tree.layout.bank(bank_id).attempts
        with tree.naming(path), path.open("rb") as opened:
            next(opened)
            for line in opened:
                if b'"guided":' in line:
                    fields = parse_json(line)
                    laws[state][f"{domain}/{ring}", fields["case"]] = fields["guided"]
    base, adapted = laws[ModelState.BASE], laws[ModelState.ADAPTED]
    shared = base.keys() & adapted.keys()
    moved = sum(base[place] != adapted[place] for place in shared)
    if shared and not moved:
        raise IntegrityError(
            f"banks: all {len(shared)} distributions of the adapted state are those of the base, expected a difference"
        )
    return moved, len(shared)
