from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class Domain(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DOMAIN_UNSPECIFIED: _ClassVar[Domain]
    DOMAIN_SQL: _ClassVar[Domain]
    DOMAIN_PYTHON: _ClassVar[Domain]

class Condition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONDITION_UNSPECIFIED: _ClassVar[Condition]
    CONDITION_C0: _ClassVar[Condition]
    CONDITION_C2: _ClassVar[Condition]

class ModelState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODEL_STATE_UNSPECIFIED: _ClassVar[ModelState]
    MODEL_STATE_BASE: _ClassVar[ModelState]
    MODEL_STATE_ADAPTED: _ClassVar[ModelState]

class Ring(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RING_UNSPECIFIED: _ClassVar[Ring]
    RING_R0: _ClassVar[Ring]
    RING_R1: _ClassVar[Ring]
    RING_R2: _ClassVar[Ring]

class EditionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EDITION_KIND_UNSPECIFIED: _ClassVar[EditionKind]
    EDITION_KIND_PRACTICE: _ClassVar[EditionKind]
    EDITION_KIND_PRIVATE: _ClassVar[EditionKind]

class EditionPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EDITION_PHASE_UNSPECIFIED: _ClassVar[EditionPhase]
    EDITION_PHASE_DRAFT: _ClassVar[EditionPhase]
    EDITION_PHASE_FROZEN: _ClassVar[EditionPhase]
    EDITION_PHASE_CERTIFIED: _ClassVar[EditionPhase]
    EDITION_PHASE_EXPOSED: _ClassVar[EditionPhase]
    EDITION_PHASE_RETIRED: _ClassVar[EditionPhase]

class GrantPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GRANT_PHASE_UNSPECIFIED: _ClassVar[GrantPhase]
    GRANT_PHASE_REQUESTED: _ClassVar[GrantPhase]
    GRANT_PHASE_APPROVED: _ClassVar[GrantPhase]
    GRANT_PHASE_REDEEMED: _ClassVar[GrantPhase]
    GRANT_PHASE_EXPIRED: _ClassVar[GrantPhase]

class BankPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BANK_PHASE_UNSPECIFIED: _ClassVar[BankPhase]
    BANK_PHASE_OPEN: _ClassVar[BankPhase]
    BANK_PHASE_SEALED: _ClassVar[BankPhase]
    BANK_PHASE_DRAFT: _ClassVar[BankPhase]
    BANK_PHASE_SCORED: _ClassVar[BankPhase]
    BANK_PHASE_RELEASED: _ClassVar[BankPhase]
    BANK_PHASE_EXPIRED: _ClassVar[BankPhase]

class ErrorReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_REASON_UNSPECIFIED: _ClassVar[ErrorReason]
    ERROR_REASON_INVALID_REQUEST: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_CERTIFIED: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_FROZEN: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_SEALED: _ClassVar[ErrorReason]
    ERROR_REASON_ALREADY_DONE: _ClassVar[ErrorReason]
    ERROR_REASON_DIGEST_CONFLICT: _ClassVar[ErrorReason]
    ERROR_REASON_TOKEN_MISSING: _ClassVar[ErrorReason]
    ERROR_REASON_TOKEN_REFUSED: _ClassVar[ErrorReason]
    ERROR_REASON_QUEUE_FULL: _ClassVar[ErrorReason]
    ERROR_REASON_UNAVAILABLE: _ClassVar[ErrorReason]
    ERROR_REASON_SANDBOX_FAULT: _ClassVar[ErrorReason]
    ERROR_REASON_INTEGRITY_FAILURE: _ClassVar[ErrorReason]
    ERROR_REASON_STORAGE_FULL: _ClassVar[ErrorReason]
    ERROR_REASON_INTERNAL: _ClassVar[ErrorReason]
    ERROR_REASON_BUDGET_SPENT: _ClassVar[ErrorReason]
    ERROR_REASON_SCOPE_MISSING: _ClassVar[ErrorReason]
    ERROR_REASON_BANK_INCOMPLETE: _ClassVar[ErrorReason]
    ERROR_REASON_BANK_SEALED: _ClassVar[ErrorReason]
    ERROR_REASON_CASE_UNKNOWN: _ClassVar[ErrorReason]
    ERROR_REASON_CASE_DUPLICATE: _ClassVar[ErrorReason]
    ERROR_REASON_ANSWER_TOO_LONG: _ClassVar[ErrorReason]
    ERROR_REASON_EXPIRED: _ClassVar[ErrorReason]
    ERROR_REASON_COHORT_TOO_SMALL: _ClassVar[ErrorReason]
    ERROR_REASON_PARTIES_MIXED: _ClassVar[ErrorReason]
    ERROR_REASON_GRANT_NOT_OPEN: _ClassVar[ErrorReason]
    ERROR_REASON_EDITION_RETIRED: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_RETIRED: _ClassVar[ErrorReason]
    ERROR_REASON_READ_ONLY: _ClassVar[ErrorReason]
DOMAIN_UNSPECIFIED: Domain
DOMAIN_SQL: Domain
DOMAIN_PYTHON: Domain
CONDITION_UNSPECIFIED: Condition
CONDITION_C0: Condition
CONDITION_C2: Condition
MODEL_STATE_UNSPECIFIED: ModelState
MODEL_STATE_BASE: ModelState
MODEL_STATE_ADAPTED: ModelState
RING_UNSPECIFIED: Ring
RING_R0: Ring
RING_R1: Ring
RING_R2: Ring
EDITION_KIND_UNSPECIFIED: EditionKind
EDITION_KIND_PRACTICE: EditionKind
EDITION_KIND_PRIVATE: EditionKind
EDITION_PHASE_UNSPECIFIED: EditionPhase
EDITION_PHASE_DRAFT: EditionPhase
EDITION_PHASE_FROZEN: EditionPhase
EDITION_PHASE_CERTIFIED: EditionPhase
EDITION_PHASE_EXPOSED: EditionPhase
EDITION_PHASE_RETIRED: EditionPhase
GRANT_PHASE_UNSPECIFIED: GrantPhase
GRANT_PHASE_REQUESTED: GrantPhase
GRANT_PHASE_APPROVED: GrantPhase
GRANT_PHASE_REDEEMED: GrantPhase
GRANT_PHASE_EXPIRED: GrantPhase
BANK_PHASE_UNSPECIFIED: BankPhase
BANK_PHASE_OPEN: BankPhase
BANK_PHASE_SEALED: BankPhase
BANK_PHASE_DRAFT: BankPhase
BANK_PHASE_SCORED: BankPhase
BANK_PHASE_RELEASED: BankPhase
BANK_PHASE_EXPIRED: BankPhase
ERROR_REASON_UNSPECIFIED: ErrorReason
ERROR_REASON_INVALID_REQUEST: ErrorReason
ERROR_REASON_NOT_FOUND: ErrorReason
ERROR_REASON_NOT_CERTIFIED: ErrorReason
ERROR_REASON_NOT_FROZEN: ErrorReason
ERROR_REASON_NOT_SEALED: ErrorReason
ERROR_REASON_ALREADY_DONE: ErrorReason
ERROR_REASON_DIGEST_CONFLICT: ErrorReason
ERROR_REASON_TOKEN_MISSING: ErrorReason
ERROR_REASON_TOKEN_REFUSED: ErrorReason
ERROR_REASON_QUEUE_FULL: ErrorReason
ERROR_REASON_UNAVAILABLE: ErrorReason
ERROR_REASON_SANDBOX_FAULT: ErrorReason
ERROR_REASON_INTEGRITY_FAILURE: ErrorReason
ERROR_REASON_STORAGE_FULL: ErrorReason
ERROR_REASON_INTERNAL: ErrorReason
ERROR_REASON_BUDGET_SPENT: ErrorReason
ERROR_REASON_SCOPE_MISSING: ErrorReason
ERROR_REASON_BANK_INCOMPLETE: ErrorReason
ERROR_REASON_BANK_SEALED: ErrorReason
ERROR_REASON_CASE_UNKNOWN: ErrorReason
ERROR_REASON_CASE_DUPLICATE: ErrorReason
ERROR_REASON_ANSWER_TOO_LONG: ErrorReason
ERROR_REASON_EXPIRED: ErrorReason
ERROR_REASON_COHORT_TOO_SMALL: ErrorReason
ERROR_REASON_PARTIES_MIXED: ErrorReason
ERROR_REASON_GRANT_NOT_OPEN: ErrorReason
ERROR_REASON_EDITION_RETIRED: ErrorReason
ERROR_REASON_NOT_RETIRED: ErrorReason
ERROR_REASON_READ_ONLY: ErrorReason
