"""What has to hold before an audit may be locked.

The bank is the draw, every form passes the checks, the gates can see, the registered analysis can run.
Each function raises on the first thing that does not hold, and names subject, rule, value and next step.
"""

from __future__ import annotations

from typing import Final

from leakscale.audit.checks import Finding, Severity, check_bank
from leakscale.audit.checks.characters import letters_of
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import FormBank, Parent, read_bank
from leakscale.audit.registration.fields import STRATIFIED_BOUND
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import DrawRecord, GateResolution
from leakscale.audit.registration.opening import draw_again
from leakscale.audit.registration.origin import require_golds
from leakscale.audit.registration.plan import AuditPlan
from leakscale.errors import AlreadyDoneError, InvalidRequestError, PreconditionError
from leakscale.form_engines import require_engine_options
from leakscale.stats import claim_rule, register_gate
from leakscale.stats.errors import StatisticsError, UnderpoweredGateError
from leakscale.stats.gaps import Gaps

__all__ = [
    "read_control",
    "rehearse",
    "require_checks",
    "require_clean_prompt",
    "require_draw",
    "require_drawn",
    "require_engines",
    "require_unlocked",
    "resolve_gates",
]


_LETTERS_MIN: Final = 20
"""A form of fewer letters and digits stands in any text by chance."""


def require_unlocked(directory: AuditDirectory) -> None:
    """Refuse an audit that is locked, or of which something was answered before.

    Raises:
        AlreadyDoneError: If it is locked.
        PreconditionError: If there are answers or scores, or it was fetched from a server.
    """
    require_golds(directory, "a lock")
    entry = AuditLedger(directory).latest(EntryKind.LOCK)
    if entry is not None:
        raise AlreadyDoneError(
            f"audit '{directory.root}' was locked at {entry.at}; log a change with `leakscale audit amend`"
        )
    if asked := directory.asked():
        raise PreconditionError(
            f"audit '{directory.root}': '{asked[0].relative_to(directory.root)}' was answered before the lock; remove "
            "it, lock, and answer or import again"
        )


def require_draw(directory: AuditDirectory, record: DrawRecord, bank: FormBank) -> None:
    """Hold the bank to the draw: these parents, in this order, with these originals and golds.

    Raises:
        InvalidRequestError: If a parent is missing, added, moved or changed.
        IntegrityError: If the frame was changed.
    """
    require_drawn(draw_again(directory, record), record, bank)


def require_drawn(drawn: FormBank, record: DrawRecord, bank: FormBank) -> None:
    """Hold a bank to what was drawn.

    Args:
        drawn: As `draw_again` returns it; without golds, where the bank has none.
        record: How it was drawn.
        bank: What is to be locked, or was.

    Raises:
        InvalidRequestError: If a parent is missing, added, moved or changed.
    """
    for row, (wanted, found) in enumerate(zip(drawn.parents, bank.parents, strict=False), start=1):
        if wanted.parent_id != found.parent_id:
            raise InvalidRequestError(
                f"bank, row {row}: parent '{found.parent_id}' stands where '{wanted.parent_id}' was drawn; keep the "
                "drawn parents in their order"
            )
        if (field := _changed_field(wanted, found)) is not None:
            raise InvalidRequestError(
                f"parent '{found.parent_id}': original: {field} is not the frame's; rewrites may differ, the original "
                "and its answer may not"
            )
    if bank.fresh_count != record.fresh_count:
        raise InvalidRequestError(
            f"bank has {bank.fresh_count} fresh forms a parent, the audit was opened for {record.fresh_count}; "
            "keep to it"
        )
    if len(bank.parents) != len(drawn.parents):
        raise InvalidRequestError(
            f"bank has {len(bank.parents)} parents, {len(drawn.parents)} were drawn; keep exactly those"
        )


def require_checks(bank: FormBank, plan: AuditPlan, *, role: BankRole) -> list[Finding]:
    """Run the mechanical checks; return what somebody has to read.

    Raises:
        PreconditionError: If a form fails one.
    """
    findings = check_bank(bank, plan.checks.settings())
    failures = [finding for finding in findings if finding.severity is Severity.FAILURE]
    if failures:
        others = f" ({len(failures) - 1} more)" if len(failures) > 1 else ""
        raise PreconditionError(f"{role} bank: {failures[0]}{others}; see `leakscale audit check`")
    return findings


def read_control(directory: AuditDirectory, plan: AuditPlan) -> FormBank | None:
    """Read the control bank, and hold it apart from the benchmark.

    Raises:
        InvalidRequestError: If plan and file contradict each other, or an item of it is in the benchmark.
    """
    path = directory.bank(BankRole.CONTROL)
    if plan.control is None:
        if path.exists():
            raise InvalidRequestError(f"control bank '{path}' is there, and the plan has no table [control]; add it")
        return None
    absent = f"control bank '{path}' does not exist; write it there, or take the table [control] out of the plan"
    control, frame = read_bank(path, absent=absent), read_bank(directory.frame)
    originals = {letters_of(parent.original.text): parent.parent_id for parent in frame.parents}
    ids = {parent.parent_id for parent in frame.parents}
    known: dict[tuple[object, ...], str] = {}
    for parent in control.parents:
        letters = letters_of(parent.original.text)
        public = parent.parent_id if parent.parent_id in ids else originals.get(letters)
        if public is not None:
            raise InvalidRequestError(
                f"control bank: parent '{parent.parent_id}' is parent '{public}' of the benchmark; a control item was "
                "never public"
            )
        twin = known.setdefault((letters, parent.original.options), parent.parent_id)
        if twin != parent.parent_id:
            raise InvalidRequestError(
                f"control bank: parent '{parent.parent_id}' is parent '{twin}' again, letter for letter; an item "
                "counts once"
            )
    return control


def require_engines(plan: AuditPlan) -> None:
    """Refuse a plan whose engines could not be opened, once its questions can no longer be changed.

    Raises:
        InvalidRequestError: If an engine does not know an option, or may not take its value.
    """
    for model in plan.models:
        if not model.is_asked_already:
            try:
                require_engine_options(model.engine, model.engine_options)
            except InvalidRequestError as error:
                raise InvalidRequestError(f"model '{model.id}', engine '{model.engine}': {error}") from error


def require_clean_prompt(plan: AuditPlan, *banks: FormBank | None) -> None:
    """Refuse a prompt that shows a form of a bank: it would be answered by its own example.

    Raises:
        InvalidRequestError: If one does; the message names example and form.
    """
    shown = {"prompt.system": plan.prompt.system} | {
        f"prompt.few_shot, example {number}": example for number, example in enumerate(plan.prompt.few_shot, start=1)
    }
    letters = {place: letters_of(text) for place, text in shown.items() if text}
    for bank in filter(None, banks):
        for parent in bank.parents:
            for name, form in parent.forms():
                wanted = letters_of(form.text)
                place = next((place for place, text in letters.items() if wanted in text), None)
                if place is not None and len(wanted) >= _LETTERS_MIN:
                    raise InvalidRequestError(
                        f"plan '{plan.name}': {place} holds form '{name}'; take another item as an example"
                    )


def resolve_gates(plan: AuditPlan, bank: FormBank, control: FormBank | None) -> tuple[GateResolution, ...]:
    """Return how finely each gate can see.

    Raises:
        InvalidRequestError: If a gate is to be measured on more parents than its bank has.
        UnderpoweredGateError: If a gate's half-width exceeds its tolerance; it would fire on noise.
    """
    banks = {BankRole.AUDIT: bank, BankRole.CONTROL: control}
    gates = []
    for gate in plan.gates:
        held = banks[gate.bank]
        available = len(held.parents) if held else 0
        if gate.parents > available:
            raise InvalidRequestError(
                f"gate '{gate.id}': needs {gate.parents} parents, the {gate.bank} bank has {available}; write more"
            )
        try:
            half_width = register_gate(
                gate.parents, gate.standard_deviation, tolerance=gate.tolerance, alpha=gate.alpha
            )
        except UnderpoweredGateError as error:
            raise UnderpoweredGateError(f"gate '{gate.id}': {error}") from error
        gates.append(GateResolution(gate.id, half_width, gate.tolerance))
    return tuple(gates)


def rehearse(plan: AuditPlan, record: DrawRecord, bank: FormBank, *, control_count: int) -> None:
    """Run the registered claim rule on invented gaps, so that no audit is locked whose analysis cannot run.

    Raises:
        InvalidRequestError: If it cannot, e.g. because the bound has no stratified form.
    """
    if record.strata and plan.inference.bound != STRATIFIED_BOUND:
        raise InvalidRequestError(
            f"plan '{plan.name}': inference.bound '{plan.inference.bound}' has no stratified form, and the sample is "
            f'stratified; set bound = "{STRATIFIED_BOUND}"'
        )
    strata = tuple(parent.stratum for parent in bank.parents) if record.strata else None
    gaps = Gaps.of([(-1, 0, 0, 1)[index % 4] for index in range(len(bank.parents))], strata=strata)
    controls = Gaps.of([(1, 0, -1, 0)[index % 4] for index in range(max(2, control_count))])
    settings = plan.inference
    try:
        claim_rule(
            gaps,
            record.design(),
            controls,
            rho=settings.rho,
            alpha=settings.alpha,
            component=settings.component,
            combine=settings.combine,
            control=settings.control,
            bound=settings.bound,
        )
    except StatisticsError as error:
        raise InvalidRequestError(f"plan '{plan.name}': the registered analysis cannot run: {error}") from error


def _changed_field(wanted: Parent, found: Parent) -> str | None:
    differing = {
        "the text": wanted.original.text != found.original.text,
        f"the gold answer {found.original.gold!r}": wanted.original.gold != found.original.gold,
        "an option": wanted.original.options != found.original.options,
        f"the criterion '{found.criterion}'": wanted.criterion != found.criterion,
        f"the stratum '{found.stratum}'": wanted.stratum != found.stratum,
    }
    return next((name for name, differs in differing.items() if differs), None)
