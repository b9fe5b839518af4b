"""Drafts of editions: one for an id, refused by the rule that they break, and listed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from leakscale.client import Client
from leakscale.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    NotFrozenError,
)
from leakscale.models import (
    EditionKind,
    ShapeFile,
)

from .helpers import (
    KEY,
    World,
    a_draft,
    a_plan,
    refusal,
    shape_files,
)

BAD_IDS = ["", "Demo", "dëmo", "a/b", "..", "-a", "a-", "a" * 64, "a\n", "a b", "demo\x00", "😀"]


def test_the_same_draft_again_is_the_same_draft(client: Client, world: World) -> None:
    """A client that lost the answer may ask again."""
    assert a_draft(client, "world") == world.edition


def test_names_of_shape_files_do_not_make_another_draft(client: Client, world: World) -> None:
    """They are for messages; a path typed from another folder is the same file."""
    moved = [dataclasses.replace(shape, source=f"elsewhere/{shape.source}") for shape in shape_files()]

    assert a_draft(client, "world", shapes=moved) == world.edition


@pytest.mark.parametrize(
    "change",
    [
        {"public_seed": b"q" * 32},
        {"practice_private_seed": b"t" * 32},
        {"families_per_cell": 8},
        {"shapes": shape_files("sql/threshold.toml")},
        {"kind": EditionKind.PRIVATE, "practice_private_seed": b""},
    ],
)
def test_an_id_stands_for_one_draft(client: Client, world: World, change: dict[str, object]) -> None:
    """Certificates name an edition by its id; it must never mean something else."""
    message = refusal(ConflictError, lambda: a_draft(client, "world", **change))

    assert "'world'" in message
    assert "choose another id" in message


@pytest.mark.parametrize("bad", BAD_IDS)
def test_ids_that_could_mean_two_things_are_refused(client: Client, bad: str) -> None:
    """Ids become resource names and a file name."""
    assert "is not a valid id" in refusal(InvalidRequestError, lambda: a_draft(client, bad))


@pytest.mark.parametrize(
    "bad", ["world", "editions", "editions/", "editions/../world", "editions/World", "editions/😀"]
)
def test_names_of_another_form_are_refused_with_the_form(client: Client, bad: str) -> None:
    """A name that is nearly right must not fall through to another resource."""
    assert "editions/{edition}" in refusal(InvalidRequestError, lambda: client.editions.get(bad))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"families_per_cell": 5}, "families_per_cell"),
        ({"public_seed": b"short"}, "public_seed"),
        ({"public_seed": b"x" * 65}, "public_seed"),
        ({"practice_private_seed": b""}, "practice_private_seed"),
        ({"practice_private_seed": b"x" * 31}, "practice_private_seed"),
        ({"kind": EditionKind.PRIVATE}, "practice_private_seed"),
        ({"shapes": []}, "shapes"),
        ({"shapes": shape_files() * 2}, "is in the edition already"),
        ({"shapes": [ShapeFile("big.toml", "#" * 300_000)]}, "big.toml"),
        ({"shapes": [ShapeFile("broken.toml", "id = [\n")]}, "broken.toml:"),
        ({"shapes": [ShapeFile("x" * 100_000, "id = [\n")]}, "xxx"),
    ],
)
def test_a_draft_that_breaks_a_rule_is_refused_by_name(client: Client, change: dict[str, object], field: str) -> None:
    """The author reads which field, and nothing of the draft is kept."""
    assert field in refusal(InvalidRequestError, lambda: a_draft(client, "refused", **change))
    assert "does not exist" in refusal(NotFoundError, lambda: client.editions.get("editions/refused"))


def test_two_families_with_one_key_are_refused_at_the_start(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in two thousand full editions: its author hears of it before anything is certified."""
    from leakscale_server.core.building import families

    original = families._build_part

    def shared_key(*arguments: object) -> object:
        part = original(*arguments)  # type: ignore[arg-type]
        first, second, third = (dataclasses.replace(family, key="K-00000000") for family in part.families)
        return dataclasses.replace(part, families=(first, second, third))

    monkeypatch.setattr(families, "_build_part", shared_key)

    message = refusal(InvalidRequestError, lambda: a_draft(client, "collision"))
    assert "choose another public seed" in message
    assert "does not exist" in refusal(NotFoundError, lambda: client.editions.get("editions/collision"))


def test_editions_are_listed_newest_first(client: Client, world: World) -> None:
    """Whoever just made one finds it at the top."""
    a_draft(client, "newest")

    names = [edition.name for edition in client.editions.list()]
    assert names[0] == "editions/newest"
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("verb", ["families", "grant", "experiment"])
def test_a_draft_gives_nothing_away(client: Client, verb: str) -> None:
    """What could still change is neither listed nor exposed nor compared."""
    draft = a_draft(client, "draft")
    acts: dict[str, Callable[[], object]] = {
        "families": lambda: client.editions.families(draft.name),
        "grant": lambda: client.grants.request(draft.name, holder_key=KEY.public, request_id="r"),
        "experiment": lambda: client.experiments.create(a_plan(draft, "early")),
    }

    message = refusal(NotFrozenError, acts[verb])

    assert "is a draft with 0 of 16 families" in message
    assert "certify the others, then run `leakscale edition freeze draft`" in message
