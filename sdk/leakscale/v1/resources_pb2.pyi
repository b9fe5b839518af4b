import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from leakscale.v1 import enums_pb2 as _enums_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Candidate(_message.Message):
    __slots__ = ("text", "answer")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    text: str
    answer: str
    def __init__(self, text: _Optional[str] = ..., answer: _Optional[str] = ...) -> None: ...

class Family(_message.Message):
    __slots__ = ("name", "domain", "shape_id", "ring", "task", "inputs", "key", "candidates")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    SHAPE_ID_FIELD_NUMBER: _ClassVar[int]
    RING_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    name: str
    domain: _enums_pb2.Domain
    shape_id: str
    ring: _enums_pb2.Ring
    task: str
    inputs: _containers.RepeatedScalarFieldContainer[str]
    key: str
    candidates: _containers.RepeatedCompositeFieldContainer[Candidate]
    def __init__(self, name: _Optional[str] = ..., domain: _Optional[_Union[_enums_pb2.Domain, str]] = ..., shape_id: _Optional[str] = ..., ring: _Optional[_Union[_enums_pb2.Ring, str]] = ..., task: _Optional[str] = ..., inputs: _Optional[_Iterable[str]] = ..., key: _Optional[str] = ..., candidates: _Optional[_Iterable[_Union[Candidate, _Mapping]]] = ...) -> None: ...

class Statement(_message.Message):
    __slots__ = ("payload", "signature", "public_key")
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    payload: bytes
    signature: bytes
    public_key: bytes
    def __init__(self, payload: _Optional[bytes] = ..., signature: _Optional[bytes] = ..., public_key: _Optional[bytes] = ...) -> None: ...

class Edition(_message.Message):
    __slots__ = ("name", "kind", "phase", "families_per_cell", "shape_ids", "certified_count", "family_count", "commitment_root", "certificates_digest", "create_time", "freeze_time", "freeze_statement", "retirement_statement", "transitions")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    FAMILIES_PER_CELL_FIELD_NUMBER: _ClassVar[int]
    SHAPE_IDS_FIELD_NUMBER: _ClassVar[int]
    CERTIFIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    FAMILY_COUNT_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_ROOT_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATES_DIGEST_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    FREEZE_TIME_FIELD_NUMBER: _ClassVar[int]
    FREEZE_STATEMENT_FIELD_NUMBER: _ClassVar[int]
    RETIREMENT_STATEMENT_FIELD_NUMBER: _ClassVar[int]
    TRANSITIONS_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: _enums_pb2.EditionKind
    phase: _enums_pb2.EditionPhase
    families_per_cell: int
    shape_ids: _containers.RepeatedScalarFieldContainer[str]
    certified_count: int
    family_count: int
    commitment_root: bytes
    certificates_digest: bytes
    create_time: _timestamp_pb2.Timestamp
    freeze_time: _timestamp_pb2.Timestamp
    freeze_statement: Statement
    retirement_statement: Statement
    transitions: _containers.RepeatedCompositeFieldContainer[Transition]
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[_enums_pb2.EditionKind, str]] = ..., phase: _Optional[_Union[_enums_pb2.EditionPhase, str]] = ..., families_per_cell: _Optional[int] = ..., shape_ids: _Optional[_Iterable[str]] = ..., certified_count: _Optional[int] = ..., family_count: _Optional[int] = ..., commitment_root: _Optional[bytes] = ..., certificates_digest: _Optional[bytes] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., freeze_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., freeze_statement: _Optional[_Union[Statement, _Mapping]] = ..., retirement_statement: _Optional[_Union[Statement, _Mapping]] = ..., transitions: _Optional[_Iterable[_Union[Transition, _Mapping]]] = ...) -> None: ...

class Transition(_message.Message):
    __slots__ = ("phase", "time", "principal")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    phase: _enums_pb2.EditionPhase
    time: _timestamp_pb2.Timestamp
    principal: str
    def __init__(self, phase: _Optional[_Union[_enums_pb2.EditionPhase, str]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., principal: _Optional[str] = ...) -> None: ...

class Opening(_message.Message):
    __slots__ = ("family_id", "key", "truth", "nonce", "condition")
    FAMILY_ID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    TRUTH_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    family_id: str
    key: str
    truth: int
    nonce: bytes
    condition: _enums_pb2.Condition
    def __init__(self, family_id: _Optional[str] = ..., key: _Optional[str] = ..., truth: _Optional[int] = ..., nonce: _Optional[bytes] = ..., condition: _Optional[_Union[_enums_pb2.Condition, str]] = ...) -> None: ...

class Certificate(_message.Message):
    __slots__ = ("family", "payload", "signature", "payload_digest")
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_DIGEST_FIELD_NUMBER: _ClassVar[int]
    family: str
    payload: bytes
    signature: bytes
    payload_digest: bytes
    def __init__(self, family: _Optional[str] = ..., payload: _Optional[bytes] = ..., signature: _Optional[bytes] = ..., payload_digest: _Optional[bytes] = ...) -> None: ...

class Figure(_message.Message):
    __slots__ = ("label", "value")
    LABEL_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    label: str
    value: int
    def __init__(self, label: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...

class Rejection(_message.Message):
    __slots__ = ("rule", "message", "figures")
    RULE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    rule: str
    message: str
    figures: _containers.RepeatedCompositeFieldContainer[Figure]
    def __init__(self, rule: _Optional[str] = ..., message: _Optional[str] = ..., figures: _Optional[_Iterable[_Union[Figure, _Mapping]]] = ...) -> None: ...

class Grant(_message.Message):
    __slots__ = ("name", "create_time", "redeem_time", "phase", "holder", "holder_key", "preservation_count", "approver", "approve_time", "expire_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    REDEEM_TIME_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    HOLDER_KEY_FIELD_NUMBER: _ClassVar[int]
    PRESERVATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    APPROVER_FIELD_NUMBER: _ClassVar[int]
    APPROVE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    create_time: _timestamp_pb2.Timestamp
    redeem_time: _timestamp_pb2.Timestamp
    phase: _enums_pb2.GrantPhase
    holder: str
    holder_key: bytes
    preservation_count: int
    approver: str
    approve_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., redeem_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., phase: _Optional[_Union[_enums_pb2.GrantPhase, str]] = ..., holder: _Optional[str] = ..., holder_key: _Optional[bytes] = ..., preservation_count: _Optional[int] = ..., approver: _Optional[str] = ..., approve_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Bank(_message.Message):
    __slots__ = ("name", "domain", "state", "phase", "case_count", "answered_count", "ring")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    CASE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    RING_FIELD_NUMBER: _ClassVar[int]
    name: str
    domain: _enums_pb2.Domain
    state: _enums_pb2.ModelState
    phase: _enums_pb2.BankPhase
    case_count: int
    answered_count: int
    ring: _enums_pb2.Ring
    def __init__(self, name: _Optional[str] = ..., domain: _Optional[_Union[_enums_pb2.Domain, str]] = ..., state: _Optional[_Union[_enums_pb2.ModelState, str]] = ..., phase: _Optional[_Union[_enums_pb2.BankPhase, str]] = ..., case_count: _Optional[int] = ..., answered_count: _Optional[int] = ..., ring: _Optional[_Union[_enums_pb2.Ring, str]] = ...) -> None: ...

class Experiment(_message.Message):
    __slots__ = ("name", "edition", "model_label", "draw_count", "bank_seed", "resample_count", "bootstrap_seed", "banks", "create_time", "rings", "cohorts", "cohort_families_min", "expire_time", "is_self_administered", "lifetime")
    NAME_FIELD_NUMBER: _ClassVar[int]
    EDITION_FIELD_NUMBER: _ClassVar[int]
    MODEL_LABEL_FIELD_NUMBER: _ClassVar[int]
    DRAW_COUNT_FIELD_NUMBER: _ClassVar[int]
    BANK_SEED_FIELD_NUMBER: _ClassVar[int]
    RESAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    BOOTSTRAP_SEED_FIELD_NUMBER: _ClassVar[int]
    BANKS_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    RINGS_FIELD_NUMBER: _ClassVar[int]
    COHORTS_FIELD_NUMBER: _ClassVar[int]
    COHORT_FAMILIES_MIN_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    IS_SELF_ADMINISTERED_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    edition: str
    model_label: str
    draw_count: int
    bank_seed: int
    resample_count: int
    bootstrap_seed: int
    banks: _containers.RepeatedCompositeFieldContainer[Bank]
    create_time: _timestamp_pb2.Timestamp
    rings: _containers.RepeatedScalarFieldContainer[_enums_pb2.Ring]
    cohorts: _containers.RepeatedCompositeFieldContainer[Cohort]
    cohort_families_min: int
    expire_time: _timestamp_pb2.Timestamp
    is_self_administered: bool
    lifetime: _duration_pb2.Duration
    def __init__(self, name: _Optional[str] = ..., edition: _Optional[str] = ..., model_label: _Optional[str] = ..., draw_count: _Optional[int] = ..., bank_seed: _Optional[int] = ..., resample_count: _Optional[int] = ..., bootstrap_seed: _Optional[int] = ..., banks: _Optional[_Iterable[_Union[Bank, _Mapping]]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., rings: _Optional[_Iterable[_Union[_enums_pb2.Ring, str]]] = ..., cohorts: _Optional[_Iterable[_Union[Cohort, _Mapping]]] = ..., cohort_families_min: _Optional[int] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., is_self_administered: _Optional[bool] = ..., lifetime: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Cohort(_message.Message):
    __slots__ = ("cohort_id", "shape_ids")
    COHORT_ID_FIELD_NUMBER: _ClassVar[int]
    SHAPE_IDS_FIELD_NUMBER: _ClassVar[int]
    cohort_id: str
    shape_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, cohort_id: _Optional[str] = ..., shape_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ("number", "digest", "answer_count")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    ANSWER_COUNT_FIELD_NUMBER: _ClassVar[int]
    number: int
    digest: bytes
    answer_count: int
    def __init__(self, number: _Optional[int] = ..., digest: _Optional[bytes] = ..., answer_count: _Optional[int] = ...) -> None: ...

class Allowance(_message.Message):
    __slots__ = ("account", "release_count", "release_count_max", "millibits", "millibits_max")
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    RELEASE_COUNT_FIELD_NUMBER: _ClassVar[int]
    RELEASE_COUNT_MAX_FIELD_NUMBER: _ClassVar[int]
    MILLIBITS_FIELD_NUMBER: _ClassVar[int]
    MILLIBITS_MAX_FIELD_NUMBER: _ClassVar[int]
    account: str
    release_count: int
    release_count_max: int
    millibits: int
    millibits_max: int
    def __init__(self, account: _Optional[str] = ..., release_count: _Optional[int] = ..., release_count_max: _Optional[int] = ..., millibits: _Optional[int] = ..., millibits_max: _Optional[int] = ...) -> None: ...

class AtomBudget(_message.Message):
    __slots__ = ("domain", "shape_id", "condition", "family_count", "allowances")
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    SHAPE_ID_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    FAMILY_COUNT_FIELD_NUMBER: _ClassVar[int]
    ALLOWANCES_FIELD_NUMBER: _ClassVar[int]
    domain: _enums_pb2.Domain
    shape_id: str
    condition: _enums_pb2.Condition
    family_count: int
    allowances: _containers.RepeatedCompositeFieldContainer[Allowance]
    def __init__(self, domain: _Optional[_Union[_enums_pb2.Domain, str]] = ..., shape_id: _Optional[str] = ..., condition: _Optional[_Union[_enums_pb2.Condition, str]] = ..., family_count: _Optional[int] = ..., allowances: _Optional[_Iterable[_Union[Allowance, _Mapping]]] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("family_id", "draw", "text")
    FAMILY_ID_FIELD_NUMBER: _ClassVar[int]
    DRAW_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    family_id: str
    draw: int
    text: str
    def __init__(self, family_id: _Optional[str] = ..., draw: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ("bank", "answers_digest", "case_count", "ledger_index")
    BANK_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    CASE_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEDGER_INDEX_FIELD_NUMBER: _ClassVar[int]
    bank: str
    answers_digest: bytes
    case_count: int
    ledger_index: int
    def __init__(self, bank: _Optional[str] = ..., answers_digest: _Optional[bytes] = ..., case_count: _Optional[int] = ..., ledger_index: _Optional[int] = ...) -> None: ...

class Disclosure(_message.Message):
    __slots__ = ("experiment", "payload", "signature", "public_key", "ledger_index")
    EXPERIMENT_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    LEDGER_INDEX_FIELD_NUMBER: _ClassVar[int]
    experiment: str
    payload: bytes
    signature: bytes
    public_key: bytes
    ledger_index: int
    def __init__(self, experiment: _Optional[str] = ..., payload: _Optional[bytes] = ..., signature: _Optional[bytes] = ..., public_key: _Optional[bytes] = ..., ledger_index: _Optional[int] = ...) -> None: ...

class LedgerHead(_message.Message):
    __slots__ = ("entry_count", "root", "signature", "public_key")
    ENTRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    ROOT_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    entry_count: int
    root: bytes
    signature: bytes
    public_key: bytes
    def __init__(self, entry_count: _Optional[int] = ..., root: _Optional[bytes] = ..., signature: _Optional[bytes] = ..., public_key: _Optional[bytes] = ...) -> None: ...

class LedgerEntry(_message.Message):
    __slots__ = ("position", "leaf", "content")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    LEAF_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    position: int
    leaf: bytes
    content: bytes
    def __init__(self, position: _Optional[int] = ..., leaf: _Optional[bytes] = ..., content: _Optional[bytes] = ...) -> None: ...
