"""Mechanical checks: each injected fault is caught under its own name, and a sound bank passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.audit.builders import FRESH, ORIGINAL, bank, choice, line

from leakscale.audit.checks import CheckSettings, Finding, Rule, Severity, check_bank
from leakscale.audit.checks.numbers import number_words, numeric_tokens
from leakscale.errors import InvalidRequestError


def _found(folder: Path, *lines: dict[str, Any]) -> list[tuple[str, Rule]]:
    return [(str(finding.form or "bank"), finding.rule) for finding in check_bank(bank(folder, *lines))]


def _ending(original: str, fresh: str) -> dict[str, Any]:
    return line(original=f"{ORIGINAL} {original}", fresh=[f"{each} {fresh}" for each in FRESH])


def test_a_sound_bank_passes(tmp_path: Path) -> None:
    """A check that cries at good forms is switched off."""
    assert _found(tmp_path, line()) == []
    assert _found(tmp_path, choice()) == []


@pytest.mark.parametrize(
    ("fields", "rule", "value"),
    [
        (line(fresh=[FRESH[0].replace("5", "6"), FRESH[1]]), Rule.NUMBERS_DIFFER, "without 5 and with 6"),
        (line(fresh=[FRESH[0].replace("5 ", ""), FRESH[1]]), Rule.NUMBERS_DIFFER, "without 5"),
        (line(fresh=[FRESH[0] + " Ana is 12.", FRESH[1]]), Rule.NUMBERS_DIFFER, "with 12"),
        (line(fresh=[{"text": FRESH[0], "gold": "32"}, FRESH[1]]), Rule.GOLD_DIFFERS, "'32' for '31'"),
        (line(fresh=[{"text": FRESH[0], "gold": "31.0"}, FRESH[1]]), Rule.GOLD_DIFFERS, "'31.0' for '31'"),
        (line(fresh=[ORIGINAL.upper(), FRESH[1]]), Rule.FORM_REPEATED, "original"),
        (line(fresh=[ORIGINAL.replace("Tom", "Ann"), FRESH[1]]), Rule.NEAR_COPY, "0.889"),
        (line(fresh=[None, FRESH[1]]), Rule.FORM_MISSING, "missing"),
        (line(fresh=[FRESH[0] + " word" * 60, FRESH[1]]), Rule.LENGTH_RATIO, "4.16"),
        (line(fresh=[FRESH[0] + " " * 4000, FRESH[1]]), Rule.TOO_LONG, "4110"),
    ],
)
def test_a_fault_of_one_form_is_named(tmp_path: Path, fields: dict[str, Any], rule: Rule, value: str) -> None:
    """The message has to send its reader to the form, not to the bank."""
    findings = check_bank(bank(tmp_path, line("p0"), fields | {"id": "p1"}))
    assert [(str(finding.form), finding.rule) for finding in findings] == [("p1/fresh-1", rule)]
    assert findings[0].value == value
    assert findings[0].severity is Severity.FAILURE


@pytest.mark.parametrize(
    ("fields", "rule", "severity"),
    [
        (_ending("It is -3.", "It is 3."), "number-words", "read"),
        (
            _ending("Take ½.", "Take ¼."),
            "numbers-differ",
            "failure",
        ),
        (
            _ending("Take 5².", "Take 5³."),
            "numbers-differ",
            "failure",
        ),
        (_ending("20% off", "20 off"), "number-words", "read"),
        (_ending("3kg", "3t"), "number-words", "read"),
        (_ending("$3", "€3"), "number-words", "read"),
        (
            _ending("The fifth.", "The sixth."),
            "number-words",
            "read",
        ),
        (_ending("三", "四"), "number-words", "read"),
        (line(fresh=[FRESH[0].replace("a", "\u0430", 1), FRESH[1]]), "scripts-mixed", "failure"),
        (line(fresh=[f"{FRESH[0]} \u0445", FRESH[1]]), "script-differs", "read"),
        (line(fresh=[FRESH[0].replace("e", "e\u00ad"), FRESH[1]]), "hidden-character", "failure"),
        (line(fresh=[FRESH[0].replace("e", "e\u200b"), FRESH[1]]), "hidden-character", "failure"),
        (line(fresh=[ORIGINAL.replace(" ", "."), FRESH[1]]), "form-repeated", "failure"),
        (line(gold="many"), "gold-unreadable", "failure"),
        (line(gold="5 apples and 3 pears"), "gold-unreadable", "failure"),
    ],
)
def test_what_a_comparison_of_words_does_not_see_is_found(
    tmp_path: Path, fields: dict[str, Any], rule: str, severity: str
) -> None:
    """A quantity changed in its sign, its unit or its words; a copy that only looks new to a machine."""
    findings = check_bank(bank(tmp_path, line("p0"), fields | {"id": "p1"}))
    assert any(str(each.rule).startswith(rule) and each.severity == severity for each in findings), findings


def test_what_an_original_itself_uses_a_rewrite_may_use(tmp_path: Path) -> None:
    """A Greek letter beside Latin ones is mathematics, and Persian joins its letters with invisible characters."""
    texts = [f"{each} Δx is α; می\u200cخواهم" for each in FRESH]
    assert _found(tmp_path, line(original=f"{ORIGINAL} Δx is α; می\u200cخواهم", fresh=texts)) == []


def test_forms_of_a_parent_are_held_apart(tmp_path: Path) -> None:
    """Two forms that read alike are one observation counted twice."""
    assert _found(tmp_path, line(fresh=[FRESH[0], FRESH[0].replace("Ana", "Eva")])) == [
        ("p1/fresh-2", Rule.FORMS_ALIKE)
    ]
    assert _found(tmp_path, line(fresh=[FRESH[0], f"  {FRESH[0]}"])) == [("p1/fresh-2", Rule.FORM_REPEATED)]


def test_deep_forms_are_checked_like_fresh_ones(tmp_path: Path) -> None:
    """A positive control reads its transfer off them."""
    assert _found(tmp_path, line(deep=[FRESH[0], None])) == [
        ("p1/deep-2", Rule.FORM_MISSING),
        ("p1/deep-1", Rule.FORM_REPEATED),
    ]


def test_a_parent_with_fewer_forms_than_the_others_lacks_one(tmp_path: Path) -> None:
    """K is the same for every parent."""
    assert _found(tmp_path, line(), line("p2", fresh=[FRESH[0]])) == [("p2/fresh-2", Rule.FORM_MISSING)]
    assert _found(tmp_path, line(fresh=None)) == [("p1/fresh-1", Rule.FORM_MISSING)]


def _options(*texts: str, labels: str = "ABCD") -> list[dict[str, str]]:
    return [{"label": label, "text": text} for label, text in zip(labels, texts, strict=False)]


@pytest.mark.parametrize(
    ("options", "value"),
    [
        (list(reversed(_options("ice", "iron", "air", "oil"))), "in another order"),
        (_options("oil", "iron", "air", "ice", labels="DBCA"), "in another order"),
        (_options("iron", "ice", "air", "oil"), "with other labels"),
        (_options("ice", "iron", "air"), "3 for 4"),
        (_options("ice", "iron ", "air", "oil"), "option B reads 'iron '"),
    ],
)
def test_options_are_the_originals_byte_for_byte(tmp_path: Path, options: list[dict[str, str]], value: str) -> None:
    """A reordered option moves the key, and a model that prefers a position with it."""
    text = choice()["fresh"][0]
    findings = check_bank(bank(tmp_path, choice(fresh=[{"text": text, "options": options}])))
    assert [(finding.rule, finding.value) for finding in findings] == [(Rule.OPTIONS_DIFFER, value)]


@pytest.mark.parametrize("text", ["ice", " ice ", "i\N{ZERO WIDTH SPACE}ce"])
def test_two_options_that_read_alike_are_refused(tmp_path: Path, text: str) -> None:
    """Both are as probable, and the one listed first would win."""
    options = _options("ice", "iron", text, "oil")
    findings = check_bank(bank(tmp_path, choice(options=options)))
    assert (Rule.OPTIONS_REPEATED, "ice") in [(finding.rule, finding.value) for finding in findings]


def test_options_that_differ_in_a_sign_or_a_capital_are_two(tmp_path: Path) -> None:
    """In arithmetic and chemistry they are."""
    options = _options("-5", "5", "Na", "NA")
    findings = check_bank(bank(tmp_path, choice(options=options)))
    assert Rule.OPTIONS_REPEATED not in [finding.rule for finding in findings]


def test_number_words_ask_for_a_reader(tmp_path: Path) -> None:
    """`four` for `3` is a changed quantity, `one` for `it` is not, and no rule can tell."""
    form = FRESH[0].replace("Ana", "one of them")
    findings = check_bank(bank(tmp_path, line(fresh=[form, FRESH[1]])))
    assert [(finding.rule, finding.severity) for finding in findings] == [(Rule.NUMBER_WORDS_DIFFER, Severity.READ)]


def test_forms_of_unequal_depth_are_found_over_the_whole_bank(tmp_path: Path) -> None:
    """In the paper's bank every near-copy was a first form, and no look at one form could show it."""
    lines = [
        line(f"p{i}", fresh=[ORIGINAL.replace("Tom buys", f"Ann owns{i}").replace("many", "few"), FRESH[1]])
        for i in range(12)
    ]
    loose = CheckSettings(similarity_max=1.0)
    findings = [finding for finding in check_bank(bank(tmp_path, *lines), loose) if finding.form is None]
    assert [finding.rule for finding in findings] == [Rule.DEPTH_DIFFERS]
    assert "fresh form 1 keeps" in findings[0].message


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,000 and 1000.50 make 2000.5", "1000 1000.5 2000.5"),
        ("$3.50, 20% and 1st", "1 20 3.5"),
        ("1/2 of 10, 11 and 12", "1 10 11 12 2"),
        ("a 0.5 b .5 c 5.", "0.5 0.5 5"),
        ("room B12, 12-13", "12 12 13"),
        ("1,2,3", "1 2 3"),
        ("12,345,678.9", "12345678.9"),
        ("007 is ٧", "7 7"),
        ("9" * 5000, "9" * 5000),
        ("none", ""),
    ],
)
def test_numbers_are_found_as_people_write_them(text: str, numbers: str) -> None:
    """A separator must not make two numbers of one, nor hide a changed digit."""
    assert " ".join(sorted(numeric_tokens(text).elements())) == numbers


def test_words_for_numbers_are_counted() -> None:
    """Twice and a dozen are quantities too."""
    assert number_words("Twice two dozen; someone's half.") == {"twice": 1, "two": 1, "dozen": 1, "half": 1}


def test_texts_without_words_are_compared_by_their_characters(tmp_path: Path) -> None:
    """A form of signs alone must not end the check."""
    assert _found(tmp_path, line(original="§§ ¶", fresh=["¶ §§ §"])) == [("p1/fresh-1", Rule.NEAR_COPY)]


@pytest.mark.parametrize(
    "fields", [{"similarity_max": 0.0}, {"ratio_min": -1}, {"ratio_max": 0.5}, {"characters_max": 0}]
)
def test_bounds_out_of_range_are_refused(fields: dict[str, Any]) -> None:
    """A bound that nothing can meet, or everything, is a typing error."""
    with pytest.raises(InvalidRequestError, match=f"checks.{next(iter(fields))}"):
        CheckSettings(**fields)


def test_a_finding_is_json_and_a_line() -> None:
    """Both are printed."""
    finding = Finding(Rule.NEAR_COPY, None, "why", "0.9")
    assert finding.to_json()["rule"] == "near-copy"
    assert str(finding) == "bank: near-copy: why"
