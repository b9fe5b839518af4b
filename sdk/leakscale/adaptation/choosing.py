"""Choose an adapter's strength on development families: register the rule, measure the doses, apply the rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from peft import PeftModel

from leakscale.adaptation.completion import read_completion
from leakscale.adaptation.corpus import encode_corpus
from leakscale.adaptation.development import development_set
from leakscale.adaptation.dose import Dose, StrengthRule, choose_strength, dose_response, dose_table, doses_to_json
from leakscale.adaptation.loading import open_model_folder, quiet_libraries, use_threads
from leakscale.adaptation.strength import check_scalable
from leakscale.errors import ConflictError
from leakscale.models import Family, TrainingRecord
from leakscale.reading import read_object

__all__ = ["Choice", "choose_on_development"]

_RULE_FILE: Final = "rule.json"
_DOSE_FILE: Final = "dose.json"
_TABLE_FILE: Final = "dose.md"
_REFERENCE_SEED: Final = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """A strength with the measurements that it follows from."""

    strength: float
    doses: tuple[Dose, ...]
    control_count: int
    exposed_count: int


def choose_on_development(
    model: str | Path,
    adapter: Path,
    families: Sequence[Family],
    records: Sequence[TrainingRecord],
    rule: StrengthRule,
    *,
    output: Path,
    progress: Callable[[int], None] | None = None,
) -> Choice:
    """Choose a strength by a registered rule and write down rule, doses and choice.

    The rule is written to `output` before the model is loaded, and an output with another rule is refused: a rule that
    is changed after a look at the doses chooses nothing.

    Args:
        model: That the adapter was trained on.
        adapter: Trained on the development edition, unscaled.
        families: Every family of the development edition.
        records: All that the adapter was trained on.
        rule: How the choice is made.
        output: Folder for rule.json, dose.json and dose.md.
        progress: Called with the doses that are measured.

    Raises:
        ConflictError: If the adapter came from another model or other records, or `output` holds another rule.
        ModelError: If the adapter is not a plain LoRA.
        PreconditionError: If no strength satisfies the rule.
    """
    completion = read_completion(adapter)
    check_scalable(adapter)
    _register(rule, output)
    folder = open_model_folder(model)
    corpus = encode_corpus(folder.tokenizer, records)
    trained = (completion.identity.model, completion.identity.tokenizer, completion.identity.template)
    if trained != (folder.model_digest, folder.tokenizer_digest, folder.template_digest):
        raise ConflictError(f"adapter '{adapter}' was trained on another model than '{model}'; give that one")
    if completion.identity.corpus != corpus.digest or completion.scaling is not None:
        raise ConflictError(
            f"adapter '{adapter}' was not trained on exactly these records, unscaled; run `leakscale adapt` "
            "on the development edition with the same request id, preservation count and background"
        )
    config = completion.config
    use_threads(config["thread_count"])
    development = development_set(folder.tokenizer, families, records, seed=_REFERENCE_SEED)
    base = folder.load(dtype=config["dtype"], attention=config["attention"], device=config["device"])
    with quiet_libraries():
        adapted = PeftModel.from_pretrained(base, str(adapter))
    doses = dose_response(adapted, development, rule.strengths, progress=progress)
    choice = Choice(choose_strength(rule, doses), tuple(doses), *development.counts)
    _write(output, choice, rule, adapter_digest=completion.identity.adapter)
    return choice


def _register(rule: StrengthRule, output: Path) -> None:
    registered = {**asdict(rule), "strengths": list(rule.strengths), "digest": rule.digest}
    path = output / _RULE_FILE
    if path.exists():
        if read_object(path, advice="delete it, or give another output") != registered:
            raise ConflictError(
                f"'{path}' registers another rule; choose by that one, or give another output and report both"
            )
        return
    output.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(registered, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _write(output: Path, choice: Choice, rule: StrengthRule, *, adapter_digest: str) -> None:
    record = {
        "mode": "exact-conditional",
        "rule": rule.digest,
        "adapter": adapter_digest,
        "strength": choice.strength,
        "control_count": choice.control_count,
        "exposed_count": choice.exposed_count,
        "doses": doses_to_json(choice.doses),
    }
    (output / _DOSE_FILE).write_text(json.dumps(record, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    table = dose_table(choice.doses, chosen=choice.strength)
    (output / _TABLE_FILE).write_text(
        f"{table}\n\nExact conditional probability of the reference answer; {choice.control_count} control and "
        f"{choice.exposed_count} exposed development families.\n",
        encoding="utf-8",
    )
