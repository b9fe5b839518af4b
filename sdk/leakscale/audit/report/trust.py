"""How far to trust an audit: what its assurance level promises, and what its server says beside the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from leakscale.report.words import ASSURANCE as _OF_EXPERIMENTS

if TYPE_CHECKING:
    from leakscale.audit.report.findings import AuditFindings

__all__ = ["ASSURANCE", "server_words"]

ASSURANCE: Final = {
    "L0": _OF_EXPERIMENTS["L0"],
    "L1": "One party wrote the forms and had a model answer them. A server scored the answers once all were sealed, so "
    "that none was chosen by its score; that the party, which had the right answers, did not give them to the model is "
    "taken on trust.",
    "L2": "The party that had the models answer is not the party that wrote the forms, and was given no right answer; "
    "those of the audited bank stand in the public frame, those of the control bank do not. A server scored the "
    "answers once all were sealed. That the two do not work together, and that the answers come from the models "
    "named here and were not made up, is taken on trust.",
}
"""What each level promises of an audit, and what it leaves to trust."""


def server_words(findings: AuditFindings) -> list[str]:
    """Say what a server had to do with an audit, a sentence each; nothing of one that had none."""
    if findings.origin is None:
        return []
    return [
        f"Deposited as {findings.origin.audit}; scored and signed by the server {findings.origin.server}.",
        *(f"The amendment {each}." for each in findings.fetched_amendments),
        *(
            f"Scores of {', '.join(each.released_before)} had left before the last answers of variant {each.variant} "
            f"were sealed, so whoever gave these may have known them (level {each.assurance_level})."
            for each in findings.released
            if each.released_before
        ),
    ]
