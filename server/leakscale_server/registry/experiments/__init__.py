"""Experiments: registered before the first answer, answered in chunks, sealed bank by bank, disclosed once.

plans        what is fixed at the registration, and what a plan may say
accounts     which releases it sets aside, and what everybody has spent
experiments  registration, and whose hands an experiment is in then
experiment   one of them with its banks (`banks`), read as it is now (`reading`)
answering    answers as they come in (`chunks`), and the seal; or it is given up (`withdrawals`)
releasing    a sealed one charged, scored and released (`releases`); or it expired on the way
"""

from leakscale_server.registry.experiments.accounts import AtomBudget, Party
from leakscale_server.registry.experiments.banks import Bank, BankPhase, Receipt, bank_id_of
from leakscale_server.registry.experiments.chunks import AnswerChunk, StoredChunk
from leakscale_server.registry.experiments.experiment import Experiment
from leakscale_server.registry.experiments.experiments import ExperimentRegistry
from leakscale_server.registry.experiments.plans import ExperimentPlan
from leakscale_server.registry.experiments.releases import Released, Statement

__all__ = [
    "AnswerChunk",
    "AtomBudget",
    "Bank",
    "BankPhase",
    "Experiment",
    "ExperimentPlan",
    "ExperimentRegistry",
    "Party",
    "Receipt",
    "Released",
    "Statement",
    "StoredChunk",
    "bank_id_of",
]
