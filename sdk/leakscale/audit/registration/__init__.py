"""Fix an audit before a model is asked: draw, plan, lock, amendments, ledger."""

from leakscale.audit.registration.models import Amendment, BankFacts, DrawRecord, GateResolution, Registration
from leakscale.audit.registration.plan import AuditPlan, load_plan

__all__ = ["Amendment", "AuditPlan", "BankFacts", "DrawRecord", "GateResolution", "Registration", "load_plan"]
