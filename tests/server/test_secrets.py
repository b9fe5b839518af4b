"""What leaves the server before a disclosure says nothing of the truth, and private bytes lie in the vault alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from leakscale.client import Client
from leakscale.errors import ConflictError, LeakScaleError
from leakscale.heads import head_bytes
from leakscale.models import CertificationRequest, Condition, EditionKind, ShapeFile, TrainingRecord, TrainingSource
from leakscale.statements import Predicate, predicate_of, signed_bytes
from leakscale.v1 import (
    audit_service_pb2,
    bank_service_pb2,
    certification_service_pb2,
    edition_service_pb2,
    experiment_service_pb2,
    grant_service_pb2,
    ledger_service_pb2,
    server_service_pb2,
)
from leakscale_server.app import RunningServer
from leakscale_server.store.vault import Association

from .helpers import PRIVATE_SEED, World, a_draft, a_plan, a_vault, a_world, answers_to, shape_files

OTHER_SEED = b"t" * 32
MARKERS = {TrainingSource.DECOY, TrainingSource.CANARY}
"""Sources of a grant's own records: each grant has others."""


@pytest.fixture(scope="module")
def twin(client: Client, world: World) -> World:
    """The same public seed under another private one, answered alike."""
    return a_world(client, edition_id="twin", practice_private_seed=OTHER_SEED)


def associations(data_dir: Path, edition_id: str) -> dict[str, Association]:
    """Read the vault of a running server, with its key."""
    vault = a_vault(data_dir)
    try:
        return vault.associations(edition_id)
    finally:
        vault.close()


def truths(data_dir: Path, edition_id: str) -> dict[str, int]:
    return {name: association.truth for name, association in associations(data_dir, edition_id).items()}


def public_files(data_dir: Path) -> Iterator[Path]:
    for path in data_dir.rglob("*"):
        if path.is_file() and path.name not in ("vault.key", "signing.key"):
            yield path


def text_of(records: list[TrainingRecord]) -> str:
    return "\n".join(f"{turn.content}" for record in records for turn in record.prompt) + "\n".join(
        record.completion for record in records
    )


def test_two_truths_were_really_drawn(data_dir: Path, world: World, twin: World) -> None:
    """The comparison below proves something only if the truths differ."""
    one, other = truths(data_dir, "world"), truths(data_dir, "twin")

    assert one.keys() == other.keys()
    assert one != other


def test_everything_public_is_the_same_under_another_truth(world: World, twin: World) -> None:
    """Names, order, prompts, sizes and receipts of equal answers: no byte may depend on an association."""
    assert twin.families == world.families
    assert [receipt.answers_digest for receipt in twin.receipts] == [
        receipt.answers_digest for receipt in world.receipts
    ]
    assert [receipt.case_count for receipt in twin.receipts] == [receipt.case_count for receipt in world.receipts]
    assert [outcome.request for outcome in twin.outcomes] == [outcome.request for outcome in world.outcomes]
    names = [[record.record_id for record in each.corpus if record.source not in MARKERS] for each in (twin, world)]
    assert names[0] == names[1]


def test_certificates_differ_in_commitments_alone(world: World, twin: World) -> None:
    """What they commit to is blinded by 256 bits; everything else in them is public."""
    for one, other in zip(world.outcomes, twin.outcomes, strict=True):
        assert one.certificate is not None
        assert other.certificate is not None
        bodies = [
            predicate_of(each.certificate.payload, Predicate.CERTIFICATE) for each in (one, other) if each.certificate
        ]
        differing = {name for name in bodies[0] if bodies[0][name] != bodies[1][name]}
        assert differing == {"edition", "truth_commitment", "condition_commitment", "rings"}
        assert [{ring: each["public_digest"] for ring, each in body["rings"].items()} for body in bodies[:1]] == [
            {ring: each["public_digest"] for ring, each in body["rings"].items()} for body in bodies[1:]
        ]
        assert len(one.certificate.payload) == len(other.certificate.payload) + 2 * (len("world") - len("twin"))


def test_a_certificate_names_neither_truth_nor_utility(world: World) -> None:
    """The rule, the environment and commitments: a stranger can check it and learns no answer."""
    assert world.outcomes[0].certificate is not None
    body = predicate_of(world.outcomes[0].certificate.payload, Predicate.CERTIFICATE)

    assert set(body) == {
        "edition", "family", "domain", "shape", "shape_digest", "rings", "truth_commitment",
        "condition_commitment",
        "fixture_count", "rule", "environment",
    }  # fmt: skip
    assert set(body["rings"]) == {"R0", "R1", "R2"}
    assert all(set(each) == {"public_digest", "fixtures_commitment"} for each in body["rings"].values())
    assert set(body["environment"]) == {
        "backend", "image", "worker", "python", "sqlite", "sqlite_compile_options", "canonical_version", "limits",
        "domains",
    }  # fmt: skip


def test_refusals_are_the_same_under_another_truth(client: Client, world: World, twin: World) -> None:
    """An error message is an answer too."""

    def messages(edition: World) -> list[str]:
        bank = edition.experiment.banks[0]
        answer = answers_to(bank, edition.families)[0]
        acts: list[Callable[[], object]] = [
            lambda: client.banks.submit(bank.name, [type(answer)(answer.family_id, 9, "x")]),
            lambda: client.banks.submit(bank.name, [type(answer)(answer.family_id, 0, "x")]),
            lambda: client.experiments.create(
                a_plan(edition.edition, edition.experiment.plan.experiment_id, draw_count=9)
            ),
            lambda: a_draft(client, edition.edition.name.rpartition("/")[2], families_per_cell=8),
        ]
        found = []
        for act in acts:
            with pytest.raises(LeakScaleError) as caught:
                act()
            found.append(str(caught.value).replace("twin", "world"))
        return found

    assert messages(world) == messages(twin)


@pytest.mark.parametrize(
    "module",
    [
        audit_service_pb2,
        bank_service_pb2,
        certification_service_pb2,
        edition_service_pb2,
        experiment_service_pb2,
        grant_service_pb2,
        ledger_service_pb2,
        server_service_pb2,
    ],
)
def test_no_answer_has_a_field_that_could_hold_a_secret(module: object) -> None:
    """What cannot be expressed cannot leak."""
    secrets = ("truth", "association", "fixture", "expected", "utility", "nonce", "private", "passed", "gold")
    messages = module.DESCRIPTOR.message_types_by_name.values()  # type: ignore[attr-defined]
    answers = [message for message in messages if message.name.endswith("Response")]
    pending, seen = list(answers), set()
    while pending:
        message = pending.pop()
        if message.full_name == "leakscale.v1.Opening":
            continue  # of a retired edition, whose truth is in the open
        if message.full_name not in seen:
            seen.add(message.full_name)
            pending += [field.message_type for field in message.fields if field.message_type is not None]
            assert not [field.full_name for field in message.fields if any(word in field.name for word in secrets)]

    assert answers


def test_an_opening_is_in_one_answer_alone() -> None:
    """The one message with a truth in it: a page of openings, which only a retired edition has."""
    from leakscale.v1 import edition_service_pb2, resources_pb2

    holders = [
        message.name
        for module in (edition_service_pb2, resources_pb2)
        for message in module.DESCRIPTOR.message_types_by_name.values()
        for field in message.fields
        if field.message_type is not None and field.message_type.name == "Opening"
    ]

    assert holders == ["ListOpeningsResponse"]


def test_no_key_of_the_control_leaves_in_a_corpus(world: World) -> None:
    """The control is one only while no training record has ever named it; proved on what was streamed."""
    text = text_of(world.corpus)
    keys = {family.family_id: family.key for family in world.families}
    conditions = {outcome.family.rpartition("/")[2]: outcome.request.condition for outcome in world.outcomes}
    exposed = {keys[each] for each, condition in conditions.items() if condition is Condition.C2}
    control = {keys[each] for each, condition in conditions.items() if condition is Condition.C0}

    assert len(exposed) == len(control) == 8
    assert all(key in text for key in exposed)
    assert not any(key in text or key[2:] in text for key in control)
    assert not any(each in record.record_id for record in world.corpus for each, c in conditions.items() if c == "C0")


def test_a_corpus_with_a_control_key_would_be_stopped(world: World) -> None:
    """The guard itself works; a guard that never fired proves nothing."""
    from leakscale_server.errors import Internal
    from leakscale_server.scorer.corpus import assert_no_control

    leaked = next(family for family in world.families if family.key in text_of(world.corpus))

    with pytest.raises(Internal, match="nothing was sent"):
        assert_no_control(world.corpus, [leaked])


def test_private_bytes_lie_nowhere_in_the_clear(data_dir: Path, world: World, twin: World) -> None:
    """No file holds a nonce, a private seed or a row of the vault, raw, in hex or in base64; not the vault itself."""
    import base64

    known = [*associations(data_dir, "world").values(), *associations(data_dir, "twin").values()]
    secrets = [PRIVATE_SEED, OTHER_SEED, *(each.nonce for each in known)]
    forms = [form for secret in secrets for form in (secret, secret.hex().encode(), base64.b64encode(secret)[:40])]
    forms += [b"passed_counts", b'"truth":']

    assert len(secrets) == 34
    assert any(path.name == "vault.db-wal" for path in public_files(data_dir))
    for path in public_files(data_dir):
        if path.name.endswith(".openings.jsonl"):
            continue  # of a retired edition, whose truth is in the open
        content = path.read_bytes()
        assert not [form for form in forms if form in content], path.name


def test_the_registry_has_no_column_for_a_truth(data_dir: Path, world: World) -> None:
    """The edition file and the registry hold what the public may read, by their form."""
    names = set()
    for path in [data_dir / "registry.db", *data_dir.glob("editions/*.sqlite")]:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            names |= {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        connection.close()

    assert "payload" in names
    assert not [name for name in names if any(word in name for word in ("truth", "nonce", "passed", "private", "gold"))]


def test_files_are_the_owners_alone(data_dir: Path, world: World) -> None:
    """Other users of the machine read neither truth nor key nor token."""
    modes = {path.name: path.stat().st_mode & 0o777 for path in data_dir.iterdir()}

    assert data_dir.stat().st_mode & 0o777 == 0o700
    assert {modes[name] for name in ("vault.db", "vault.key", "registry.db", "signing.key", "token")} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in data_dir.glob("editions/*.sqlite")} == {0o444}


def test_signatures_verify_with_the_servers_key(client: Client, world: World) -> None:
    """Certificates, disclosure and ledger head are worth as much as this check."""
    key = Ed25519PublicKey.from_public_bytes(client.server.info().public_key)
    head = client.ledger.head()

    key.verify(head.signature, head_bytes(entry_count=head.entry_count, root=head.root))
    key.verify(world.disclosure.signature, signed_bytes(world.disclosure.payload))
    for outcome in world.outcomes:
        assert outcome.certificate is not None
        key.verify(outcome.certificate.signature, signed_bytes(outcome.certificate.payload))


def test_the_seed_of_a_private_edition_is_nobodys(client: Client, data_dir: Path) -> None:
    """Its author brings none, and two private editions of one text have two truths."""
    for edition_id in ("private-a", "private-b"):
        draft = a_draft(client, edition_id, kind=EditionKind.PRIVATE, practice_private_seed=b"")
        assert all(outcome.is_certified for outcome in client.families.certify_edition(draft))

    one, other = (truths(data_dir, each) for each in ("private-a", "private-b"))
    assert one.keys() == other.keys()
    assert one != other


def test_a_guessed_seed_is_refused_in_the_same_words(client: Client, world: World) -> None:
    """The refusal must not tell how near a guess was."""
    found = set()
    for guess in (b"a" * 32, PRIVATE_SEED[:-1] + b"x"):
        with pytest.raises(ConflictError) as caught:
            a_draft(client, "world", practice_private_seed=guess)
        found.add(str(caught.value))

    assert len(found) == 1


def test_rejections_do_not_say_which_candidate_is_right(client: Client) -> None:
    """Numbers of a rejection are of the family; `_` stands for what an author may learn."""
    toml = shape_files("python/threshold.toml")[0].toml.replace("{{policy}}", "({{policy}} and 30)")
    draft = a_draft(client, "indifferent", shapes=[ShapeFile("equal.toml", toml)])

    outcomes = list(client.families.certify(draft.name, [CertificationRequest(draft.shape_ids[0], Condition.C0, 0)]))

    assert outcomes[0].rejection is not None
    assert {label for label, _ in outcomes[0].rejection.figures} <= {
        "candidate_position", "other_position", "equal_count", "equal_count_max", "fixture_count",
    }  # fmt: skip
    assert outcomes[0].certificate is None


def test_the_running_server_knows_its_token_alone(server: RunningServer, data_dir: Path, world: World) -> None:
    """The token is in its file and in no other."""
    holders = [
        path.name for path in data_dir.rglob("*") if path.is_file() and server.token.encode() in path.read_bytes()
    ]

    assert holders == ["token"]
