"""Whether every prompt stays within a number of tokens in every ring."""

from __future__ import annotations

from leakscale.models import Ring
from leakscale_server.catalog_audit.findings import Finding, find
from leakscale_server.catalog_audit.material import Material
from leakscale_server.catalog_audit.written import written_faults
from leakscale_server.core.checks.prompt_length import count_prompt_tokens
from leakscale_server.core.judging.rejections import RejectionReason

__all__ = ["check_prompts"]


def check_prompts(material: Material) -> Finding:
    """Check the prompts of every family against the budget."""
    counts = [(public.ring, count_prompt_tokens(public)) for _, public in material.forms()]
    longest = [max(count for ring, count in counts if ring is each) for each in Ring]
    checked = f"{len(counts):,} prompts of at most {' / '.join(map(str, longest))} tokens"
    return find("prompts", checked, written_faults(material, RejectionReason.PROMPT_TOO_LONG))
