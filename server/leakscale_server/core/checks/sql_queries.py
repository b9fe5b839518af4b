"""SQL's queries without what only hands rows on: table expressions and subqueries that are read once, idle clauses."""

from __future__ import annotations

from sqlglot import exp

from leakscale_server.core.checks.sql_expressions import truth_of
from leakscale_server.core.checks.sql_trees import Node, is_number, is_plain_query, part

__all__ = ["drop_unread_tables", "inline_tables", "merged", "plain_clauses"]


def drop_unread_tables(tree: Node) -> None:
    """Take out table expressions that nothing reads, until every one of them is read."""
    while True:
        read = {table.name.lower() for table in tree.find_all(exp.Table)}
        unread = [each for each in tree.find_all(exp.CTE) if each.alias.lower() not in read]
        if not unread:
            return
        for each in unread:
            _remove_table(each)


def _remove_table(each: Node) -> None:
    clause = each.parent
    each.pop()
    if clause is not None and not clause.expressions:
        clause.pop()


def inline_tables(tree: Node) -> None:
    """Write a table expression where it is read, if that is one place."""
    for clause in list(tree.find_all(exp.With)):
        if clause.args.get("recursive"):
            continue
        for each in list(clause.expressions):
            readers = [
                table for table in tree.find_all(exp.Table) if table.name.lower() == each.alias.lower() and not table.db
            ]
            if len(readers) == 1:
                [table] = readers
                query, columns = each.this, each.args["alias"].columns
                _remove_table(each)
                alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name), columns=columns)
                table.replace(exp.Subquery(this=query, alias=alias))


def plain_clauses(node: Node) -> Node | None:
    """Take out clauses that keep every row and every order, and write what is ordered by as it is computed."""
    match node:
        case exp.Limit(expression=exp.Neg(this=exp.Literal())):
            return None
        case exp.Offset() if is_number(node.expression, 0):
            return None
        case exp.Order():
            return _plain_order(node)
        case exp.Join() if _is_inner(node) and node.args.get("on") and isinstance(node.parent, exp.Select):
            condition = node.args["on"]
            node.set("on", None)
            node.parent.where(condition, copy=False)
        case exp.Union(this=left, expression=right) if not node.args.get("distinct"):
            return _without_empty(node, left, right)
    return node


def _is_inner(join: Node) -> bool:
    return str(join.args.get("side") or "") == "" and str(join.args.get("kind") or "").upper() in {"", "INNER", "CROSS"}


def _without_empty(node: Node, left: Node, right: Node) -> Node:
    for one, other in ((left, right), (right, left)):
        where = part(other, exp.Where)
        if where is not None and truth_of(where.this) is False and isinstance(one, exp.Query):
            if node.args.get("order") and not one.args.get("limit"):
                one.set("order", node.args["order"])
            return one
    return node


def _plain_order(order: Node) -> Node | None:
    query = order.parent
    if not isinstance(query, exp.Query):
        return order
    if query.parent is not None and not isinstance(query.parent, exp.Union) and not query.args.get("limit"):
        return None
    if isinstance(query, exp.Select):
        for each in order.expressions:
            value = _value_of(query, each.this)
            if value is not None:
                each.set("this", value)
    return order


def _value_of(query: Node, key: Node) -> Node | None:
    """Return what a query computes under a name or at a place, by which it is ordered."""
    if isinstance(key, exp.Literal) and not key.is_string and key.this.isdecimal():
        place = int(key.this) - 1
        return query.selects[place].unalias().copy() if place < len(query.selects) else None
    if isinstance(key, exp.Column) and not key.table:
        named = (each for each in query.selects if isinstance(each, exp.Alias) and each.alias == key.name)
        return next((each.this.copy() for each in named), None)
    return None


def merged(node: Node) -> Node:
    """Write the subqueries that a query reads into it, where they do no more than choose, join and compute rows."""
    if not isinstance(node, exp.Select):
        return node
    source = part(node, exp.From)
    if source is not None and isinstance(source.this, exp.Subquery) and _hands_on(node, source.this.this):
        return _ordered_alike(node, source.this.this)
    for reader in (source, *(node.args.get("joins") or ())):
        if reader is not None and isinstance(reader.this, exp.Subquery) and is_plain_query(reader.this.this):
            _merge(node, reader)
    return node


def _merge(query: Node, reader: Node) -> None:
    inner = reader.this.this
    source, where, joins = part(inner, exp.From), part(inner, exp.Where), inner.args.get("joins") or []
    is_alone = isinstance(reader, exp.From) and not query.args.get("joins")
    if (joins or source is None or _has_star(query)) and not is_alone and not _is_parameter(reader):
        return
    if where is not None and not _keeps_rows(query, reader):
        return
    if _has_star(query) and not _has_star(inner):
        query.set("expressions", [each.copy() for each in inner.selects])
    _substitute(query, reader.this, _values(inner))
    if where is not None:
        query.where(where.this, copy=False)
    if source is None:
        reader.pop()
        return
    reader.set("this", source.this)
    if joins:
        query.set("joins", joins)


def _is_parameter(reader: Node) -> bool:
    """Return whether a join adds computed values to each row, of no table and on no condition."""
    inner = reader.this.this
    return _is_inner(reader) and not reader.args.get("on") and part(inner, exp.From) is part(inner, exp.Where) is None


def _has_star(query: Node) -> bool:
    return any(_is_star(each) for each in query.selects)


def _is_star(node: Node) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def _keeps_rows(query: Node, reader: Node) -> bool:
    """Return whether a condition on a source may as well stand in the query that reads it."""
    if isinstance(reader, exp.From):
        return all(str(each.args.get("side") or "").upper() in {"", "LEFT"} for each in query.args.get("joins") or ())
    return _is_inner(reader)


def _values(query: Node) -> dict[str, Node]:
    """Return what a query computes under each name."""
    return {each.alias_or_name.lower(): each.unalias() for each in query.selects if not _is_star(each)}


def _substitute(query: Node, subquery: Node, values: dict[str, Node]) -> None:
    alias = subquery.alias.lower()
    inside = {id(each) for each in subquery.walk()}
    for column in [each for each in query.find_all(exp.Column) if id(each) not in inside]:
        value = values.get(column.name.lower())
        if value is not None and column.table.lower() in {"", alias} and not isinstance(value, exp.Column):
            column.replace(value.copy())


def _hands_on(query: Node, inner: Node) -> bool:
    """Return whether a query returns the rows of the one that it reads as they are."""
    if not isinstance(inner, exp.Query) or not is_plain_query(query) or isinstance(inner, exp.Subquery):
        return False
    if query.args.get("joins") or part(query, exp.Where) or (query.args.get("order") and inner.args.get("limit")):
        return False
    if _has_star(query):
        return len(query.selects) == 1
    return len(query.selects) == len(inner.selects) and all(
        isinstance(each.unalias(), exp.Column) for each in query.selects
    )


def _ordered_alike(query: Node, inner: Node) -> Node:
    order = query.args.get("order")
    if order is not None:
        values = _values(inner) if isinstance(inner, exp.Select) else {}
        for column in list(order.find_all(exp.Column)):
            value = values.get(column.name.lower())
            if value is not None:
                column.replace(value.copy())
        inner.set("order", order)
    return inner
