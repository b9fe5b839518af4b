import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from leakscale.v1 import enums_pb2 as _enums_pb2
from leakscale.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateExperimentRequest(_message.Message):
    __slots__ = ("experiment_id", "edition", "model_label", "draw_count", "bank_seed", "resample_count", "bootstrap_seed", "rings", "cohorts", "cohort_families_min", "lifetime", "is_self_administered")
    EXPERIMENT_ID_FIELD_NUMBER: _ClassVar[int]
    EDITION_FIELD_NUMBER: _ClassVar[int]
    MODEL_LABEL_FIELD_NUMBER: _ClassVar[int]
    DRAW_COUNT_FIELD_NUMBER: _ClassVar[int]
    BANK_SEED_FIELD_NUMBER: _ClassVar[int]
    RESAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    BOOTSTRAP_SEED_FIELD_NUMBER: _ClassVar[int]
    RINGS_FIELD_NUMBER: _ClassVar[int]
    COHORTS_FIELD_NUMBER: _ClassVar[int]
    COHORT_FAMILIES_MIN_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_FIELD_NUMBER: _ClassVar[int]
    IS_SELF_ADMINISTERED_FIELD_NUMBER: _ClassVar[int]
    experiment_id: str
    edition: str
    model_label: str
    draw_count: int
    bank_seed: int
    resample_count: int
    bootstrap_seed: int
    rings: _containers.RepeatedScalarFieldContainer[_enums_pb2.Ring]
    cohorts: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Cohort]
    cohort_families_min: int
    lifetime: _duration_pb2.Duration
    is_self_administered: bool
    def __init__(self, experiment_id: _Optional[str] = ..., edition: _Optional[str] = ..., model_label: _Optional[str] = ..., draw_count: _Optional[int] = ..., bank_seed: _Optional[int] = ..., resample_count: _Optional[int] = ..., bootstrap_seed: _Optional[int] = ..., rings: _Optional[_Iterable[_Union[_enums_pb2.Ring, str]]] = ..., cohorts: _Optional[_Iterable[_Union[_resources_pb2.Cohort, _Mapping]]] = ..., cohort_families_min: _Optional[int] = ..., lifetime: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., is_self_administered: _Optional[bool] = ...) -> None: ...

class CreateExperimentResponse(_message.Message):
    __slots__ = ("experiment",)
    EXPERIMENT_FIELD_NUMBER: _ClassVar[int]
    experiment: _resources_pb2.Experiment
    def __init__(self, experiment: _Optional[_Union[_resources_pb2.Experiment, _Mapping]] = ...) -> None: ...

class GetExperimentRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetExperimentResponse(_message.Message):
    __slots__ = ("experiment",)
    EXPERIMENT_FIELD_NUMBER: _ClassVar[int]
    experiment: _resources_pb2.Experiment
    def __init__(self, experiment: _Optional[_Union[_resources_pb2.Experiment, _Mapping]] = ...) -> None: ...

class WithdrawExperimentRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class WithdrawExperimentResponse(_message.Message):
    __slots__ = ("experiment",)
    EXPERIMENT_FIELD_NUMBER: _ClassVar[int]
    experiment: _resources_pb2.Experiment
    def __init__(self, experiment: _Optional[_Union[_resources_pb2.Experiment, _Mapping]] = ...) -> None: ...

class DiscloseExperimentRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DiscloseExperimentResponse(_message.Message):
    __slots__ = ("disclosure",)
    DISCLOSURE_FIELD_NUMBER: _ClassVar[int]
    disclosure: _resources_pb2.Disclosure
    def __init__(self, disclosure: _Optional[_Union[_resources_pb2.Disclosure, _Mapping]] = ...) -> None: ...

class GetBudgetRequest(_message.Message):
    __slots__ = ("edition",)
    EDITION_FIELD_NUMBER: _ClassVar[int]
    edition: str
    def __init__(self, edition: _Optional[str] = ...) -> None: ...

class GetBudgetResponse(_message.Message):
    __slots__ = ("atoms", "is_unlimited")
    ATOMS_FIELD_NUMBER: _ClassVar[int]
    IS_UNLIMITED_FIELD_NUMBER: _ClassVar[int]
    atoms: _containers.RepeatedCompositeFieldContainer[_resources_pb2.AtomBudget]
    is_unlimited: bool
    def __init__(self, atoms: _Optional[_Iterable[_Union[_resources_pb2.AtomBudget, _Mapping]]] = ..., is_unlimited: _Optional[bool] = ...) -> None: ...
