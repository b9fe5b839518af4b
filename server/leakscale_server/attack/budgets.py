"""Attacks on the budget and on the floor: more releases than are allowed, and differences of cohorts."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from leakscale.models import Condition, ModelState
from leakscale_server.attack.probes import Guesses, Probe, answers_to, best_guesses, least_squares, total_of
from leakscale_server.attack.victim import Client
from leakscale_server.core.disclosure.atoms import Cohort
from leakscale_server.errors import BudgetSpent, CohortTooSmall

__all__ = ["cohort_overlap", "releases_by_race", "releases_by_turns"]

RELEASES_PER_EXPERIMENT: Final = len(ModelState)
_COHORT: Final = "part"


def releases_by_turns(clients: Sequence[Client], *, tries_each: int) -> int:
    """Let clients register by turns, and return how many releases over the whole edition they get together."""
    admitted = [_is_admitted(client, f"turn-{number}") for number in range(tries_each) for client in clients]
    return RELEASES_PER_EXPERIMENT * sum(admitted)


def releases_by_race(clients: Sequence[Client]) -> int:
    """Let clients register at the same moment, each on a thread, and return how many releases they get together."""
    start = threading.Barrier(len(clients))

    def run(number: int) -> bool:
        start.wait()
        return _is_admitted(clients[number], f"race-{number}")

    with ThreadPoolExecutor(len(clients)) as threads:
        return RELEASES_PER_EXPERIMENT * sum(threads.map(run, range(len(clients))))


def cohort_overlap(client: Client, *, targets: Sequence[str], condition: Condition, seed: int) -> Guesses:
    """Ask for nested cohorts, each one shape smaller, and solve for what those that are let through say together."""
    generator = np.random.default_rng(seed)
    families = client.families()
    shape_of = {family.family_id: family.shape_id for family in families}
    shapes = sorted(set(shape_of.values()))
    probes: list[Probe] = []
    totals: list[int] = []
    for count in range(len(shapes), 0, -1):
        cohort = Cohort(_COHORT, tuple(shapes[:count]))
        try:
            experiment = client.register(f"overlap-{count}", cohorts=[cohort])
        except (BudgetSpent, CohortTooSmall):
            continue
        inside = np.array([shape_of[family_id] in cohort.shape_ids for family_id in targets])
        choices = np.eye(4, dtype=np.int64)
        asked = {state: choices[generator.integers(4, size=len(targets))] for state in ModelState}
        for bank in experiment.banks:
            counts = dict(zip(targets, asked[bank.state].tolist(), strict=True))
            client.submit(bank, answers_to(families, counts, draw_count=1))
            client.seal(bank)
        body = client.disclose(experiment)
        (part,) = body["cohorts"]
        for state in ModelState:
            probes += [asked[state], np.where(inside[:, None], asked[state], 0)]
            totals += [total_of(each, condition=condition, state=state) for each in (body, part)]
    return best_guesses(least_squares(probes, totals, np.ones((len(targets), 4), dtype=bool)))


def _is_admitted(client: Client, experiment_id: str) -> bool:
    try:
        client.register(experiment_id)
    except BudgetSpent:
        return False
    return True
