"""The whole product, as the command that people type first."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from leakscale.resources import catalog_folder
from leakscale.results import disclosure_from_json
from leakscale.study.config import StudyShapes, load_study

from .helpers import demo, demo_here, write_study

STAGES = ["certify", "freeze", "expose", "adapt", "answer", "disclose"]


def read(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "summary.json").read_text())
    return found


@pytest.mark.docker
@pytest.mark.slow
def test_the_shipped_demo_shows_its_effect_twice_alike(tmp_path: Path) -> None:
    """The product's one statement, on real programs in real containers; and the same statement again."""
    runs = [demo("--out", str(tmp_path / "run"), backend="docker") for _ in range(2)]

    assert [run.returncode for run in runs] == [0, 0], runs[-1].stderr
    summary, earlier = read(tmp_path / "run"), read(tmp_path / "run-1")
    assert summary["backend"] == "docker"
    assert summary["assurance_level"] == "L0"
    assert summary["counts"] == earlier["counts"]
    assert (summary["counts"]["families"], summary["counts"]["certified"], summary["counts"]["shapes"]) == (128, 128, 8)
    assert summary["counts"]["answers"] == summary["counts"]["valid_answers"] == 128 * 32 * 2
    assert summary["effect"]["value"] >= 0.2
    assert summary["effect"]["low"] > 0
    assert summary["accuracies"]["c2_adapted"] - summary["accuracies"]["c2_base"] >= 0.2
    assert summary["c0_drift"]["low"] <= 0 <= summary["c0_drift"]["high"]
    assert list(summary["seconds"]) == STAGES
    assert summary["identity"] == earlier["identity"]
    assert summary["effect"] == earlier["effect"]
    assert "repeat " not in runs[0].stdout
    line = f"repeat   certificates, answers, totals and interval are identical to {tmp_path}/run-1/"
    assert line in runs[1].stdout.splitlines()
    assert "Exposure moved this model's accuracy by +" in runs[1].stdout


def test_a_finished_study_has_every_file(finished: Path) -> None:
    """With these anybody can check it."""
    names = {path.relative_to(finished).as_posix() for path in finished.rglob("*") if path.is_file()}

    assert names >= {
        "study.json", "stages.json", "summary.json", "certificates.jsonl", "provenance.json", "report.html",
        "analysis/disclosure.json", "server/registry.db", "training/adapter/completion.json",
        "banks/sql-base.plan.jsonl", "banks/sql-base.attempts.jsonl", "banks/sql-base.results.jsonl",
        "banks/sql-base.binding.json", "banks/sql-base.receipt.json", "banks/python-adapted.results.jsonl",
        "training/adapter/losses.jsonl", "shapes/sql/threshold.toml", "evidence/manifest.json",
    }  # fmt: skip
    assert not [name for name in names if name.endswith(".partial")]


def test_a_summary_says_what_a_program_needs(summary: dict[str, Any]) -> None:
    """Numbers as shares, counts as integers, nothing missing and nothing not a number."""
    assert set(summary) == {
        "format", "study", "seed", "finding", "assurance_level", "edition_kind", "backend", "model", "accuracies",
        "effect", "c0_drift", "c2_change", "confidence", "domains", "counts", "unconstrained_valid_mass", "identity",
        "seconds", "totals", "transfers", "mode", "finished_at",
    }  # fmt: skip
    assert set(summary["accuracies"]) == {"c0_base", "c0_adapted", "c2_base", "c2_adapted"}
    assert set(summary["domains"]) == {"python", "sql"}
    assert set(summary["identity"]) == {
        "certificates",
        "commitment_root",
        "adapter",
        "answers",
        "numbers",
        "disclosure",
    }
    assert sum(total["draw_count"] for total in summary["totals"]) == summary["counts"]["answers"]
    assert summary["counts"]["valid_answers"] == summary["counts"]["answers"] == 16 * 4 * 2
    assert all(0 <= share <= 1 for share in summary["accuracies"].values())


def test_the_report_says_what_was_verified_and_how_to_see_more(finished: Path) -> None:
    """It is written last: whoever opens it sees the evidence that lies beside it."""
    page = (finished / "report.html").read_text(encoding="utf-8")

    assert "<b>9 of 9</b><span>steps of the evidence hold</span>" in page
    for name in ("effects", "families", "shapes-sql", "shapes-python", "strata"):
        assert "<svg" in page.partition(f'id="figure-{name}"')[2].partition("</figure>")[0], name
    assert "<code>leakscale study open</code> keeps it" in page


def test_certificates_are_one_a_line_in_the_order_of_families(finished: Path) -> None:
    """The file can be compared with another run's by any tool."""
    lines = [json.loads(line) for line in (finished / "certificates.jsonl").read_text().splitlines()]

    assert len(lines) == 16
    assert [line["family"] for line in lines] == sorted(line["family"] for line in lines)


def test_the_disclosure_is_the_signed_one(finished: Path) -> None:
    """What the report prints is what the server signed."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from leakscale.statements import signed_bytes

    disclosure = disclosure_from_json((finished / "analysis" / "disclosure.json").read_text())

    Ed25519PublicKey.from_public_bytes(disclosure.public_key).verify(
        disclosure.signature, signed_bytes(disclosure.payload)
    )


def test_no_truth_of_the_control_lies_outside_the_server(finished: Path) -> None:
    """The corpus stays in memory: a study directory is copied around."""
    for path in finished.rglob("*"):
        if path.is_file() and "server" not in path.relative_to(finished).parts:
            content = path.read_bytes()
            assert b'"truth"' not in content, path
            assert b"/direct-lookup" not in content, path  # the id of a record; a ledger counts them by source


def test_json_output_is_the_summary(finished: Path) -> None:
    """A script reads the numbers from stdout; everything else goes to stderr."""
    assert json.loads((finished.parent / "stdout").read_text()) == read(finished)


@pytest.mark.parametrize(
    ("change", "words", "code"),
    [
        (("sql/threshold.toml", "sql/missing.toml"), "'sql/missing.toml' does not exist; the catalog has", 2),
        (("repeat_count = 2", "repeat = 2"), "model.adaptation has no field 'repeat'", 2),
        (('source = "tiny"', 'source = "/nonexistent/model"'), "/nonexistent/model", 2),
        (('"python/prefix.toml"', '"sql/threshold.toml"'), "is in the edition already", 2),
    ],
)
def test_a_study_that_cannot_be_carried_out_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], words: str, code: int
) -> None:
    """One line on stderr, the exit code of a usage error, and no numbers."""
    study = write_study(tmp_path / "study.toml", change)

    found = demo_here("--study", str(study), "--out", str(tmp_path / "run"))

    error = capsys.readouterr().err
    assert found == code, error
    assert words in error.splitlines()[-1]
    assert "Traceback" not in error
    assert not (tmp_path / "run" / "summary.json").exists()


def test_a_mistyped_model_leaves_the_finished_run_where_it_is(
    finished: Path, small_study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would be moved aside for a run that cannot begin, and an unfinished one would block the next."""
    before = sorted(finished.parent.iterdir())

    found = demo_here("--study", str(small_study), "--model", "/nonexistent/model", "--out", str(finished))

    assert found == 2
    assert "'/nonexistent/model' does not exist" in capsys.readouterr().err.splitlines()[-1]
    assert sorted(finished.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("repeat_count = 2", "repeat_count = 0"), "adaptation setting repeat_count is below 1 (got 0)"),
        (("repeat_count = 2", "lora_rank = 2.5"), "adaptation setting lora_rank is no whole number (got 2.5)"),
        (("repeat_count = 2", 'device = "tpu"'), "device is not one of auto, cpu, cuda (got 'tpu')"),
        (
            ('source = "tiny"', 'source = "tiny"\nbackground = "own.toml"'),
            "chats.jsonl', line 2: turn 2, the assistant's",
        ),
        (('source = "tiny"', 'source = "tiny"\nengine = "exakt"'), "engine 'exakt' is not one of"),
    ],
)
def test_what_only_the_training_would_stumble_over_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], words: str
) -> None:
    """Found hours later, after certification, it could not even be mended: a directory belongs to one study."""
    line = '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}'
    empty = line.replace('"b"', '""')
    content = f"{line}\n{empty}\n".encode()
    digest = hashlib.sha256(content).hexdigest()
    (tmp_path / "chats.jsonl").write_bytes(content)
    (tmp_path / "own.toml").write_text(
        f'format = 1\nseed = 1\n[[source]]\nkind = "jsonl"\npath = "chats.jsonl"\nsha256 = "{digest}"\ncount = 2\n'
    )
    study = write_study(tmp_path / "study.toml", change)

    found = demo_here("--study", str(study), "--out", str(tmp_path / "run"))

    assert found == 2
    assert words in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "run").exists()


def test_shapes_may_lie_beside_the_study_file(tmp_path: Path) -> None:
    """An author's own shape is found where the author put it."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.toml").write_text("format = 1\n")
    study = load_study(write_study(tmp_path / "study.toml", ("sql/threshold.toml", "own/mine.toml")))

    shapes = StudyShapes(catalog_folder(), beside=tmp_path).read(study)

    assert shapes[0].toml == "format = 1\n"
    assert shapes[1].source == "python/prefix.toml"


def test_background_of_a_recipe_is_trained_on(tmp_path: Path, summary: dict[str, Any]) -> None:
    """A study says what unrelated supervision its model had; the records are the recipe's beside the grant's."""
    (tmp_path / "own.toml").write_text('format = 1\nseed = 1\n[[source]]\nkind = "arithmetic"\ncount = 5\n')
    change = ('source = "tiny"', 'source = "tiny"\nbackground = "own.toml"')

    found = demo_here("--study", str(write_study(tmp_path / "s.toml", change)), "--out", str(tmp_path / "run"))

    assert found == 0
    assert read(tmp_path / "run")["counts"]["training_records"] == summary["counts"]["training_records"] + 5


def test_a_model_without_a_chat_template_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A prompt of our own making would measure something else."""
    import shutil

    from leakscale.base_model import base_model_folder

    model = tmp_path / "model"
    shutil.copytree(base_model_folder(), model)
    (model / "chat_template.jinja").unlink(missing_ok=True)
    settings = json.loads((model / "tokenizer_config.json").read_text())
    settings.pop("chat_template", None)
    (model / "tokenizer_config.json").write_text(json.dumps(settings))
    study = write_study(tmp_path / "study.toml")

    found = demo_here("--study", str(study), "--model", str(model), "--out", str(tmp_path / "run"))

    assert found == 2
    assert "chat template" in capsys.readouterr().err.splitlines()[-1]


def test_the_seed_of_the_command_line_is_the_seed_of_the_run(tmp_path: Path, finished: Path) -> None:
    """`--seed` makes another study, not another run of the same one."""
    study = load_study(write_study(tmp_path / "study.toml"))

    assert study.with_overrides(seed=8).fingerprint() != study.fingerprint()
    recorded = json.loads((finished / "study.json").read_text())["study"]
    assert list(recorded.pop("shapes")) == ["sql/threshold.toml", "python/prefix.toml"]
    assert recorded == study.fingerprint()


def test_a_rejected_family_stops_a_study_and_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A study with a hole has no defined numbers; the author reads which family and why."""
    from leakscale.resources import catalog_folder

    text = (catalog_folder() / "python" / "prefix.toml").read_text().replace("{{policy}}", "({{policy}} and None)")
    shape = tmp_path / "equal.toml"
    shape.write_text(text)
    study = write_study(tmp_path / "study.toml", ('"python/prefix.toml"', f'"{shape}"'))

    found = demo_here("--study", str(study), "--out", str(tmp_path / "run"))

    last = capsys.readouterr().err.splitlines()[-1]
    assert found == 4, last
    assert "families break the acceptance rule, first" in last
    assert "PROGRAM_FAILED, no candidate's program returns: TypeError" in last
