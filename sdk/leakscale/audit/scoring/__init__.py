"""From what a model wrote, or found probable, to whether a form is answered right."""

from leakscale.audit.scoring.numbers import AnswerFormat, NumericParser, ParsedNumber

__all__ = ["AnswerFormat", "NumericParser", "ParsedNumber"]
