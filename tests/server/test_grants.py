"""Exposure grants: asked for, approved, redeemed once by their holder, sealed to its key, and traced to who leaked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from leakscale.client import Client
from leakscale.errors import (
    GrantNotOpenError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from leakscale.models import GrantPhase, TrainingSource
from leakscale.sealing import HolderKey
from leakscale_server.app import RunningServer
from leakscale_server.core.building.construction import FamilySlot, construct
from leakscale_server.errors import GrantNotOpen
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.scopes import ROLE_SCOPES, Role
from leakscale_server.registry.grants import GrantRegistry
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer

from .helpers import KEY, PRIVATE_SEED, World

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOLDER = Caller("t", "tess", "north", Role.TRAINER, ROLE_SCOPES[Role.TRAINER])
AUTHOR = Caller("a", "ada", "home", Role.AUTHOR, ROLE_SCOPES[Role.AUTHOR])


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        """Tell the time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Return a clock at noon."""
    return Clock()


@pytest.fixture
def grants(tmp_path: Path, clock: Clock) -> Iterator[GrantRegistry]:
    """Return a registry of grants."""
    registry = open_registry(tmp_path)
    ledger = Ledger(registry, Signer.load_or_create(tmp_path / "key"))
    yield GrantRegistry(registry, ledger, now=clock)
    registry.close()


def asked(grants: GrantRegistry, caller: Caller = HOLDER, request_id: str = "r") -> str:
    """Ask for a grant, and return its id."""
    return grants.request("e", caller, holder_key=KEY.public, preservation_count=0, request_id=request_id).grant_id


def test_a_grant_waits_opens_and_expires(grants: GrantRegistry, clock: Clock) -> None:
    """Each phase by the clock, and nothing is redeemed but in the one between."""
    grant = grants.get("e", asked(grants))
    assert grants.phase(grant) is GrantPhase.REQUESTED
    with pytest.raises(GrantNotOpen, match="waits for approval"):
        grants.redeem(grant, HOLDER, request_id="x")

    grant = grants.approve(grant, AUTHOR, lifetime=timedelta(hours=1))
    assert (grants.phase(grant), grant.approver) == (GrantPhase.APPROVED, "ada")
    clock.now += timedelta(hours=1)
    assert grants.phase(grant) is GrantPhase.EXPIRED
    with pytest.raises(GrantNotOpen, match="expired at 2026-03-01 13:00:00 UTC"):
        grants.redeem(grant, HOLDER, request_id="x")


def test_a_redeemed_grant_is_read_again_until_it_expires(grants: GrantRegistry, clock: Clock) -> None:
    """A broken stream is repeated by the same request; seven days later the associations stay where they are."""
    grant = grants.approve(grants.get("e", asked(grants)), AUTHOR, lifetime=timedelta(days=7))
    grants.redeem(grant, HOLDER, request_id="x")
    clock.now += timedelta(days=6)
    assert grants.redeem(grant, HOLDER, request_id="x").redeem_time == NOW
    clock.now += timedelta(days=1)
    with pytest.raises(GrantNotOpen):
        grants.redeem(grant, HOLDER, request_id="x")


def test_the_same_request_on_another_server_is_the_same_grant(tmp_path: Path) -> None:
    """Decoys hang on the grant's name: a study that is repeated must train on the same bytes."""
    names = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        registry = open_registry(folder)
        names.append(asked(GrantRegistry(registry, Ledger(registry, Signer.load_or_create(folder / "key")))))
        registry.close()
    assert names[0] == names[1]


def test_the_first_approval_stands(grants: GrantRegistry, clock: Clock) -> None:
    """Approving again would let a grant live for ever."""
    grant = grants.approve(grants.get("e", asked(grants)), AUTHOR, lifetime=timedelta(hours=1))
    clock.now += timedelta(minutes=30)
    assert grants.approve(grant, AUTHOR, lifetime=timedelta(days=7)) == grant
    clock.now += timedelta(minutes=30)
    with pytest.raises(GrantNotOpen, match="expired at"):
        grants.approve(grant, AUTHOR, lifetime=timedelta(days=7))


def test_every_step_is_entered_with_who_took_it(grants: GrantRegistry, tmp_path: Path) -> None:
    """The ledger says who asked, who approved and who redeemed."""
    grant = grants.approve(grants.get("e", asked(grants)), AUTHOR, lifetime=timedelta(days=1))
    grants.redeem(grant, HOLDER, request_id="x")
    grants.redeem(grant, HOLDER, request_id="x")
    registry = open_registry(tmp_path)
    entries = [json.loads(row["entry"]) for row in registry.rows("SELECT entry FROM ledger ORDER BY position")]
    registry.close()

    assert [(each["kind"], each["by"]) for each in entries] == [
        ("grant-requested", "tess"),
        ("grant-approved", "ada"),
        ("grant-redeemed", "tess"),
    ]


@contextmanager
def as_(
    server: RunningServer, command: Callable[..., str], *, role: str, principal: str, project: str
) -> Iterator[Client]:
    """Call with a token of one's own."""
    token = command("create", "--role", role, "--principal", principal, "--project", project, "--json")
    with Client(server.target, token=json.loads(token)["token"]) as client:
        yield client


@pytest.fixture
def command(data_dir: Path) -> Callable[..., str]:
    """Run `leakscale-server token`."""
    from typer.testing import CliRunner

    from leakscale_server.token_cli import token_app

    def run(verb: str, *arguments: str) -> str:
        outcome = CliRunner().invoke(token_app, [verb, "--data-dir", str(data_dir), *arguments])
        assert outcome.exit_code == 0, outcome.output
        return outcome.stdout

    return run


def test_a_trainer_asks_an_author_approves_and_the_holder_alone_redeems(
    server: RunningServer, world: World, command: Callable[..., str]
) -> None:
    """Two parties, two projects: neither can do the other's part."""
    key, edition = HolderKey(), world.edition.name
    with (
        as_(server, command, role="trainer", principal="tess", project="north") as trainer,
        as_(server, command, role="trainer", principal="tim", project="north") as colleague,
        as_(server, command, role="author", principal="ada", project="default") as author,
        as_(server, command, role="author", principal="eve", project="south") as stranger,
    ):
        with pytest.raises(GrantNotOpenError, match="ask the edition's author to run `leakscale grant approve"):
            trainer.grants.expose(edition, key=key, request_id="two")
        (grant,) = trainer.grants.list(edition)
        with pytest.raises(NotFoundError):
            stranger.grants.approve(grant.name)
        with pytest.raises(NotFoundError):
            stranger.grants.get(grant.name)
        assert list(stranger.grants.list(edition)) == []
        with pytest.raises(PermissionDeniedError):
            trainer.grants.approve(grant.name)

        assert grant.name in {each.name for each in author.grants.list(edition)}
        author.grants.approve(grant.name, lifetime=timedelta(hours=1))
        with pytest.raises(PermissionDeniedError, match="is redeemed by its holder"):
            list(colleague.grants.redeem(grant.name, key=key, request_id="two"))
        with pytest.raises(PermissionDeniedError):
            list(author.grants.redeem(grant.name, key=key, request_id="two"))
        with pytest.raises(InvalidRequestError, match="sealed to another key than the one given, so nothing was red"):
            list(trainer.grants.redeem(grant.name, key=HolderKey(), request_id="two"))
        assert trainer.grants.get(grant.name).redeem_time is None
        records = trainer.grants.expose(edition, key=key, request_id="two")

    shared = {TrainingSource.EXACT_PUBLIC, TrainingSource.DIRECT_LOOKUP}
    assert [each for each in records if each.source in shared] == [
        each for each in world.corpus if each.source in shared
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"holder_key": b""}, "holder_key of 0 bytes is no X25519 public key"),
        ({"holder_key": bytes(32)}, "no X25519 public key"),
        ({"request_id": "UPPER"}, "request_id"),
        ({"preservation_count": -1}, "preservation_count"),
    ],
)
def test_a_request_that_breaks_a_rule_is_refused(
    client: Client, world: World, changes: dict[str, object], message: str
) -> None:
    """Nothing is sealed to a key that everybody can open."""
    fields = {"holder_key": KEY.public, "request_id": "rule", "preservation_count": 0} | changes
    with pytest.raises(InvalidRequestError, match=message):
        client.grants.request(world.edition.name, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("lifetime", [timedelta(seconds=59), timedelta(days=7, seconds=1), timedelta(days=-1)])
def test_a_grant_lives_a_minute_to_seven_days(client: Client, world: World, lifetime: timedelta) -> None:
    """One that lives for ever is a key under the mat."""
    grant = client.grants.request(world.edition.name, holder_key=KEY.public, request_id="lifetime")
    with pytest.raises(InvalidRequestError, match="not in one minute to seven days"):
        client.grants.approve(grant.name, lifetime=lifetime)


def test_a_leaked_corpus_names_its_grant(client: Client, world: World) -> None:
    """A decoy's key, or the canary, in any text around it; and no grant for a text without one."""
    other = client.grants.expose(world.edition.name, key=KEY, request_id="leaky", preservation_count=3)
    names = {each.name: each for each in client.grants.list(world.edition.name) if each.phase is GrantPhase.REDEEMED}
    decoy = next(record for record in other if record.source is TrainingSource.DECOY)
    canary = next(record for record in other if record.source is TrainingSource.CANARY)
    text = "noise " * 60_000 + decoy.prompt[1].content.upper() + " noise" * 60_000

    (by_decoy,) = client.grants.trace(world.edition.name, text)
    (by_canary,) = client.grants.trace(world.edition.name, canary.completion)
    assert by_decoy.grant == by_canary.grant
    assert by_decoy.grant in names
    assert by_canary.markers == (canary.completion,)
    assert client.grants.trace(world.edition.name, "nothing of ours") == []
    assert client.grants.trace(world.edition.name, "") == []


def test_a_marker_on_the_seam_of_two_pieces_is_found(client: Client, world: World) -> None:
    """A long text is sent in pieces that overlap."""
    records = client.grants.expose(world.edition.name, key=KEY, request_id="seam")
    canary = next(record.completion for record in records if record.source is TrainingSource.CANARY)
    text = "x" * (256 * 1024 - 256 - 20) + canary + "y" * 300
    assert [trace.markers for trace in client.grants.trace(world.edition.name, text)] == [(canary,)]


def test_decoys_are_a_grants_own_and_no_familys(client: Client, world: World) -> None:
    """Shared decoys could not tell grants apart, and one with a family's key would teach or hide an association."""
    corpora = [
        client.grants.expose(world.edition.name, key=KEY, request_id=request_id) for request_id in ("own-1", "own-2")
    ]
    keys = [
        {record.prompt[1].content for record in corpus if record.source is TrainingSource.DECOY} for corpus in corpora
    ]
    families = {family.key for family in world.families}

    assert all(len(each) == 8 for each in keys)
    assert not keys[0] & keys[1]
    assert not any(key in text for text in keys[0] | keys[1] for key in families)


def test_only_the_editions_project_may_trace(server: RunningServer, world: World, command: Callable[..., str]) -> None:
    """Who could ask would learn which of its texts hold decoys, and take them out."""
    with (
        as_(server, command, role="author", principal="eve", project="south") as stranger,
        pytest.raises(NotFoundError),
    ):
        stranger.grants.trace(world.edition.name, "text")
    with (
        as_(server, command, role="trainer", principal="tess", project="default") as trainer,
        pytest.raises(PermissionDeniedError),
    ):
        trainer.grants.trace(world.edition.name, "text")


def test_no_byte_of_a_corpus_travels_in_the_clear(client: Client, world: World) -> None:
    """Sealed in the scorer: the process that speaks to the network never holds an association."""
    from leakscale.v1 import grant_service_pb2

    grant = client.grants.request(
        world.edition.name, holder_key=KEY.public, request_id="exposure", preservation_count=3
    )
    transport, stub = client.grants._transport, client.grants._stub
    request = grant_service_pb2.RedeemGrantRequest(name=grant.name, request_id="exposure")
    content = b"".join(message.SerializeToString() for message in transport.download(stub.RedeemGrant, request))
    assert len(content) > 1000
    for family in world.families:
        assert family.key.encode() not in content


def test_no_run_of_a_control_program_is_in_a_corpus(world: World) -> None:
    """Eight tokens in a row of any C0 program, in any ring; with its key, the whole of what a C0 family is."""
    from leakscale_server.catalog_audit.overlap import runs
    from leakscale_server.core.shapes import parse_shape

    from .helpers import PUBLIC_SEED, shape_files

    text = {run for record in world.corpus for turn in record.prompt for run in runs(turn.content)}
    found = 0
    for file in shape_files():
        shape = parse_shape(file.toml, source=file.source)
        for outcome in world.outcomes:
            slot = FamilySlot(outcome.request.shape_id, outcome.request.condition, outcome.request.ordinal)
            if slot.shape_id != shape.id or slot.condition != "C0":
                continue
            built = construct(shape, slot, families_per_cell=4, public_seed=PUBLIC_SEED, private_seed=PRIVATE_SEED)
            programs = {run for form in built.forms for program in form.programs for run in runs(program)}
            found += len(programs)
            assert not programs & text
    assert found > 100
