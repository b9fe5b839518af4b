"""Asking the models of a locked audit: one question a form, answers kept, scored and entered.

`leakscale.audit.answering.running.answer_audit` does all of it; here is what it is made of.
"""

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.answering.asks import Ask, asks_of

__all__ = ["Ask", "FormAnswer", "asks_of"]
