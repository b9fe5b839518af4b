"""The report: one HTML file that needs no network, no script and no other file."""

from __future__ import annotations

import hashlib
from pathlib import Path

from leakscale.errors import InvalidRequestError
from leakscale.models import ModelState
from leakscale.report.forest import forest
from leakscale.report.provenance import StudyProvenance
from leakscale.report.trajectory import trajectory
from leakscale.report.transfer import transfer_rows
from leakscale.report.view import blocks, domain_name
from leakscale.report.words import ASSURANCE, drift_note, finding, interval, percent, points, scope, verdict
from leakscale.results import CellTotal, Disclosure, Estimate

__all__ = ["render_report", "write_report"]


def write_report(path: Path, *, disclosure: Disclosure, provenance: StudyProvenance) -> Path:
    """Write the report of one study, replacing an older one only when the new one is complete.

    Raises:
        InvalidRequestError: If the extra `report` is not installed, or the disclosure holds no effect.

    Returns:
        The path.
    """
    page = render_report(disclosure=disclosure, provenance=provenance)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(page, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def render_report(*, disclosure: Disclosure, provenance: StudyProvenance) -> str:
    """Return the report as text. The same inputs give the same bytes.

    Raises:
        InvalidRequestError: If the extra `report` is not installed, or the disclosure holds no effect.
    """
    try:
        import jinja2  # noqa: PLC0415 - an extra: the summary table must work without it
    except ModuleNotFoundError as error:
        raise InvalidRequestError("the report needs jinja2; run `pip install 'leakscale[report]'`") from error
    if not disclosure.effects or not disclosure.totals:
        raise InvalidRequestError(f"disclosure of experiment '{disclosure.experiment_id}' holds no effect to report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("leakscale.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "points": _points,
        "interval": _interval,
        "percent": percent,
        "title_case": _heading,
        "setting": _setting,
    }
    shown = blocks(disclosure)
    return environment.get_template("report.html.j2").render(
        disclosure=disclosure,
        provenance=provenance,
        blocks=shown,
        level=f"{100 * disclosure.confidence:g}",
        finding=_typographic(finding(disclosure)),
        verdict=verdict(disclosure),
        drift_note=drift_note(disclosure),
        assurance=ASSURANCE.get(
            disclosure.assurance_level, "The server named a level that this version does not know."
        ),
        scope=scope(disclosure),
        trajectories=[trajectory(block, name=f"trajectory-{index}") for index, block in enumerate(shown)],
        forest=forest(shown, name="forest"),
        transfers=transfer_rows(disclosure),
        banks=_banks(disclosure),
        seeds={**provenance.seeds, "bootstrap": disclosure.bootstrap_seed},
        payload_digest=hashlib.sha256(disclosure.payload).hexdigest(),
        family_count=sum(total.family_count for total in disclosure.totals if total.state is ModelState.BASE),
        draw_count=sum(total.draw_count for _, total in _all_totals(disclosure)),
        total_seconds=sum(provenance.stage_seconds.values()),
    )


def _banks(disclosure: Disclosure) -> list[dict[str, str | int]]:
    return [
        {
            "name": f"{domain_name(total.domain)} · {total.condition} · {total.state}{ring}",
            "planned": total.draw_count,
            "valid": total.valid_count,
            "failed": total.draw_count - total.valid_count,
        }
        for ring, total in _all_totals(disclosure)
    ]


def _all_totals(disclosure: Disclosure) -> list[tuple[str, CellTotal]]:
    """Return every cell with the suffix that names its ring, which R0 has none of."""
    others = [(f" · {each.ring}", total) for each in disclosure.transfers for total in each.totals]
    return [("", total) for total in disclosure.totals] + others


def _typographic(words: str) -> str:
    """Put a true minus sign in front of negative numbers, and keep the percent sign with its number."""
    return words.replace(" -", " −").replace("(-", "(−").replace(" %", "\u00a0%")


def _points(value: float, digits: int = 1) -> str:
    return points(value, digits=digits).replace("-", "−")


def _interval(estimate: Estimate, digits: int = 1) -> str:
    return interval(estimate, digits=digits).replace("-", "−")


def _heading(name: str) -> str:
    """Write a key such as `lora_rank` as words."""
    return name.replace("_", " ")


def _setting(value: str | float) -> str:
    """Write a setting; six digits of a measured one are enough to recognize it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
