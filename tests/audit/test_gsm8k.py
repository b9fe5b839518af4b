"""The real audit in the docs can be made again from the files beside it."""

from __future__ import annotations

from pathlib import Path

from leakscale.audit.checks import Severity, check_bank
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import read_bank
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.opening import open_audit
from leakscale.audit.registration.plan import load_plan

ROOT = Path(__file__).parents[2]
FILES = ROOT / "studies" / "gsm8k-smollm2"


def test_every_rewording_keeps_numbers_and_gold_and_is_no_near_copy() -> None:
    """The same rules as for any bank; what a rule can only point at is counted in the docs."""
    bank = read_bank(FILES / "rewrites.jsonl")
    findings = check_bank(bank, load_plan(FILES / "audit.toml").checks.settings())

    assert len(bank.parents) == 100
    assert not [finding for finding in findings if finding.severity is Severity.FAILURE]
    assert len(findings) == 24
    assert "24 of them differ in words or signs that may be quantities" in (ROOT / "docs" / "gsm8k-audit.md").read_text(
        "utf-8"
    )


def test_it_locks_from_its_files(tmp_path: Path) -> None:
    """All items of the frame, in a drawn order, under the committed plan."""
    directory, _ = open_audit(
        tmp_path / "audit", frame=FILES / "frame.jsonl", size=100, seed=0, rewrites=FILES / "rewrites.jsonl"
    )
    directory.plan.write_text((FILES / "audit.toml").read_text("utf-8"), encoding="utf-8")
    registration = lock_audit(directory).registration

    assert isinstance(directory, AuditDirectory)
    assert registration.draw.sample_size == registration.draw.population_size == 100
    assert registration.plan.models[0].source == "smollm2"
    assert len(read_bank(directory.bank(BankRole.AUDIT)).parents) == 100


def test_the_items_license_lies_beside_them() -> None:
    """They are somebody else's, under MIT, which asks for its notice to be kept."""
    notice = (FILES / "LICENSE-GSM8K").read_text(encoding="utf-8")
    assert "Copyright (c) 2021 OpenAI" in notice
    assert "Permission is hereby granted, free of charge" in notice
