"""So many calls a second on average, and a few at once after a rest."""

from __future__ import annotations

__all__ = ["Allowance"]


class Allowance:
    """A bucket of permits that fills with time. Not safe between threads: whoever owns it holds a lock.

    Args:
        per_s: Permits that come in a second; 0: any number is there.
        burst_s: Seconds whose permits may be saved up.
        now_s: The time, of any clock that does not go back.
    """

    __slots__ = ("_left", "_most", "_per_s", "_seen_s")

    def __init__(self, *, per_s: float, burst_s: float, now_s: float) -> None:
        self._per_s = per_s
        self._most = self._left = per_s * burst_s
        self._seen_s = now_s

    def take(self, now_s: float) -> float:
        """Take a permit; return 0, or if there is none the seconds until one comes."""
        if not self._per_s:
            return 0.0
        self._left = min(self._most, self._left + (now_s - self._seen_s) * self._per_s)
        self._seen_s = now_s
        if self._left < 1:
            return (1 - self._left) / self._per_s
        self._left -= 1
        return 0.0
