"""How programs ended, in words for their author.

A rejection is shown to anybody, so this says nothing that a program could choose freely: exception classes and reasons
come from lists (`sandbox_pool.session` refuses others), a message only from a statement that SQLite could not prepare,
and of a death its kind, not the status
or the signal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from leakscale_server.sandbox_pool import Execution, Verdict

__all__ = ["name_ending", "name_endings"]

_NAMED_MAX: Final = 3

_WORDS: Final = {
    Verdict.WORK_BUDGET: "more virtual-machine steps than allowed",
    Verdict.CPU_LIMIT: "more CPU time than allowed",
    Verdict.MEMORY_LIMIT: "more memory than allowed",
    Verdict.OUTPUT_LIMIT: "a larger value than allowed",
    Verdict.TIMEOUT: "more wall-clock time than allowed",
    Verdict.ARGUMENT_CHANGED: "an argument that it had changed",
    Verdict.ORDER_DEPENDENT: "rows that depend on the order in which tables are read",
}
_REFUSED_CALL: Final = "a system call that the sandbox refuses, such as one that starts a thread or a process"
_DEATHS: Final = {
    "SIGSYS": _REFUSED_CALL,
    "exit without a result": "an exit of its own",
    "forged result": "a result that it forged",
}
_REFUSED: Final = {
    "type": "a value of another type than list, tuple, dict, str, int, float, bool and None (convert it, as `list` does"
    " with a set)",
    "nan": "NaN, which equals nothing (return None in its place)",
    "surrogate": "text with a lone surrogate",
    "key": "a dictionary with a key that is no text, or with one key twice",
    "depth": "a value that is nested too deep, or holds itself",
}


def name_ending(execution: Execution) -> str:
    """Say how a program ended that did not return what counts."""
    if execution.verdict is Verdict.EXCEPTION:
        return ": ".join(filter(None, (execution.detail, execution.message)))
    if execution.verdict is Verdict.REFUSED_TYPE:
        return _REFUSED.get(execution.detail, "a value without a canonical form")
    if execution.verdict is Verdict.KILLED:
        is_exit = execution.detail.startswith("exit status")
        return _DEATHS.get(execution.detail, "an exit of its own" if is_exit else "a crash")
    return _WORDS[execution.verdict]


def name_endings(executions: Iterable[Execution]) -> str:
    """Say how those programs ended that did not return, each way once, in an order that says nothing about them."""
    endings = sorted({name_ending(each) for each in executions if each.verdict is not Verdict.RETURNED})
    more = ["another"] if len(endings) > _NAMED_MAX else []
    return " or ".join(endings[:_NAMED_MAX] + more)
