"""Kill a server or its scorer at random points of upload, seal, score and disclose, and show that nothing is lost.

    python bench/kill_service.py [--points 50] [--seed 1] [--backend bubblewrap] [--cache-dir DIR]

Each point is a random moment of one experiment on one data folder, which goes through all of them; every other one hits
the API process, and half of those lie before the last seal. After each, the experiment is carried to its end: every
case must be there exactly once, seal, score, charge and release exist once, a repeated disclosure gives the same bytes,
and the exported ledger grows and verifies with everything in it. The last points are experiments of a private edition,
whose budget must be charged once for each.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from _served import Server, require, scorer_of, start
from leakscale.client import Client
from leakscale.errors import LeakScaleError, UnavailableError
from leakscale.models import Answer, Edition, EditionKind, Experiment, ExperimentPlan, Family, ShapeFile
from leakscale.resources import catalog_folder
from leakscale.results import Disclosure
from leakscale.verify import verify_directory
from leakscale.verify.exporting import export_server
from leakscale_server.config import ServerConfig

T = TypeVar("T")
PRIVATE_POINTS, RELEASES = 2, 2
"""Experiments that a private edition of 128 families a cohort may have, and what each takes of its four releases."""
PRIVATE_SHAPES = 8
DRAWS = {EditionKind.PRACTICE: 1024, EditionKind.PRIVATE: 32}
RECOVERY_S_MAX = 120.0
ONCE = ("seals", "scores", "charges", "disclosures")


@dataclass
class Bench:
    """One data folder and the server on it, which is started again when it was killed."""

    root: Path
    backend: str
    cache_dir: Path
    server: Server = field(init=False)
    client: Client = field(init=False)

    def start(self) -> None:
        """Start a server and a client of it."""
        self.server = start(self.root / "data", backend=self.backend, cache_dir=self.cache_dir)
        self.client = Client(self.server.target, token=self.server.token)

    def kill_api(self) -> None:
        """End the process that answers calls as the kernel ends one, without a word."""
        self.server.process.kill()

    def kill_scorer(self) -> None:
        """End the process that holds the vault, if it runs."""
        pid = scorer_of(self.server)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def carry(self, act: Callable[[], T]) -> T:
        """Do something however often it takes: start the server again, wait for the scorer."""
        deadline = time.monotonic() + RECOVERY_S_MAX
        while True:
            if self.server.process.poll() is not None:
                self.client.close()
                self.start()
            try:
                return act()
            except UnavailableError:
                require(time.monotonic() < deadline, "the server does not recover")
                time.sleep(0.1)

    def stop(self) -> None:
        """End the server in peace."""
        self.client.close()
        self.server.process.terminate()
        self.server.process.wait()


def a_frozen_edition(client: Client, kind: EditionKind) -> Edition:
    names = sorted((catalog_folder() / "sql").glob("*.toml"))[: PRIVATE_SHAPES if kind is EditionKind.PRIVATE else 1]
    draft = client.editions.create(
        kind.value,
        kind=kind,
        families_per_cell=16 if kind is EditionKind.PRIVATE else 4,
        public_seed=b"p" * 32,
        practice_private_seed=b"" if kind is EditionKind.PRIVATE else b"s" * 32,
        shapes=[ShapeFile(f"sql/{path.name}", path.read_text(encoding="utf-8")) for path in names],
    )
    require(all(outcome.is_certified for outcome in client.families.certify_edition(draft)), "a family was rejected")
    return client.editions.freeze(draft.name)


def seal_experiment(client: Client, plan: ExperimentPlan, families: tuple[Family, ...]) -> Experiment:
    """Take an experiment from registration to its last seal; what is done already is done again to no effect."""
    experiment = client.experiments.create(plan)
    for bank in experiment.banks:
        answers = (
            Answer(family.family_id, draw, family.candidates[draw % 4].answer)
            for family in families
            for draw in range(plan.draw_count)
        )
        if not client.banks.get(bank.name).is_sealed:
            client.banks.submit(bank.name, answers)
        client.banks.seal(bank.name)
    return experiment


def run_experiment(client: Client, plan: ExperimentPlan, families: tuple[Family, ...]) -> tuple[Experiment, Disclosure]:
    """Take an experiment from registration to disclosure."""
    experiment = seal_experiment(client, plan, families)
    return experiment, client.experiments.disclose(experiment.name)


def check(bench: Bench, plan: ExperimentPlan, experiment: Experiment, disclosure: Disclosure, key: bytes) -> None:
    client = bench.client
    require(client.experiments.disclose(experiment.name) == disclosure, "a repeated disclosure is another one")
    for bank in experiment.banks:
        now = client.banks.get(bank.name)
        require(now.answered_count == bank.case_count, f"{bank.name} has {now.answered_count} of {bank.case_count}")
    with contextlib.closing(sqlite3.connect(bench.root / "data" / "registry.db")) as registry:
        wanted = {"seals": len(experiment.banks), "scores": 1, "charges": 1, "disclosures": 1}
        for table in ONCE:
            (count,) = registry.execute(
                f"SELECT count(*) FROM {table} WHERE experiment_id = ?", (plan.experiment_id,)
            ).fetchone()
            require(count == wanted[table], f"{plan.experiment_id} has {count} {table}, not {wanted[table]}")
        query = "SELECT bank_id, sum(answer_count) FROM chunks WHERE experiment_id = ? GROUP BY bank_id"
        stored = dict(registry.execute(query, (plan.experiment_id,)).fetchall())
    counts = {bank.name.rpartition("/")[2]: bank.case_count for bank in experiment.banks}
    require(stored == counts, f"chunks hold {stored}, not {counts}")
    export_server(client, bench.root / "export")  # refuses a ledger that does not begin with the one fetched before
    failed = [each for each in verify_directory(bench.root / "export", public_key=key).checks if not each.holds]
    require(not failed, f"the ledger does not verify: {failed[:1]}")


def kill_once(
    bench: Bench, plan: ExperimentPlan, families: tuple[Family, ...], *, kill: Callable[[], None], delay_s: float
) -> tuple[bool, Experiment, Disclosure]:
    """Kill something amid an experiment and carry it to its end; tell whether anybody noticed."""
    killer = threading.Timer(delay_s, kill)
    killer.start()
    noticed = False
    try:
        run_experiment(bench.client, plan, families)
    except LeakScaleError:
        noticed = True
    killer.join()
    if kill == bench.kill_api:
        bench.server.process.wait()
    experiment, disclosure = bench.carry(lambda: run_experiment(bench.client, plan, families))
    return noticed, experiment, disclosure


class Points:
    """Two editions, and the experiments on them that are broken off."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._key = bench.client.server.info().public_key
        self._editions = {kind: a_frozen_edition(bench.client, kind) for kind in EditionKind}
        self._families = {kind: bench.client.editions.families(each.name) for kind, each in self._editions.items()}

    def time_one(self) -> tuple[float, float]:
        """Return how long an experiment takes to its last seal, and to its end, when nobody kills anything."""
        started = time.perf_counter()
        experiment = seal_experiment(
            self._bench.client, self._plan("whole", EditionKind.PRACTICE), self._families[EditionKind.PRACTICE]
        )
        sealed_s = time.perf_counter() - started
        self._bench.client.experiments.disclose(experiment.name)
        return sealed_s, time.perf_counter() - started

    def run(self, name: str, kind: EditionKind, *, kill: Callable[[], None], delay_s: float) -> bool:
        """Kill something amid an experiment, end and check it; tell whether anybody noticed the kill."""
        plan = self._plan(name, kind)
        noticed, experiment, disclosure = kill_once(self._bench, plan, self._families[kind], kill=kill, delay_s=delay_s)
        self._bench.carry(lambda: check(self._bench, plan, experiment, disclosure, self._key))
        return noticed

    def check_budget(self) -> None:
        """Require that the private edition was charged for its experiments and for nothing else."""
        budget = self._bench.client.experiments.budget(self._editions[EditionKind.PRIVATE].name)
        spent = {allowance.release_count for atom in budget.atoms for allowance in atom.allowances}
        require(spent == {PRIVATE_POINTS * RELEASES}, f"the private edition was charged {spent} releases")

    def _plan(self, name: str, kind: EditionKind) -> ExperimentPlan:
        edition = self._editions[kind].name
        return ExperimentPlan(name, edition, "any", draw_count=DRAWS[kind], resample_count=100, cohort_families_min=128)


def kill_at_points(bench: Bench, *, point_count: int, seed: int) -> None:
    draw = random.Random(seed)
    points = Points(bench)
    sealed_s, whole_s = points.time_one()
    print(f"an experiment takes {whole_s:.2f} s, {sealed_s:.2f} s of them to its last seal", flush=True)
    victims = (
        ("API process", bench.kill_api, (0.0, sealed_s)),
        ("scorer", bench.kill_scorer, (0.8 * sealed_s, whole_s)),
        ("API process", bench.kill_api, (0.8 * sealed_s, whole_s)),
        ("scorer", bench.kill_scorer, (0.0, whole_s)),
    )
    noticed: Counter[str] = Counter()
    for number in range(point_count):
        kind = EditionKind.PRIVATE if number >= point_count - PRIVATE_POINTS else EditionKind.PRACTICE
        who, kill, span_s = victims[number % len(victims)]
        noticed[who] += points.run(f"point-{number}", kind, kill=kill, delay_s=draw.uniform(*span_s))
    points.check_budget()
    told = " and ".join(f"{count} of the {who}" for who, count in noticed.items())
    print(f"{point_count} of {point_count} points hold; a call was broken by {told}; the budget was charged once each")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", choices=("docker", "bubblewrap"), default="bubblewrap")
    parser.add_argument("--cache-dir", type=Path, default=ServerConfig.default_cache_dir())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.backend, options.cache_dir)
        bench.start()
        try:
            kill_at_points(bench, point_count=options.points, seed=options.seed)
        finally:
            bench.stop()


if __name__ == "__main__":
    main()
