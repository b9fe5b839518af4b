"""Experiments: registered before the first answer, answered in chunks, sealed bank by bank, disclosed once.

plans        what is fixed at the registration, and what a plan may say
accounts     which releases it sets aside, and what everybody has spent
chunks       answers as they come in
releases     what becomes of a sealed experiment
banks        a bank and its receipt
experiments  all of it as one life: registered → open → sealed → scored → released, or expired
"""

from leakscale_server.registry.experiments.accounts import AtomBudget, Party
from leakscale_server.registry.experiments.banks import Bank, BankPhase, Receipt, bank_id_of
from leakscale_server.registry.experiments.chunks import AnswerChunk, StoredChunk
from leakscale_server.registry.experiments.experiments import Experiment, ExperimentRegistry
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
