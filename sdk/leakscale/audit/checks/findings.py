"""What a check found: which form, which rule, which value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from leakscale.audit.forms.models import FormName

__all__ = ["Finding", "Rule", "Severity"]


class Rule(StrEnum):
    """A mechanical rule of a bank, as messages and files name it."""

    FORM_MISSING = "form-missing"
    FORM_REPEATED = "form-repeated"
    NUMBERS_DIFFER = "numbers-differ"
    NUMBER_WORDS_DIFFER = "number-words-differ"
    GOLD_DIFFERS = "gold-differs"
    GOLD_UNREADABLE = "gold-unreadable"
    OPTIONS_DIFFER = "options-differ"
    OPTIONS_REPEATED = "options-repeated"
    HIDDEN_CHARACTER = "hidden-character"
    SCRIPTS_MIXED = "scripts-mixed"
    SCRIPT_DIFFERS = "script-differs"
    TOO_LONG = "too-long"
    LENGTH_RATIO = "length-ratio"
    NEAR_COPY = "near-copy"
    FORMS_ALIKE = "forms-alike"
    DEPTH_DIFFERS = "depth-differs"
    IN_CORPUS = "in-corpus"


class Severity(StrEnum):
    """What a finding asks for."""

    FAILURE = "failure"
    """The bank cannot be locked."""
    READ = "read"
    """Somebody has to read the form and decide."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule that one form breaks."""

    rule: Rule
    form: FormName | None
    """None when the rule is about the bank as a whole."""
    message: str
    """What is there, what was expected, and the next step."""
    value: str
    """The value that breaks the rule, for tables."""
    severity: Severity = Severity.FAILURE

    def to_json(self) -> dict[str, str | None]:
        """Return the fields as plain JSON values."""
        return {
            "rule": str(self.rule),
            "severity": str(self.severity),
            "form": None if self.form is None else str(self.form),
            "value": self.value,
            "message": self.message,
        }

    def __str__(self) -> str:
        return f"{self.form or 'bank'}: {self.rule}: {self.message}"
