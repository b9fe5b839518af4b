"""SQL's expressions without what changes nothing: `x + 0`, `1 = 1 AND c`, `COALESCE(x, x)`, `x IN (y)`."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from leakscale_server.core.checks.sql_trees import Node, is_number, operands, part

__all__ = ["simplified"]

_NEUTRAL_RIGHT: Final[dict[type[Node], int]] = {
    exp.Add: 0,
    exp.Sub: 0,
    exp.BitwiseOr: 0,
    exp.BitwiseLeftShift: 0,
    exp.BitwiseRightShift: 0,
    exp.Mul: 1,
    exp.Div: 1,
}
_NEUTRAL_LEFT: Final = (exp.Add, exp.Mul, exp.BitwiseOr)
_ALWAYS_OF_ITSELF: Final = (exp.EQ, exp.GTE, exp.LTE, exp.Is)
_NEVER_OF_ITSELF: Final = (exp.NEQ, exp.GT, exp.LT)
_COUNTS: Final = (exp.Length, exp.Count)


def simplified(node: Node) -> Node | None:  # noqa: PLR0911, PLR0912 - one line a kind
    """Write one node plainly, whose parts are plain already; None takes it out."""
    match node:
        case exp.Paren():
            return node.this
        case exp.And() | exp.Or():
            return _condition(node)
        case exp.Not(this=exp.Not(this=inner)) | exp.Neg(this=exp.Neg(this=inner)):
            return inner
        case exp.Not(this=exp.In() as inner) if len(inner.expressions) == 1:
            return exp.NEQ(this=inner.this, expression=inner.expressions[0])
        case exp.In() if len(node.expressions) == 1 and not isinstance(node.parent, exp.Not):
            return exp.EQ(this=node.this, expression=node.expressions[0])
        case exp.Is(expression=exp.Boolean(this=True)) if isinstance(node.this, exp.Predicate):
            return node.this
        case exp.Where() | exp.Having() if truth_of(node.this):
            return None
        case exp.Between() if not node.args.get("symmetric"):
            least = exp.GTE(this=node.this.copy(), expression=node.args["low"])
            return exp.And(this=least, expression=exp.LTE(this=node.this, expression=node.args["high"]))
        case exp.Binary():
            return _arithmetic(node)
        case exp.Coalesce():
            others = [each for each in node.expressions if each != node.this]
            node.set("expressions", others)
            return node if others else node.this
        case exp.Case(this=None):
            return _choice(node)
        case exp.If() if not isinstance(node.parent, exp.Case):
            branch = exp.If(this=node.this, true=node.args["true"])
            return _choice(exp.Case(ifs=[branch], default=node.args.get("false")))
        case exp.Count(this=exp.Literal()):
            node.set("this", exp.Star())
        case exp.Subquery():
            return _lone_value(node)
    return node


def truth_of(node: Node) -> bool | None:  # noqa: PLR0911 - one line a kind
    """Return whether a condition always holds or never does; None where that hangs on rows."""
    match node:
        case exp.Boolean():
            return bool(node.this)
        case exp.Literal(is_string=False):
            return bool(float(node.this))
        case exp.Exists(this=exp.Select() as query) if part(query, exp.From) is None:
            return True if part(query, exp.Where) is None else None
        case exp.Binary(this=left, expression=right) if left == right and not left.find(exp.Func):
            return _of_itself(node)
        case exp.GTE(this=left, expression=right) if isinstance(left, _COUNTS) and is_number(right, 0):
            return True
        case exp.LTE(this=left, expression=right) if isinstance(right, _COUNTS) and is_number(left, 0):
            return True
        case exp.Binary() | exp.Not() if not any(
            isinstance(each, exp.Column | exp.Select | exp.Func | exp.Placeholder) for each in node.walk()
        ):
            # Of literals alone: no row decides it.
            return True
    return None


def _of_itself(node: Node) -> bool | None:
    if isinstance(node, _ALWAYS_OF_ITSELF):
        return True
    return False if isinstance(node, _NEVER_OF_ITSELF) else None


def _condition(node: Node) -> Node:
    """Take out of a chain of conditions what no row decides, and what stands there twice."""
    is_and = isinstance(node, exp.And)
    kept: list[Node] = []
    for side in operands(node, type(node)):
        truth = truth_of(side)
        if truth is (not is_and) or any(_are_opposite(side, each) for each in kept):
            return exp.Boolean(this=not is_and)
        if truth is None and side not in kept:
            kept.append(side)
    if not kept:
        return exp.Boolean(this=is_and)
    if len(kept) == len(operands(node, type(node))):
        return node
    first, *others = kept
    for each in others:
        first = type(node)(this=first, expression=each)
    return first


def _are_opposite(one: Node, other: Node) -> bool:
    return bool(one == exp.Not(this=other.copy()) or other == exp.Not(this=one.copy()))


def _arithmetic(node: Node) -> Node:
    left, right, kind = node.this, node.expression, type(node)
    if kind in _NEUTRAL_RIGHT and is_number(right, _NEUTRAL_RIGHT[kind]):
        return left
    if kind in _NEUTRAL_LEFT and is_number(left, _NEUTRAL_RIGHT[kind]):
        return right
    if kind is exp.DPipe:
        return left if _is_empty(right) else right if _is_empty(left) else node
    return node


def _is_empty(node: Node) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string) and node.this == ""


def _choice(node: exp.Case) -> Node:
    for branch in node.args["ifs"]:
        truth = truth_of(branch.this)
        if truth is None:
            break
        if truth:
            return branch.args["true"]
    values = [branch.args["true"] for branch in node.args["ifs"]]
    default = node.args.get("default")
    if len(values) == 1 and is_number(values[0], 1) and default is not None and is_number(default, 0):
        return node.args["ifs"][0].this
    return values[0] if default is not None and all(each == default for each in values) else node


def _lone_value(node: Node) -> Node:
    """Write a query of one value and no table as the value."""
    query = node.this
    is_source = isinstance(node.parent, exp.From | exp.Join | exp.CTE)
    if is_source or not isinstance(query, exp.Select) or len(query.selects) != 1:
        return node
    clauses = {key for key, value in query.args.items() if value}
    return query.selects[0].unalias() if clauses == {"expressions"} else node
