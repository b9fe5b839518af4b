"""What reads alike in two sandboxes and says something else elsewhere certifies nothing."""

from __future__ import annotations

import pytest

from leakscale.models import Condition
from leakscale_server.catalog_audit.material import practice_recipe
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.core.judging.acceptance import Accepted
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.core.shapes import parse_shape
from leakscale_server.sandbox_pool import SandboxPool
from leakscale_server.scorer.prover import FamilyRequest, Proof, Prover

from .builders import CATALOGS

TOML = (CATALOGS / "python" / "threshold.toml").read_text(encoding="utf-8")

STATE = (
    # Low digits of addresses: sandboxes differ in the page on which a heap begins, and by nature in nothing below.
    "id(object()) % 1024",
    "id(object()) % 32",
    "id(records) % 4096",
    "id([]) % 1024",
    "id({}) % 1024",
    "id(()) % 1024",
    "id(1.5 * len(records)) % 1024",
    "id(lambda: 0) % 1024",
    "id(None) % 1024",
    "id(len) % 1024",
    "id(int) % 4096",
    "id('a') % 1024",
    "id(str(records) * 99) % 1024",
    "id(bytes(5000)) % 1024",
    "id(records) >> 44",
    "hash(object()) % 8",
    "hash(object()) % 2",
    "hash(len) % 8",
    "hash(int) % 8",
    "hash('a') % 2",
    "repr(object())[-4:]",
    "str(lambda: 0)[-3:]",
    "str(iter([]))[-4:]",
    "object().__hash__() % 8",
    # What only counts.
    "os.getpid()",
    "os.getppid() % 2",
    "threading.get_native_id()",
    "threading.get_ident() % 4096",
    "threading.current_thread().ident % 4096",
    "threading.main_thread().native_id",
    "len(sys.modules)",
    "list(sys.modules)[-1]",
    "sys.getrecursionlimit()",
    "sys.getallocatedblocks() % 8",
    "len(gc.get_objects()) % 8",
    "gc.get_freeze_count() % 8",
    "len(object.__subclasses__()) % 8",
    # Orders.
    "list({'a', 'b'})",
    "list({'left', 'right'})",
    "list(frozenset({'no', 'yes'}))",
    "''.join({'x', 'y'})",
    "[*{'up', 'down'}]",
    "{'north', 'south'}.pop()",
    "next(iter({'p', 'q'}))",
    "max({'on', 'off'}, key=lambda text: 0)",
    "[bytes.hex(each) for each in {b'left', b'right'}]",
    "list({('a', 1), ('b', 1)})",
    "list({'k': 1, 'l': 2}.keys() | {'m'})",
    "list({'k': 1, 'l': 2}.items() & {('k', 1), ('l', 2)})[0]",
    "list(map(str, set('ab')))",
    "[kind.__name__ for kind in {collections.Counter, collections.ChainMap}]",
    "[kind.__name__ for kind in {collections.OrderedDict, datetime.date, fractions.Fraction}]",
)


def proved(pool: SandboxPool, expression: str, *, beside: str = "") -> Proof:
    """Prove a family whose programs return what an honest one does, and the value of an expression beside it.

    Args:
        pool: Where they run.
        expression: What tells something of the sandbox.
        beside: Lines of the module that it needs.
    """
    toml = TOML.replace("def transform(records):", "def answer(records):").replace(
        "\n'''\n",
        "\n\nimport collections, datetime, fractions, gc, os, sys, threading\n"
        f"{beside}def transform(records):\n    return [answer(records), {expression}]\n'''\n",
    )
    shape = parse_shape(toml, source="threshold.toml")
    recipe = practice_recipe([], families_per_cell=4)
    request = FamilyRequest(
        edition_id="practice",
        shape=shape,
        shape_digest=expression + beside,
        slot=FamilySlot(shape.id, Condition.C0, 0),
        families_per_cell=4,
        public_seed=recipe.public_seed,
        private_seed=recipe.private_seed,
    )
    return Prover(pool).prove(request, first_lane=0)


@pytest.mark.parametrize("expression", STATE)
def test_state_of_the_sandbox_certifies_nothing(expression: str, pool: SandboxPool) -> None:
    """Each gives a value in both passes; with the worker's next release, or another interpreter, it gives another."""
    proof = proved(pool, expression)

    assert isinstance(proof.verdict, Rejection), expression
    assert proof.verdict.reason is RejectionReason.NONDETERMINISTIC


SYMMETRIC = (
    "\nN = 0\ndef count():\n    global N\n    N += 1\n    return N\n",
    "\nCALLS = []\ndef count():\n    CALLS.append(1)\n    return len(CALLS)\n",
    "\ndef count(calls=[]):\n    calls.append(1)\n    return len(calls)\n",
    "\ndef count():\n    count.calls += 1\n    return count.calls\ncount.calls = 0\n",
)


@pytest.mark.parametrize("counter", SYMMETRIC)
def test_a_count_of_calls_that_is_the_same_from_either_end_certifies_nothing(counter: str, pool: SandboxPool) -> None:
    """Call n of sixteen and call 17 - n are equally far from the middle, so fixtures backwards do not show it."""
    proof = proved(pool, "abs(2 * count() - 17)", beside=counter)

    assert isinstance(proof.verdict, Rejection)
    assert proof.verdict.reason is RejectionReason.NONDETERMINISTIC


def test_the_pass_that_differs_is_shown(pool: SandboxPool) -> None:
    """Whatever lane told two results apart: an author sees both."""
    for expression in ("list({'a', 'b'})", "list({'left', 'right'})", "list({'no', 'yes'})"):
        proof = proved(pool, expression)
        assert isinstance(proof.verdict, Rejection)
        position, index = proof.verdict.candidate_position, proof.verdict.fixture_index
        assert position is not None and index is not None
        one, other = (rings[proof.verdict.ring][position][index].output for rings in proof.passes)

        assert one != other


HONEST = (
    "sorted({'a', 'b'})",
    "len({'a', 'b'} | {'c'})",
    "'a' in {'a', 'b'}",
    "sorted({'k': 1, 'l': 2}.keys())",
    "collections.Counter('abba')['a']",
)


@pytest.mark.parametrize("expression", HONEST)
def test_a_set_whose_order_is_not_looked_at_certifies(expression: str, pool: SandboxPool) -> None:
    """Honest programs collect in sets, too; and what more lanes find in them is nothing."""
    assert isinstance(proved(pool, expression).verdict, Accepted)
