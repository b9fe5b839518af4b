"""Asking the models of a locked audit: one question a form, answers kept, scored and entered."""

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.answering.asks import Ask, asks_of
from leakscale.audit.answering.running import AnsweredBank, answer_audit

__all__ = ["AnsweredBank", "Ask", "FormAnswer", "answer_audit", "asks_of"]
