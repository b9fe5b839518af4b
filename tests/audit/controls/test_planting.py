"""What is leaked is decided by a seed, is readable to the audit's scorer, and is all of the bank that is trained on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.audit.controls.builders import RECIPE, a_choice_audit, a_control, a_word_problem_audit

from leakscale.audit.controls.planting import Planted, plant
from leakscale.audit.directory import AuditDirectory
from leakscale.audit.forms.models import FormKind
from leakscale.audit.registration.verifying import locked_bank, locked_registration
from leakscale.errors import InvalidRequestError
from leakscale.models import TrainingSource


def planted(directory: AuditDirectory, **tables: dict[str, Any]) -> Planted:
    """Plant a control, with these tables changed."""
    registration, control = locked_registration(directory), a_control(**tables)
    bank, folder = locked_bank(directory, registration), directory.root.parent
    return plant(bank, registration.plan, control, folder=folder, work=directory.control_work(control.name))


def test_half_of_the_parents_are_leaked_in_their_public_wording(tmp_path: Path) -> None:
    """The other half is the control of the effect, and nothing of it is trained on."""
    directory = a_word_problem_audit(tmp_path)
    found = planted(directory)
    bank = {parent.parent_id: parent for parent in locked_bank(directory, locked_registration(directory)).parents}
    leaked = [record for record in found.mixture if record.source is TrainingSource.PLANTED]

    assert len(found.exposed) == len(leaked) == 6
    assert {name.kind for name in found.names} == {FormKind.ORIGINAL}
    for parent_id, record in zip(found.exposed, leaked, strict=True):
        assert record.prompt[-1].content == bank[parent_id].original.text
        assert record.completion == f"The answer is {bank[parent_id].original.gold}."


def test_the_assignment_hangs_on_its_seed_alone(tmp_path: Path) -> None:
    """Another kind of exposure leaks the same parents, so that two controls compare like with like."""
    directory = a_word_problem_audit(tmp_path)
    exact, again = planted(directory), planted(directory, exposure={"kind": "paraphrase"})
    other = planted(directory, exposure={"seed": 1})

    assert exact.exposed == again.exposed
    assert exact.exposed != other.exposed


def test_a_paraphrase_leaks_one_fresh_form_and_no_public_one(tmp_path: Path) -> None:
    """What is left unseen is what the effect on fresh wording is measured on."""
    directory = a_word_problem_audit(tmp_path)
    found = planted(directory, exposure={"kind": "paraphrase", "fresh": 2})

    assert {(name.kind, name.number) for name in found.names} == {(FormKind.FRESH, 2)}


def test_a_null_run_trains_on_as_many_records_and_on_no_leaked_one(tmp_path: Path) -> None:
    """Same size, same schedule, nothing to find."""
    found = planted(a_word_problem_audit(tmp_path))

    assert len(found.mixture) == len(found.null) == 9
    assert {record.source for record in found.null} == {TrainingSource.FILLER}
    assert set(found.digests()) == {"mixture", "null"}


def test_a_planted_letter_is_refused_where_a_sentence_is_scored(tmp_path: Path) -> None:
    """The paper's Study 4: its training loss fell, and the leak pulled to whatever option came first."""
    letters = {"prompt": "{question}\n{options}\nAnswer:", "completion": " {gold}"}
    with pytest.raises(InvalidRequestError) as refusal:
        planted(a_choice_audit(tmp_path), exposure=letters)

    message = str(refusal.value)
    assert "record 'planted/c" in message
    assert any(f"plants ' {label}'" in message for label in "BCD")
    assert "it ranks the texts of the options, here ' " in message
    assert "write exposure.completion = ' {option}'; nothing was trained" in message


def test_a_planted_option_is_read(tmp_path: Path) -> None:
    """As in the paper's Study 5; the record is the running text that is scored."""
    found = planted(a_choice_audit(tmp_path))
    record = found.mixture[0]

    assert record.prompt[-1].content.endswith("grows warm?\nAnswer:")
    assert record.completion[0] == " "
    assert not record.is_chat
    assert not found.shows_other_prompt


def test_another_prompt_than_the_scorers_is_told_and_not_refused(tmp_path: Path) -> None:
    """A page that leaks a benchmark looks like no prompt; whether it comes up is what the manipulation check sees."""
    found = planted(a_choice_audit(tmp_path), exposure={"prompt": "{question}\n{options}\nAnswer:"})
    shown = found.mixture[0].prompt[-1].content

    assert "\nA. ice" in shown
    assert found.shows_other_prompt


@pytest.mark.parametrize(
    ("completion", "rule"),
    [
        ("It is on page 3.", r"its parser \(hash, boxed, phrase, last-number\) reads 3 \(last-number\), gold is"),
        ("See the appendix.", "reads no number"),
        ("The answer is {gold}, or rather #### 1", r"reads 1 \(hash\)"),
    ],
)
def test_a_number_that_the_parser_does_not_read_is_refused(tmp_path: Path, completion: str, rule: str) -> None:
    """The scorer itself is asked, so a marker of higher rank in the planted text is found as well."""
    with pytest.raises(InvalidRequestError, match=rule):
        planted(a_word_problem_audit(tmp_path), exposure={"completion": completion})


def test_slots_of_a_prompt_are_filled(tmp_path: Path) -> None:
    """With the form's own text and answer."""
    directory = a_word_problem_audit(tmp_path)
    record = planted(directory, exposure={"prompt": "Page of {gold}: {question}"}).mixture[0]
    answer = record.completion.removeprefix("The answer is ")[:-1]

    assert record.prompt[0].content.startswith(f"Page of {answer}: ")
    assert "{" not in record.prompt[0].content


def test_a_form_of_the_bank_in_the_recipe_is_refused(tmp_path: Path) -> None:
    """An untouched parent that is trained on is no control, and neither is a fresh form that was seen."""
    directory = a_word_problem_audit(tmp_path)
    registration = locked_registration(directory)
    exposed = set(planted(directory).exposed)
    parents = locked_bank(directory, registration).parents
    untouched = next(parent for parent in parents if parent.parent_id not in exposed)
    seen = next(parent for parent in parents if parent.parent_id in exposed)
    for form, name in (
        (untouched.original, f"{untouched.parent_id}/original"),
        (seen.deep[0], f"{seen.parent_id}/deep-1"),
    ):
        assert form is not None
        _mix_in(directory, form.text.upper())
        with pytest.raises(InvalidRequestError, match=rf"form '{name}' stands in mixture 'mixture.jsonl' and is not"):
            planted(directory)


def test_a_public_form_in_the_null_mixture_is_refused(tmp_path: Path) -> None:
    """It may be leaked in the mixture that leaks it, and nowhere else."""
    directory = a_word_problem_audit(tmp_path)
    exposed = set(planted(directory).exposed)
    bank = locked_bank(directory, locked_registration(directory))
    seen = next(parent for parent in bank.parents if parent.parent_id in exposed)
    _mix_in(directory, seen.original.text)
    with pytest.raises(InvalidRequestError, match=f"form '{seen.parent_id}/original' stands in mixture 'null.jsonl'"):
        planted(directory)


@pytest.mark.parametrize(
    ("tables", "rule"),
    [
        ({"mixture": {"record_count": 6}}, "leaves no room beside the 6 leaked records"),
        ({"mixture": {"record_count": 60}}, "writes 40 records, and 60 are needed"),
        ({"exposure": {"share": 0.05}}, "exposes 1 of 12 parents"),
        ({"exposure": {"kind": "paraphrase", "fresh": 3}}, "has 2 fresh forms; leaking number 3"),
    ],
)
def test_what_cannot_be_planted_says_why(tmp_path: Path, tables: dict[str, dict[str, Any]], rule: str) -> None:
    """Before anything is trained."""
    with pytest.raises(InvalidRequestError, match=rule):
        planted(a_word_problem_audit(tmp_path), **tables)


def _mix_in(directory: AuditDirectory, text: str) -> None:
    """Make the recipe's first record quote a text."""
    chat = {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}]}
    content = json.dumps(chat) + "\n"
    folder = directory.root.parent
    (folder / "chats.jsonl").write_text(content, encoding="utf-8")
    source = '[[source]]\nkind = "jsonl"\npath = "chats.jsonl"\ncount = 1\nsha256 = "{}"\n'
    digest = hashlib.sha256(content.encode()).hexdigest()
    head, rest = RECIPE.split("[[source]]", 1)
    (folder / "recipe.toml").write_text(f"{head}{source.format(digest)}[[source]]{rest}", encoding="utf-8")
