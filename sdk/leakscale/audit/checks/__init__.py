"""Mechanical checks of a bank before any model is asked. None of them reads meaning; the human reading does."""

from leakscale.audit.checks.bank import CheckSettings, check_bank
from leakscale.audit.checks.corpus import check_corpus
from leakscale.audit.checks.findings import Finding, Rule, Severity

__all__ = ["CheckSettings", "Finding", "Rule", "Severity", "check_bank", "check_corpus"]
