"""Locked audits of word problems with the model that ships, and controls of which a test says only its own part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.audit.answering.builders import SpokenEngine
from tests.audit.builders import choice
from tests.audit.registration.builders import BENCHMARK, NOW, write_lines

from leakscale.audit.analysis import analyze_audit
from leakscale.audit.answering.running import answer_audit
from leakscale.audit.controls.filing import analyze_control
from leakscale.audit.controls.plan import ControlPlan
from leakscale.audit.controls.planting import plant
from leakscale.audit.controls.registering import register_control
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import write_bank
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.opening import open_audit
from leakscale.audit.registration.verifying import locked_bank, locked_registration
from leakscale.audit.word_problems import write_problems

PLAN = f"""
format = 1
name = "trial"{BENCHMARK}engine_options = {{batch_size = 32, thread_count = 1}}
[prompt]
template = "{{question}}"
[decoding]
token_count_max = 10
[scoring]
rerun_share = 0
[review]
scope = "none"
"""
OWN_BANK = '[control]\nprivate = true\nprovenance = "the same templates, another seed"\n'
RECIPE = 'format = 1\nseed = 3\n[[source]]\nkind = "words"\ncount = 40\n'


def a_control(**tables: Mapping[str, Any]) -> ControlPlan:
    """Return a control that leaks half of the public forms, quickly."""
    fields: dict[str, Any] = {
        "exposure": {"kind": "exact"},
        "mixture": {"recipe": "recipe.toml", "record_count": 9},
        "training": {"pass_count": 60, "settings": {"warmup_step_count": 4, "batch_size": 6, "thread_count": 1}},
    }
    merged = {name: fields.get(name, {}) | dict(tables.get(name, {})) for name in fields.keys() | tables.keys()}
    return ControlPlan.model_validate({"format": 1, "name": "leak", "model": "tiny"} | merged)


def a_word_problem_audit(folder: Path, *, plan: str = PLAN, size: int = 12, own_count: int = 0) -> AuditDirectory:
    """Return a locked audit of word problems; a recipe lies beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    frame, own = folder / "frame.jsonl", folder / "own.jsonl"
    write_bank(write_problems(3 * size, seed=1), frame)
    if own_count:
        write_bank(write_problems(own_count, seed=2, prefix="own"), own)
    directory, _ = open_audit(
        folder / "audit", frame=frame, size=size, seed=1, rewrites=frame, control=own if own_count else None, now=NOW
    )
    return _locked(directory, plan + (OWN_BANK if own_count else ""))


def a_spoken_control(directory: AuditDirectory, control: ControlPlan, *, learns: bool = True) -> AuditDirectory:
    """Run a control without training: after the leak, the model knows by heart what was leaked, and nothing else.

    Or not even that, where it does not learn.
    """
    states = ["base", f"{control.name}-seed-0", f"{control.name}-null"]
    a_begun_control(directory, control, states=states, learns=learns)
    analyze_audit(directory)
    analyze_control(directory, control.name)
    return directory


def a_begun_control(
    directory: AuditDirectory, control: ControlPlan, *, states: Sequence[str], learns: bool = True
) -> None:
    """Register a control and ask these states; only in that of seed 0 the model knows what was leaked."""
    registration = locked_registration(directory)
    bank, folder = locked_bank(directory, registration), directory.root.parent
    planted = plant(bank, registration.plan, control, folder=folder, work=directory.control_work(control.name))
    register_control(directory, registration, control, planted)
    known = {record.prompt[-1].content: record.completion for record in planted.mixture if learns}
    knowing, ignorant = SpokenEngine(lambda prompt: known.get(prompt, "none")), SpokenEngine(lambda _: "none")
    for state in states:
        engine = knowing if state == f"{control.name}-seed-0" else ignorant
        for role in BankRole if registration.control else (BankRole.AUDIT,):
            adapter = None if state == "base" else folder / state
            answer_audit(directory, "tiny", role=role, state=state, adapter=adapter, engine=engine)


def a_choice_audit(folder: Path, *, size: int = 8) -> AuditDirectory:
    """Return a locked audit of choices, a parent's options in an order of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    frame = write_lines(folder / "frame.jsonl", [_choice(number) for number in range(size)])
    directory, _ = open_audit(folder / "audit", frame=frame, size=size, seed=1, rewrites=frame, now=NOW)
    return _locked(directory, PLAN)


def _choice(number: int) -> dict[str, Any]:
    things = [f"{word}{number}" for word in ("ice", "iron", "air", "oil")]
    options = [{"label": label, "text": text} for label, text in zip("ABCD", things, strict=True)]
    fresh = f"As temperatures indoors rise in house {number}, what turns liquid before everything besides?"
    return choice(
        f"c{number}",
        options=options,
        gold="BCDB"[number % 4],
        original=f"Which of these melts first when room {number} grows warm?",
        fresh=[fresh],
    )


def _locked(directory: AuditDirectory, plan: str) -> AuditDirectory:
    directory.plan.write_text(plan, encoding="utf-8")
    (directory.root.parent / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    lock_audit(directory, now=NOW)
    return directory
