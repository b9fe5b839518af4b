"""The things the SDK speaks about, as frozen dataclasses.

Generated protobuf messages stop at `leakscale.client`; everything above it uses these. Words follow the glossary in
ARCHITECTURE.md, one meaning each. Every class is imported from here, whatever file it is in.
"""

from leakscale.models.editions import (
    Certificate,
    CertificationOutcome,
    CertificationRequest,
    Edition,
    EditionKind,
    EditionPhase,
    Opening,
    Rejection,
    ShapeFile,
    SignedStatement,
    Transition,
)
from leakscale.models.experiments import (
    Allowance,
    AtomBudget,
    Bank,
    BankPhase,
    Budget,
    Cohort,
    Experiment,
    ExperimentPlan,
    Receipt,
)
from leakscale.models.families import (
    Answer,
    Candidate,
    Condition,
    Domain,
    Family,
    Message,
    ModelState,
    Ring,
    TrainingRecord,
    TrainingSource,
)
from leakscale.models.grants import Grant, GrantPhase, GrantTrace
from leakscale.models.servers import LedgerEntry, LedgerHead, ServerInfo

__all__ = [
    "Allowance",
    "Answer",
    "AtomBudget",
    "Bank",
    "BankPhase",
    "Budget",
    "Candidate",
    "Certificate",
    "CertificationOutcome",
    "CertificationRequest",
    "Cohort",
    "Condition",
    "Domain",
    "Edition",
    "EditionKind",
    "EditionPhase",
    "Experiment",
    "ExperimentPlan",
    "Family",
    "Grant",
    "GrantPhase",
    "GrantTrace",
    "LedgerEntry",
    "LedgerHead",
    "Message",
    "ModelState",
    "Opening",
    "Receipt",
    "Rejection",
    "Ring",
    "ServerInfo",
    "ShapeFile",
    "SignedStatement",
    "TrainingRecord",
    "TrainingSource",
    "Transition",
]
