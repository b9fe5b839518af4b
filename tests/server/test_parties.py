"""Who redeems a grant of a private edition does not answer for it, and the other way round, unless a plan says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from leakscale.answers import answer_line, lines_digest
from leakscale.models import Answer, Domain
from leakscale_server.errors import PartiesMixed
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.scopes import ROLE_SCOPES, Role
from leakscale_server.registry.editions import EditionRegistry
from leakscale_server.registry.experiments import AnswerChunk, ExperimentRegistry, Party
from leakscale_server.registry.grants import GrantRegistry
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer

from .test_budget import PLAN, frozen

ANSWER = Answer("f-1", 0, "x")


@dataclasses.dataclass(frozen=True, slots=True)
class Scene:
    """An edition with an experiment `first` that is not marked and one `marked` that is."""

    experiments: ExperimentRegistry
    grants: GrantRegistry

    def submit(self, principal: str, experiment_id: str = "first") -> None:
        chunk = AnswerChunk(0, lines_digest([answer_line(ANSWER)]), [ANSWER])
        self.experiments.answers.submit(experiment_id, "sql-base", [chunk], party=Party(principal, "default"))

    def redeem(self, principal: str) -> None:
        caller = Caller("t", principal, "default", Role.ADMIN, ROLE_SCOPES[Role.ADMIN])
        asked = self.grants.request("large", caller, holder_key=b"k" * 32, preservation_count=0, request_id="exposure")
        self.grants.redeem(self.grants.approve(asked, caller, lifetime=timedelta(days=1)), caller, request_id="r")


@pytest.fixture(params=["private", "practice"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> Scene:
    family = SimpleNamespace(family_id="f-1", domain=Domain.SQL)
    monkeypatch.setattr(EditionRegistry, "families", lambda *_, **__: [family])
    experiments = frozen(tmp_path, kind=kind, shape_count=32)
    party = Party("root", "default")
    experiments.create(PLAN, party=party)
    experiments.create(dataclasses.replace(PLAN, experiment_id="marked", is_self_administered=True), party=party)
    registry = open_registry(tmp_path)
    return Scene(experiments, GrantRegistry(registry, Ledger(registry, Signer.load_or_create(tmp_path / "key"))))


def allowed(act: Callable[[], object]) -> bool:
    try:
        act()
    except PartiesMixed as fault:
        assert "another principal" in fault.message
        return False
    return True


def test_a_trainer_does_not_answer_for_what_it_saw(scene: Scene, kind: str) -> None:
    """Else the numbers are the trainer's own; on a practice edition they are nobody's word anyway."""
    scene.redeem("trainer")

    assert allowed(lambda: scene.submit("auditor"))
    assert allowed(lambda: scene.submit("trainer")) is (kind == "practice")
    assert allowed(lambda: scene.submit("trainer", "marked"))


def test_an_auditor_does_not_see_what_it_answers_for(scene: Scene, kind: str) -> None:
    """The order makes no difference."""
    scene.submit("auditor")

    assert allowed(lambda: scene.redeem("trainer"))
    assert allowed(lambda: scene.redeem("auditor")) is (kind == "practice")


def test_answers_to_a_marked_experiment_bind_nobody(scene: Scene) -> None:
    """It was said before the first answer, and its disclosure says it too."""
    scene.submit("both", "marked")

    assert allowed(lambda: scene.redeem("both"))
