"""Answers that are kept: each for its own request, only while it is true, and not without end."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from leakscale.client import Client
from leakscale.errors import IntegrityError
from leakscale_server.services.kept_answers import KeptAnswers
from leakscale_server.store.edition_file import LOOK_AGAIN_S

from .helpers import World

METHOD = "/leakscale.v1.EditionService/GetFamily"


def always() -> bool:
    return True


def test_an_answer_belongs_to_its_method_and_its_request() -> None:
    """Two methods may be asked with the same bytes."""
    kept = KeptAnswers()
    kept.keep(METHOD, b"a", b"answer", holds=always)

    assert kept.find(METHOD, b"a") == b"answer"
    assert kept.find(METHOD, b"b") is None
    assert kept.find("/leakscale.v1.EditionService/ListFamilies", b"a") is None


def test_an_answer_that_no_longer_holds_is_gone() -> None:
    """Given once more it would be wrong, and kept it would take room for ever."""
    kept, truth = KeptAnswers(), [True]
    kept.keep(METHOD, b"a", b"answer", holds=lambda: truth[0])
    truth[0] = False

    assert kept.find(METHOD, b"a") is None
    assert kept.byte_count == 0


def test_there_is_an_end_to_what_is_kept_and_what_is_asked_for_stays() -> None:
    """Whoever asks in a million ways must not fill the memory, nor drive out what others ask for."""
    kept = KeptAnswers(bytes_max=100_000)
    kept.keep(METHOD, b"wanted", b"answer", holds=always)
    most = 0
    for number in range(1000):
        kept.keep(METHOD, b"%d" % number, b"x" * 1000, holds=always)
        assert kept.find(METHOD, b"wanted") == b"answer"
        most = max(most, kept.byte_count)

    assert 90_000 < most <= 100_000
    assert kept.find(METHOD, b"999") is not None
    assert kept.find(METHOD, b"0") is None


def test_the_same_again_takes_its_room_once() -> None:
    """Two callers that ask at the same time both keep what they got."""
    kept = KeptAnswers()
    kept.keep(METHOD, b"a", b"answer", holds=always)
    once = kept.byte_count
    kept.keep(METHOD, b"a", b"answer", holds=always)

    assert kept.byte_count == once


@pytest.mark.parametrize(("request_size", "answer_size"), [(10, 7_000), (7_000, 10)])
def test_an_answer_that_would_drive_out_the_others_is_not_kept(request_size: int, answer_size: int) -> None:
    """A request may be as long as its sender likes."""
    kept = KeptAnswers(bytes_max=100_000)
    kept.keep(METHOD, b"x" * request_size, b"x" * answer_size, holds=always)

    assert kept.byte_count == 0


def test_a_family_whose_file_is_gone_is_not_given_from_memory(data_dir: Path, client: Client, world: World) -> None:
    """Whoever looks after the server hears of it with the next call, a tenth of a second later."""
    name = f"{world.edition.name}/families/{world.families[0].family_id}"
    before = [client.editions.family(name) for _ in range(3)]
    file = data_dir / "editions" / "world.sqlite"
    aside = file.with_suffix(".aside")
    file.rename(aside)
    time.sleep(LOOK_AGAIN_S)
    try:
        with pytest.raises(IntegrityError, match="missing or not the one that was frozen"):
            client.editions.family(name)
    finally:
        aside.rename(file)

    assert [client.editions.family(name), *before] == [world.families[0]] * 4
