"""How an execution can end, and what a program may use. Both sides of the wire speak these words."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = ["RECORD_DETAILS", "Limits", "Verdict"]


class Verdict(enum.StrEnum):
    """How one execution ended. The order is the wire's code of a verdict: only ever append."""

    RETURNED = "returned"
    """The program gave a value that has a canonical form."""
    EXCEPTION = "exception"
    """The program raised, or its statement was refused."""
    REFUSED_TYPE = "refused_type"
    """The value has no canonical form: another type, NaN, a surrogate, a cycle or too deep."""
    WORK_BUDGET = "work_budget"
    """The statement took more virtual-machine steps than allowed."""
    CPU_LIMIT = "cpu_limit"
    """The program used up its CPU seconds. Depends on load."""
    MEMORY_LIMIT = "memory_limit"
    """The program asked for more memory than allowed. Depends on the allocator."""
    OUTPUT_LIMIT = "output_limit"
    """The canonical value, or all values of the program together, are too large."""
    TIMEOUT = "timeout"
    """The program was still running when its wall-clock time was over. Depends on load."""
    KILLED = "killed"
    """A signal, an exit without a result, or a result that no runner writes."""
    ORDER_DEPENDENT = "order_dependent"
    """SQL: the two other orders in which an odd lane reads the rows gave two values. Never on an even lane."""
    ARGUMENT_CHANGED = "argument_changed"
    """Python: the program gave a value, and its argument is another one than before."""

    @property
    def is_deterministic(self) -> bool:
        """Return whether the same program ends so on any machine, however loaded."""
        return self in _DETERMINISTIC


_DETERMINISTIC = frozenset(
    {
        Verdict.RETURNED,
        Verdict.EXCEPTION,
        Verdict.REFUSED_TYPE,
        Verdict.WORK_BUDGET,
        Verdict.OUTPUT_LIMIT,
        Verdict.ORDER_DEPENDENT,
        Verdict.ARGUMENT_CHANGED,
    }
)

RECORD_DETAILS = {
    Verdict.REFUSED_TYPE: frozenset({"type", "nan", "surrogate", "key", "depth"}),
    Verdict.WORK_BUDGET: frozenset({"virtual-machine steps"}),
    Verdict.MEMORY_LIMIT: frozenset({"address space", "SQLite heap"}),
    Verdict.OUTPUT_LIMIT: frozenset({"bytes", "nodes", "digits", "rows", "all values together"}),
    Verdict.ORDER_DEPENDENT: frozenset({"rows"}),
    Verdict.ARGUMENT_CHANGED: frozenset({"argument"}),
}
"""All that a runner says beside a verdict: words from a list, so that none carries what a fixture holds.

EXCEPTION is missing because its list is the worker's own, in its greeting; RETURNED comes with a value. The rest is
said by PID 1 or the server only: in a program's own record it is forged.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use. Output, work and rows are counted a fixture; the rest over all its fixtures."""

    wall_time_s_max: float = 20.0
    """Wall-clock seconds of the program's process."""
    cpu_time_s_max: int = 6
    """CPU seconds of the program's process; the kernel counts whole seconds."""
    memory_bytes_max: int = 256 << 20
    """Address space of the program's process."""
    output_bytes_max: int = 256 << 10
    """Canonical bytes of one value."""
    work_steps_max: int = 25_000_000
    """SQL: virtual-machine steps, counted in thousands."""
    row_count_max: int = 10_000
    """SQL: rows."""

    def __post_init__(self) -> None:
        """Refuse a limit that would not bite.

        Raises:
            ValueError: If a limit is zero or negative, or larger than a frame can say.
        """
        for name in self.__slots__:
            if not 0 < getattr(self, name) < 1 << 31:
                raise ValueError(f"limit {name} must be above 0 and below 2^31")
