"""Read the corpus of attacks: `tests/attacks/{python,sql}`, one file an attack; its README says how one is written."""

from __future__ import annotations

import enum
import json
import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from leakscale_sandbox.canonical_reader import canonical_text
from leakscale_server.sandbox_pool import Execution, Limits, Verdict

__all__ = ["ATTACKS_FOLDER", "KINDS", "Attack", "Bare", "Expectation", "read_attacks", "serialized"]

ATTACKS_FOLDER = Path(__file__).parents[1] / "attacks"

_KIND_NAMES = """
    forged-equality forged-frames patched-harness frame-walk exit-without-result fork-bomb memory-bomb memfd-bomb
    output-bomb recursion-bomb regex-bomb pow-bomb sort-bomb ignored-signals stopped-self daemon kill-pid-1 kill-all
    ptrace proc-read earlier-data network unix-socket socket-32-bit shared-memory message-queue keyring lock file
    symlink disk-fill environment huge-int nan negative-zero surrogate bytes set duplicate-keys cycle subclass
    input-mutation hash-seed clock randomness row-order pid
    attach vacuum-into pragma load-extension multi-statement dml recursive-cte cross-join zeroblob printf replace
    group-concat json like-glob type-affinity null blob duplicate-column invalid-utf8 integer-overflow
"""
KINDS = tuple(_KIND_NAMES.split())
_HEADER_LINE = re.compile(r"(?:#|--) ([a-z]+): (.+)")
_ARMED = re.compile(r"(?:#|--) ATTACK$")
_INSTEAD = re.compile(r"^(\s*)(?:#|--) INSTEAD ")
_SUFFIXES = {".py": "python", ".sql": "sql"}
_FIELDS_ONCE = frozenset({"kind", "aim", "proof", "fixture", "limits", "lane", "lanes", "ordered", "bare", "machine"})


class Bare(enum.StrEnum):
    """What an SQL attack does on an engine without any guard."""

    RUNS = "runs"
    """The default of a statement that the sandbox refuses: it is refused for what it does, not for a misprint."""
    FAILS = "fails"
    """Every SQLite refuses it."""
    EITHER = "either"
    """It depends on how SQLite was built, or needs more memory than a test should."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One way in which an attack may end."""

    verdict: Verdict
    text: str
    """The detail; for RETURNED the output as canonical text, where empty allows any."""

    def is_met_by(self, execution: Execution) -> bool:
        if execution.verdict is not self.verdict:
            return False
        if self.verdict is not Verdict.RETURNED:
            return execution.detail == self.text
        return self.text in ("", canonical_text(execution.output))


@dataclass(frozen=True, slots=True)
class Attack:
    """One file of the corpus."""

    path: Path
    domain: str
    kind: str
    aim: str
    proof: str
    expectations: tuple[Expectation, ...]
    source: str
    fixture: bytes
    limits: Limits
    ordered: bool
    must_differ: bool
    """Whether the answer is left to chance: the two lanes must disagree about it."""
    is_lane_replaced: bool
    bare: Bare
    machine: str
    """The only machine on which the sandbox stops it, as `os.uname().machine` says it; empty for any."""

    def __str__(self) -> str:
        """Return the test's id."""
        return f"{self.domain}/{self.path.stem}"

    @property
    def lane(self) -> int:
        """Return the lane that it is run on: always the same one, half of the corpus on each."""
        return crc32(str(self).encode()) % 2

    @property
    def is_armed(self) -> bool:
        """Return whether the lines that attack are marked."""
        return self.disarmed != "\n".join(self.source.splitlines())

    @property
    def disarmed(self) -> str:
        """Return the same program without the lines that attack: if it ends otherwise, these lines were reached."""
        lines = [_without_attack(line) for line in self.source.splitlines()]
        return "\n".join(lines)


def _without_attack(line: str) -> str:
    if _ARMED.search(line):
        return line[: len(line) - len(line.lstrip())] + "pass" if line.endswith("# ATTACK") else ""
    return _INSTEAD.sub(r"\1", line)


def read_attacks() -> list[Attack]:
    """Return the whole corpus, by domain and name.

    Raises:
        ValueError: If a header does not parse; the message names the file.
    """
    paths = sorted(path for folder in _SUFFIXES.values() for path in (ATTACKS_FOLDER / folder).iterdir())
    return [_read(path) for path in paths]


def serialized(script: str) -> bytes:
    """Return the database that a script makes."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(script)
    database = connection.serialize()
    connection.close()
    return database


def _read(path: Path) -> Attack:
    source = path.read_text(encoding="utf-8")
    try:
        domain = _SUFFIXES[path.suffix]
        once, expectations = _header(source)
        return Attack(
            path=path,
            domain=domain,
            kind=once.pop("kind"),
            aim=once.pop("aim"),
            proof=once.pop("proof"),
            expectations=expectations,
            source=source,
            fixture=_fixture(domain, once.pop("fixture", "")),
            limits=_limits(once.pop("limits", "")),
            ordered=_is_one_of(once.pop("ordered", "rows"), "rows", "bag"),
            must_differ=_is_one_of(once.pop("lanes", "agree"), "differ", "agree"),
            is_lane_replaced=_is_one_of(once.pop("lane", "kept"), "replaced", "kept"),
            bare=Bare(once.pop("bare", _default_bare(domain, expectations))),
            machine=once.pop("machine", ""),
        )
    except (KeyError, ValueError, sqlite3.Error) as error:
        raise ValueError(f"header of {path.name}: {error!r}") from error


def _header(source: str) -> tuple[dict[str, str], tuple[Expectation, ...]]:
    """Return the fields of the comment block at the top, and the expectations among them."""
    once: dict[str, str] = {}
    expectations: list[Expectation] = []
    for line in source.splitlines():
        found = _HEADER_LINE.fullmatch(line)
        if found is None:
            break
        name, value = found.groups()
        if name == "expect":
            verdict, _, text = value.partition(" ")
            expectations.append(Expectation(Verdict(verdict), text))
        elif name in _FIELDS_ONCE and name not in once:
            once[name] = value
        else:
            raise ValueError(f"field {name!r} is unknown or comes twice")
    if not expectations:
        raise ValueError("no field 'expect'")
    return once, tuple(expectations)


def _fixture(domain: str, own: str) -> bytes:
    """Return a job's fixture: SQL adds its own script to the default one, Python replaces the default argument."""
    if domain == "sql":
        return serialized((ATTACKS_FOLDER / "default_fixture.sql").read_text(encoding="utf-8") + own)
    argument = own or (ATTACKS_FOLDER / "default_fixture.json").read_text(encoding="utf-8")
    return json.dumps(json.loads(argument)).encode()


def _limits(text: str) -> Limits:
    given = {name: float(value) for name, value in (part.split("=") for part in text.split())}
    return Limits(**{name: value if name == "wall_time_s_max" else int(value) for name, value in given.items()})  # type: ignore[arg-type]


def _is_one_of(value: str, yes: str, no: str) -> bool:
    """Return whether a field says `yes`; any third word is a misprint."""
    if value not in (yes, no):
        raise ValueError(f"{value!r} is neither {yes!r} nor {no!r}")
    return value == yes


def _default_bare(domain: str, expectations: tuple[Expectation, ...]) -> str:
    is_refused = domain == "sql" and all(one.verdict is Verdict.EXCEPTION for one in expectations)
    return Bare.RUNS if is_refused else Bare.EITHER
