"""Fix an audit before a model is asked: draw, plan, lock, amendments, ledger.

directory, draw = open_audit(root, frame=frame, size=200, seed=1)
lock_audit(directory)
registration = registration_of(directory)
bank = locked_bank(directory, registration)
"""

from leakscale.audit.registration.amending import amend_audit, amendments_of, registration_of
from leakscale.audit.registration.ledger import AuditLedger, EntryKind, Head, LedgerEntry
from leakscale.audit.registration.locking import Locked, lock_audit
from leakscale.audit.registration.models import Amendment, BankFacts, DrawRecord, GateResolution, Registration
from leakscale.audit.registration.opening import open_audit, read_draw
from leakscale.audit.registration.plan import AuditPlan, load_plan
from leakscale.audit.registration.verifying import locked_bank, locked_registration, require_locked_reading

__all__ = [
    "Amendment",
    "AuditLedger",
    "AuditPlan",
    "BankFacts",
    "DrawRecord",
    "EntryKind",
    "GateResolution",
    "Head",
    "LedgerEntry",
    "Locked",
    "Registration",
    "amend_audit",
    "amendments_of",
    "load_plan",
    "lock_audit",
    "locked_bank",
    "locked_registration",
    "open_audit",
    "read_draw",
    "registration_of",
    "require_locked_reading",
]
