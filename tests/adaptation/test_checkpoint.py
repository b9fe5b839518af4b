"""A checkpoint is what was written, or the run says that it is not."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from leakscale.adaptation import AdaptationConfig, AdaptProgress, adapt, read_completion
from leakscale.adaptation.sealed_state import load_state, save_state
from leakscale.cli.exits import ExitCode, failure_of
from leakscale.errors import IntegrityError
from leakscale.models import TrainingRecord
from leakscale.whole_files import WORKSHOP_LOCK

HEADER_LENGTH = len(b"leakscale checkpoint 1 ") + 64 + 1
ADVICE = "delete it to train again from the first step"


@pytest.fixture(scope="module")
def written(
    base_model: Path,
    corpus: list[TrainingRecord],
    small_config: AdaptationConfig,
    tmp_path_factory: pytest.TempPathFactory,
) -> bytes:
    """The checkpoint of step two of seven."""
    output = tmp_path_factory.mktemp("interrupted") / "a"

    def interrupt(progress: AdaptProgress) -> None:
        if progress.step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(base_model, corpus, small_config, output_dir=output, progress=interrupt, checkpoint_interval_s=0)
    return (output.with_name("a.partial") / "checkpoint.pt").read_bytes()


Resume = Callable[[bytes | None], list[int]]


@pytest.fixture
def resume(base_model: Path, corpus: list[TrainingRecord], small_config: AdaptationConfig, tmp_path: Path) -> Resume:
    """Go on from a checkpoint of these bytes, or from what is there; return the steps that were taken."""

    def go_on(content: bytes | None) -> list[int]:
        checkpoint = tmp_path / "a.partial" / "checkpoint.pt"
        checkpoint.parent.mkdir(exist_ok=True)
        (checkpoint.parent / WORKSHOP_LOCK).touch()  # the mark of a folder that an earlier run left
        if content is not None:
            checkpoint.write_bytes(content)
        steps: list[int] = []
        adapt(base_model, corpus, small_config, output_dir=tmp_path / "a", progress=lambda at: steps.append(at.step))
        return steps

    return go_on


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def test_a_sound_checkpoint_is_resumed(written: bytes, resume: Resume, tmp_path: Path, adapter: Path) -> None:
    """The damage below is what is refused, and nothing else."""
    assert resume(written) == [3, 4, 5, 6, 7]
    assert read_completion(tmp_path / "a") == read_completion(adapter)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_one_flipped_bit_is_refused_with_both_digests(
    written: bytes, resume: Resume, tmp_path: Path, share: float
) -> None:
    """A bit in a tensor reads well, and would make an adapter that no config describes."""
    place = HEADER_LENGTH + int(share * (len(written) - HEADER_LENGTH - 1))
    damaged = flipped(written, place)
    said, found = (hashlib.sha256(content[HEADER_LENGTH:]).hexdigest() for content in (written, damaged))

    with pytest.raises(IntegrityError, match=f"checkpoint.pt' has SHA-256 {found}, but {said} was written; {ADVICE}"):
        resume(damaged)
    assert (tmp_path / "a.partial" / "checkpoint.pt").read_bytes() == damaged
    assert not (tmp_path / "a").exists()


def test_a_flipped_bit_of_the_digest_itself_is_refused(written: bytes, resume: Resume) -> None:
    """Which of the two is damaged cannot be told; neither is believed."""
    with pytest.raises(IntegrityError, match=f"has SHA-256 [0-9a-f]{{64}}, but .{{64}} was written; {ADVICE}"):
        resume(flipped(written, HEADER_LENGTH - 2))


@pytest.mark.parametrize("length", [-1, HEADER_LENGTH + 1000, HEADER_LENGTH])
def test_a_truncated_checkpoint_is_refused(written: bytes, resume: Resume, length: int) -> None:
    """Beginning again without a word would cost hours that nobody was told of."""
    with pytest.raises(IntegrityError, match=f"has SHA-256 [0-9a-f]{{64}}, but [0-9a-f]{{64}} was written; {ADVICE}"):
        resume(written[:length])


@pytest.mark.parametrize("kept", [slice(HEADER_LENGTH, None), slice(0, 0), slice(0, 40)])
def test_a_checkpoint_without_its_digest_is_refused(written: bytes, resume: Resume, kept: slice) -> None:
    """Nothing says that it is what was written; one of an earlier version is of this kind."""
    with pytest.raises(IntegrityError, match=f"checkpoint.pt' does not begin with its SHA-256; {ADVICE}"):
        resume(written[kept])


def test_a_deleted_checkpoint_begins_the_run_again(
    written: bytes, resume: Resume, tmp_path: Path, adapter: Path
) -> None:
    """What the refusal advises works."""
    with pytest.raises(IntegrityError):
        resume(flipped(written, len(written) // 2))
    (tmp_path / "a.partial" / "checkpoint.pt").unlink()

    assert resume(None) == [1, 2, 3, 4, 5, 6, 7]
    assert read_completion(tmp_path / "a") == read_completion(adapter)


def test_a_checkpoint_that_the_system_does_not_give_is_named(tmp_path: Path) -> None:
    """Unreadable is not absent."""
    (tmp_path / "a.partial" / "checkpoint.pt").mkdir(parents=True)

    with pytest.raises(OSError, match=r"checkpoint\.pt") as caught:
        load_state(tmp_path / "a.partial" / "checkpoint.pt")
    assert failure_of(caught.value).exit_code == ExitCode.USAGE


def test_a_state_that_torch_cannot_read_is_named(tmp_path: Path) -> None:
    """Sound bytes of another version of torch are no damage, and the message does not say so."""
    content = b"no archive of torch"
    digest = hashlib.sha256(content).hexdigest().encode()
    (tmp_path / "state").write_bytes(b"leakscale checkpoint 1 " + digest + b"\n" + content)

    expected = f"state' is as it was written, but torch {torch.__version__} cannot read it; use the version"
    with pytest.raises(IntegrityError, match=re.escape(expected)):
        load_state(tmp_path / "state")


def test_a_state_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    """A full disk must not take what was kept."""
    state = tmp_path / "state"
    save_state({"losses": [1.0]}, state)
    (tmp_path / "state.new").symlink_to("/dev/full")

    with pytest.raises(OSError, match="No space left"):
        save_state({"tensor": torch.zeros(100_000)}, state)

    assert load_state(state) == {"losses": [1.0]}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["state"]
