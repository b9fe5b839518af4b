"""Grants and their corpora over the wire: issued once, redeemed by one request, and what they hold."""

from __future__ import annotations

from typing import Any

import pytest

from leakscale.client import Client
from leakscale.errors import (
    AlreadyDoneError,
    ConflictError,
    InvalidRequestError,
    LeakScaleError,
    NotFoundError,
)
from leakscale.models import (
    Grant,
    TrainingSource,
)
from leakscale.sealing import HolderKey

from .helpers import (
    KEY,
    PUBLIC_SEED,
    World,
    refusal,
    shape_files,
)


def test_a_grant_is_issued_once_a_request_id(client: Client, world: World) -> None:
    """A lost answer must not cost a second grant."""

    def ask(**changes: Any) -> Grant:
        fields: dict[str, Any] = {"holder_key": KEY.public, "request_id": "twice", "preservation_count": 1}
        return client.grants.request(world.edition.name, **(fields | changes))

    assert ask() == ask()
    refusal(ConflictError, lambda: ask(preservation_count=2))
    refusal(ConflictError, lambda: ask(holder_key=HolderKey().public))


def test_a_grant_is_redeemed_by_one_request_and_repeated_by_it(client: Client, world: World) -> None:
    """A broken stream is read again; a second trainer is not served."""
    grant = client.grants.request(
        world.edition.name, holder_key=KEY.public, request_id="exposure", preservation_count=3
    )

    assert list(client.grants.redeem(grant.name, key=KEY, request_id="exposure")) == world.corpus
    message = refusal(AlreadyDoneError, lambda: list(client.grants.redeem(grant.name, key=KEY, request_id="other")))
    assert "was redeemed by another request id; repeat that one" in message


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("editions/world/grants/g-0", NotFoundError),
        ("editions/nowhere/grants/g-0", NotFoundError),
        ("grants/g-0", InvalidRequestError),
    ],
)
def test_an_unknown_grant_is_refused(client: Client, world: World, name: str, kind: type[LeakScaleError]) -> None:
    """Guessing a name gives nothing."""
    refusal(kind, lambda: list(client.grants.redeem(name, key=KEY, request_id="r")))


@pytest.mark.parametrize("count", [-1, 65_537])
def test_a_corpus_has_a_size_that_can_be_sent(client: Client, world: World, count: int) -> None:
    """The number is refused before anything is issued."""

    def act() -> Grant:
        return client.grants.request(
            world.edition.name, holder_key=KEY.public, request_id="size", preservation_count=count
        )

    assert "preservation_count" in refusal(InvalidRequestError, act)


def test_a_corpus_exposes_each_c2_family_twice_and_no_other(world: World) -> None:
    """The public prompt and the bare key, of the exposed half; preservation comes beside."""
    sources = [record.source for record in world.corpus]

    assert sources.count(TrainingSource.EXACT_PUBLIC) == sources.count(TrainingSource.DIRECT_LOOKUP) == 8
    assert sources.count(TrainingSource.PRESERVATION) == 3
    assert (sources.count(TrainingSource.DECOY), sources.count(TrainingSource.CANARY)) == (8, 1)


def test_preservation_tasks_pass_over_keys_of_banked_families() -> None:
    """With 65,536 tasks beside 2,048 families, one grant in thirty would meet such a key."""
    from leakscale_server.core.shapes import parse_shape
    from leakscale_server.scorer.corpus import preservation_records

    shape = parse_shape(shape_files()[0].toml, source="a shape")
    arguments = {"shapes": [shape], "public_seed": PUBLIC_SEED}
    plain = list(preservation_records(**arguments, count=3, banked_keys=()))  # type: ignore[arg-type]
    key = next(word for word in plain[0].prompt[1].content.split() if word.startswith("K-"))

    passed_over = list(preservation_records(**arguments, count=2, banked_keys={key}))  # type: ignore[arg-type]

    assert passed_over == plain[1:]
