"""Deposited audits: registered, amended, fetched, answered in chunks, sealed set by set, their scores kept.

audit    one of them, and what its parts are called
audits   what was deposited and amended, and who fetched forms
chunks   answers as they come in, sealed to the vault, of each principal apart
seals    the receipt of an answer set that is complete
scores   what left of a variant
"""

from leakscale_server.registry.audits.audit import Audit, AuditDraft, AuditHead, SealedAnswers, SetKey
from leakscale_server.registry.audits.audits import AuditRegistry
from leakscale_server.registry.audits.chunks import FormChunk, FormChunks
from leakscale_server.registry.audits.scores import Scores
from leakscale_server.registry.audits.seals import FormSeals

__all__ = [
    "Audit",
    "AuditDraft",
    "AuditHead",
    "AuditRegistry",
    "FormChunk",
    "FormChunks",
    "FormSeals",
    "Scores",
    "SealedAnswers",
    "SetKey",
]
