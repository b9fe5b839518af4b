"""An analysis to avoid, with the placebo that shows why.

Looking at fresh forms of just those parents that newly became right on the public form seems to sharpen a transfer
estimate. But a parent that improved on one form is likely to have improved on the others, leak or no leak: in the
paper the exposed parents showed +.400, and the untouched ones, which nothing was planted in, +.250.

Source: CleanScore 7.11; METHODS 9.12. Use `transfer_share`, which conditions on assignment and not on outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from leakscale.stats.errors import NoInformationError
from leakscale.stats.exposure.did import DidResult
from leakscale.stats.exposure.joint import joint_changes

__all__ = ["SelectedGain", "selected_gain"]


@dataclass(frozen=True, slots=True)
class SelectedGain:
    """The fresh-form gain of parents selected by their public-form gain, beside its placebo."""

    exposed: Fraction
    """Mean fresh-form change of the exposed parents that gained on the public form, in [-1, 1]."""
    exposed_count: int
    placebo: Fraction
    """The same of the untouched parents: what selection alone makes up."""
    placebo_count: int
    method: str = "conditional on improvement (biased by selection; for comparison with its placebo only)"

    @property
    def beyond_selection(self) -> Fraction:
        """The exposed gain less the placebo; its sign is not protected from selection either."""
        return self.exposed - self.placebo

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "exposed": float(self.exposed),
            "exposed_count": self.exposed_count,
            "placebo": float(self.placebo),
            "placebo_count": self.placebo_count,
            "beyond_selection": float(self.beyond_selection),
            "method": self.method,
        }

    def __str__(self) -> str:
        return (
            f"after selection {100 * float(self.exposed):+.1f} points on {self.exposed_count} exposed parents, but "
            f"{100 * float(self.placebo):+.1f} on {self.placebo_count} that nothing was planted in"
        )


def selected_gain(public: DidResult, fresh: DidResult) -> SelectedGain:
    """Show what conditioning on improvement would claim, and what it claims where nothing was planted.

    Raises:
        NoInformationError: If no parent of a group gained on the public form.
        PairingError: If the results are of different parents.
    """
    exposed, exposed_count = _gain(public, fresh, "c2")
    placebo, placebo_count = _gain(public, fresh, "c0")
    return SelectedGain(exposed, exposed_count, placebo, placebo_count)


def _gain(public: DidResult, fresh: DidResult, group: str) -> tuple[Fraction, int]:
    pair = joint_changes([getattr(public, group), getattr(fresh, group)], subject=f"{group} of public and fresh forms")
    selected = (pair.changes[:, 0] > 0) & pair.present.all(axis=1)
    count = int(np.count_nonzero(selected))
    if count == 0:
        raise NoInformationError(f"no parent of {group} gained on the public form; there is nothing to select")
    return Fraction(int(pair.changes[selected, 1].sum()), count * pair.draws[1]), count
