"""An author and a runner of a deposited audit, who do what the commands do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.audit.answering.builders import SpokenEngine
from tests.audit.registration.builders import PLAN

from leakscale.audit.answering.running import answer_audit
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.amending import registration_of
from leakscale.audit.remote.depositing import Deposited, deposit_audit
from leakscale.audit.remote.fetching import FetchedAudit, fetch_audit
from leakscale.audit.remote.submitting import Submitted, submit_answers
from leakscale.client import Client

from .deposited import a_locked

BOTH = tuple(BankRole)
ONE = PLAN[: PLAN.rindex("[[models]]")]
SERVER = "vault.example:7443"
"""What the server is called in ledgers and messages."""


def an_audit(folder: Path, name: str, *, plan: str = ONE, control_count: int = 3) -> AuditDirectory:
    """Lock an audit of four parents in three forms, and a control bank."""
    return a_locked(folder / name, name, plan=plan, control_count=control_count).directory


def deposited(client: Client, directory: AuditDirectory, **settings: Any) -> Deposited:
    """Deposit it as the command does."""
    return deposit_audit(client, directory, server=SERVER, **settings)


def fetched(client: Client, name: str, root: Path, **settings: Any) -> FetchedAudit:
    """Fetch it as the command does."""
    return fetch_audit(client, f"audits/{name}", root, server=SERVER, **settings)


def submitted(client: Client, directory: AuditDirectory, **settings: Any) -> Submitted:
    """Submit as the command does."""
    return submit_answers(client, directory, server=SERVER, **settings)


def say(prompt: str) -> str:
    """Answer some questions right, by no rule that the test knows."""
    many = next(word for word in prompt.split() if word.isdigit() and int(word) >= 10)
    return f"The answer is {3 * int(many) - 5}." if "Tom" in prompt or int(many) % 2 else "The answer is 7777."


def answer(
    directory: AuditDirectory, *, variant: str = "registered", roles: tuple[BankRole, ...] = tuple(BankRole)
) -> None:
    """Answer banks with every registered model."""
    for model in registration_of(directory, variant).plan.models:
        for role in roles:
            answer_audit(directory, model.id, role=role, variant=variant, engine=SpokenEngine(say))


def scores_of(directory: AuditDirectory) -> dict[str, bytes]:
    """Every table of accuracies, by its path."""
    return {
        path.relative_to(directory.root).as_posix(): path.read_bytes()
        for path in sorted(directory.root.rglob("*.correct.jsonl"))
    }
