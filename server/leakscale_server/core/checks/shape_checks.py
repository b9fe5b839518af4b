"""Rules of a shape that take more than one field to tell.

Each check yields the problems it finds; `shapes.parse_shape` reports the first in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from leakscale.models import Domain, Ring
from leakscale_server.core.building.rendering import PLACEHOLDER
from leakscale_server.core.checks.column_checks import check_columns
from leakscale_server.core.checks.given_checks import check_given
from leakscale_server.core.checks.letter_checks import check_chat_marks, check_plain, check_script
from leakscale_server.core.checks.text_checks import check_texts, names_written
from leakscale_server.core.format.candidates import CANDIDATE_COUNT, JsonCandidates, separable_count
from leakscale_server.core.format.keywords import reserved_rule
from leakscale_server.core.format.locations import Path
from leakscale_server.core.format.problems import Phrase, Problem, all_names, check_grid
from leakscale_server.core.format.schema import RESERVED_SLOT, Shape
from leakscale_server.core.literals import read_json

__all__ = ["find_problems"]

JSON_NUMBER_MAX = 10**9
"""With four decimal places, a double writes back the same digits."""


def find_problems(shape: Shape) -> Iterator[Problem]:
    """Yield every problem of a shape whose fields are well typed."""
    yield from _check_domain(shape)
    yield from _check_candidates(shape)
    yield from _check_names(shape)
    yield from check_columns(shape)
    yield from check_given(shape)
    yield from check_texts(shape)


def _check_domain(shape: Shape) -> Iterator[Problem]:
    if not shape.id.startswith(f"{shape.domain}-"):
        yield Problem(("id",), f"must begin with its domain, '{shape.domain}-'", shape.id)
    if shape.language is Domain.SQL:
        if not shape.tables:
            yield Problem(("tables",), "must have at least one entry in an SQL shape", None)
        if shape.records is not None:
            yield Problem(("records",), "must be left out of an SQL shape, which has [[tables]]", Phrase("[records]"))
        if shape.result is None:
            yield Problem(("result",), "must be given in an SQL shape, with columns and order", None)
        return
    if shape.records is None:
        yield Problem(("records",), "must be given in a Python shape, with rows and fields", None)
    if shape.tables:
        yield Problem(("tables",), "must be left out of a Python shape, which has [records]", Phrase("[[tables]]"))
    if shape.result is not None:
        yield Problem(
            ("result",), "must be left out of a Python shape, whose result is compared whole", Phrase("[result]")
        )


def _check_candidates(shape: Shape) -> Iterator[Problem]:
    pool, span = shape.candidates.pool, shape.candidates.range
    if (pool is None) == (span is None):
        yield Problem(("candidates",), "must have either pool or range", Phrase("neither" if pool is None else "both"))
    elif pool is not None:
        for index, value in enumerate(pool):
            # As JSON texts, values differ by type and value; other types compare as they are.
            if value in pool[:index]:
                yield Problem(("candidates", "pool", index), "must differ from the values before it", value)
        yield from _check_spelling(pool)
        if isinstance(shape.candidates, JsonCandidates):
            yield from _check_json_pool(shape, shape.candidates.pool)
    elif span is not None:
        yield from check_grid(span, ("candidates", "range"))
        if span.low <= span.high and separable_count(span) < CANDIDATE_COUNT:  # type: ignore[operator]
            yield Problem(
                ("candidates", "range"),
                f"must hold at least {CANDIDATE_COUNT} values at its distance",
                separable_count(span),
            )


def _check_spelling(pool: Sequence[object]) -> Iterator[Problem]:
    """Check the letters of a pool: two values that look alike would be one for a reader and two for the server."""
    paths: list[Path] = [("candidates", "pool", index) for index in range(len(pool))]
    for value, path in zip(pool, paths, strict=True):
        if isinstance(value, str):
            yield from check_plain(value, path)
            yield from check_chat_marks(value, path)
    yield from check_script([value if isinstance(value, str) else "" for value in pool], paths)


def _check_json_pool(shape: Shape, pool: tuple[str, ...]) -> Iterator[Problem]:
    for index, text in enumerate(pool):
        path: Path = ("candidates", "pool", index)
        try:
            value = read_json(text)
        except ValueError:
            yield Problem(path, "must be the JSON text of a boolean, null, number or string, as JSON writes it", text)
            continue
        if shape.language is Domain.SQL and isinstance(value, bool):
            yield Problem(path, "must be no boolean, which SQLite lacks; write 0 or 1", text)
        if isinstance(value, str):
            yield from check_plain(value, path)
        if isinstance(value, int | Decimal) and not -JSON_NUMBER_MAX <= value <= JSON_NUMBER_MAX:
            yield Problem(path, f"must lie between {-JSON_NUMBER_MAX} and {JSON_NUMBER_MAX}", text)
        if isinstance(value, Decimal) and len(text.partition(".")[2]) > 4:
            yield Problem(path, "must have at most 4 decimal places", text)


def _check_names(shape: Shape) -> Iterator[Problem]:
    """Keep words apart, so that no choice of words gives two columns one name."""
    fixed = {name for _, name in all_names(shape) if name not in shape.vocabulary}
    owner: dict[str, str] = {}
    named = {name for _, name in all_names(shape)}
    written = names_written(shape)
    used = named.union(*(PLACEHOLDER.findall(shape.rings.text(ring).task) for ring in Ring))
    if not named & set(shape.vocabulary):
        naming = "must have a slot that a table, a column or a field is named by"
        yield Problem(("vocabulary",), naming, list(shape.vocabulary))
    for slot, words in shape.vocabulary.items():
        path: Path = ("vocabulary", slot)
        if slot == RESERVED_SLOT:
            yield Problem(path, "must have another name, for this is the masked value's", slot)
        if slot not in used:
            yield Problem(path, "must be used by a table, a column, a field or the task", slot)
        for index, word in enumerate(words):
            if word in fixed or owner.get(word, slot) != slot or word in words[:index]:
                yield Problem((*path, index), "must stand for one thing only; choose another word", word)
            if rule := reserved_rule(word):
                yield Problem((*path, index), f"{rule}; choose another word", word)
            elif word in written and word not in fixed and word not in shape.vocabulary:
                yield Problem((*path, index), "must be no name that a program writes itself; choose another word", word)
            owner[word] = slot
    for place, name in all_names(shape):
        if name in fixed and (rule := reserved_rule(name)):
            yield Problem(place, f"{rule}; choose another name", name)
