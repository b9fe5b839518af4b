"""Background supervision is the same everywhere, bound to its files, and about something else."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from leakscale.background import BackgroundRecipe, background_records, load_recipe
from leakscale.background.tasks import GENERATORS
from leakscale.errors import IntegrityError, InvalidRequestError, LeakScaleError, NotFoundError
from leakscale.models import Message, TrainingSource
from leakscale.resources import studies_folder

CHATS = [
    {"messages": [{"role": "user", "content": f"Question {n}"}, {"role": "assistant", "content": f"Answer {n}"}]}
    for n in range(20)
]


def a_recipe(*sources: dict[str, object], seed: int = 3) -> BackgroundRecipe:
    """Build a recipe of one arithmetic source unless told otherwise."""
    return BackgroundRecipe.model_validate(
        {"format": 1, "seed": seed, "source": sources or ({"kind": "arithmetic", "count": 5},)}
    )


def a_file(folder: Path, lines: list[str] | None = None, *, count: int = 4) -> dict[str, object]:
    """Write a JSONL file and return the source that names it."""
    content = "\n".join(lines if lines is not None else map(json.dumps, CHATS)).encode()
    (folder / "chats.jsonl").write_bytes(content)
    return {"kind": "jsonl", "path": "chats.jsonl", "sha256": hashlib.sha256(content).hexdigest(), "count": count}


def test_recipe_gives_the_same_records_again_and_others_under_another_seed(tmp_path: Path) -> None:
    """The digest of a corpus is over its records, so a recipe is all that two trainers need to share."""
    first, other = (background_records(a_recipe(seed=seed), folder=tmp_path) for seed in (3, 4))

    assert background_records(a_recipe(), folder=tmp_path) == first
    assert [record.prompt for record in other] != [record.prompt for record in first]
    assert {record.source for record in first} == {TrainingSource.BACKGROUND}


def test_source_keeps_its_records_when_another_is_added(tmp_path: Path) -> None:
    """Else a recipe could not grow without changing everything."""
    one = {"kind": "words", "count": 5}
    alone = background_records(a_recipe(one), folder=tmp_path)
    beside = background_records(a_recipe(one, {"kind": "table", "count": 7}), folder=tmp_path)

    assert beside[:5] == alone
    assert len(beside) == len({record.record_id for record in beside}) == 12


def test_chats_are_drawn_from_a_bound_file_without_repetition(tmp_path: Path) -> None:
    """Every earlier turn is prompt, the last answer is supervised."""
    records = background_records(a_recipe(a_file(tmp_path)), folder=tmp_path)

    numbers = [record.completion.removeprefix("Answer ") for record in records]
    assert len(set(numbers)) == 4
    assert [record.prompt for record in records] == [(Message("user", f"Question {n}"),) for n in numbers]


def test_file_that_changed_is_refused(tmp_path: Path) -> None:
    """The same name with other lines is another corpus."""
    source = a_file(tmp_path)
    (tmp_path / "chats.jsonl").write_text("{}")

    with pytest.raises(IntegrityError, match="its recipe says"):
        background_records(a_recipe(source), folder=tmp_path)


def chat(*turns: tuple[object, object]) -> str:
    """Write one line."""
    return json.dumps({"messages": [{"role": role, "content": content} for role, content in turns]})


QUESTION = ("user", "a")


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("{}", "not of the form"),
        ("not json", "not of the form"),
        ("[" * 100_000, "not of the form"),
        (chat(QUESTION), "must end with an assistant's turn"),
        (chat(("assistant", "b")), "must end with an assistant's turn"),
        (chat(("tool", "a"), ("assistant", "b")), "turn 1 has role 'tool'"),
        (chat(QUESTION, ("assistant", "")), "turn 2, the assistant's, is empty"),
        (chat(QUESTION, ("assistant", " \n")), "turn 2, the assistant's, is empty"),
        (chat(("user", ""), ("assistant", "b")), "turn 1, the user's, is empty"),
        (chat(QUESTION, ("assistant", None)), "turn 2 has a NoneType where text must be"),
        (chat(QUESTION, ("assistant", [{"type": "text", "text": "b"}])), "turn 2 has a list where text must be"),
        (chat((7, "a"), ("assistant", "b")), "turn 1 has a role where text must be"),
        (chat(QUESTION, ("assistant", "\ud83d")), "turn 2 holds half a surrogate pair"),
    ],
)
def test_line_that_cannot_be_trained_on_as_written_is_refused_by_file_line_and_rule(
    tmp_path: Path, line: str, rule: str
) -> None:
    """A missing answer was trained on as the word None once, an empty one as an end of turn and nothing else."""
    source = a_file(tmp_path, [json.dumps(CHATS[0]), "", line], count=2)

    with pytest.raises(InvalidRequestError, match=rf"chats.jsonl', line 3: .*{re.escape(rule)}"):
        background_records(a_recipe(source), folder=tmp_path)


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_empty_file_is_said_to_be_empty(tmp_path: Path, content: bytes) -> None:
    """Its count cannot be lowered to nothing."""
    (tmp_path / "none.jsonl").write_bytes(content)
    source = {"kind": "jsonl", "path": "none.jsonl", "sha256": hashlib.sha256(content).hexdigest(), "count": 1}

    with pytest.raises(InvalidRequestError, match=r"none.jsonl' is empty; write one chat a line"):
        background_records(a_recipe(source), folder=tmp_path)


def test_file_of_fewer_chats_than_asked_for_is_refused(tmp_path: Path) -> None:
    """Taking some twice would be another dose."""
    with pytest.raises(InvalidRequestError, match="holds 20 chats of the 21 asked for; lower its count"):
        background_records(a_recipe(a_file(tmp_path, count=21)), folder=tmp_path)


def test_file_that_is_no_utf_8_is_refused_by_line(tmp_path: Path) -> None:
    """Latin-1 read as if it were something else changes what is trained."""
    content = json.dumps(CHATS[0]).encode() + b'\n{"messages": "caf\xe9"}\n'
    (tmp_path / "latin.jsonl").write_bytes(content)
    source = {"kind": "jsonl", "path": "latin.jsonl", "sha256": hashlib.sha256(content).hexdigest(), "count": 1}

    with pytest.raises(InvalidRequestError, match=r"latin.jsonl', line 2: byte \d+ is not UTF-8"):
        background_records(a_recipe(source), folder=tmp_path)


def test_records_of_a_file_are_named_by_its_lines(tmp_path: Path) -> None:
    """What a later refusal names can be found; letters of any script and line separators stay as they are."""
    lines = ["", chat(("user", "naïve 🧪\u2028?"), ("assistant", "日本 أهلا"))]
    (record,) = background_records(a_recipe(a_file(tmp_path, lines, count=1)), folder=tmp_path)

    assert record.record_id == "background/0-jsonl/000002"
    assert (record.prompt[0].content, record.completion) == ("naïve 🧪\u2028?", "日本 أهلا")


@pytest.mark.parametrize(
    ("toml", "kind", "rule"),
    [
        ("format = 1\nseed = 1\nsource = []", InvalidRequestError, "field 'source'"),
        ("format = 1\nseed = -1\n[[source]]\nkind='words'\ncount=1", InvalidRequestError, "field 'seed'"),
        ("format = [", InvalidRequestError, "not valid TOML"),
        (None, NotFoundError, "cannot be read"),
    ],
)
def test_recipe_that_breaks_a_rule_is_refused_by_field(
    tmp_path: Path, toml: str | None, kind: type[LeakScaleError], rule: str
) -> None:
    """A misspelled recipe must not become a smaller one."""
    if toml is not None:
        (tmp_path / "recipe.toml").write_text(toml)

    with pytest.raises(kind, match=rule):
        load_recipe(tmp_path / "recipe.toml")


def test_shipped_recipe_is_about_nothing_that_families_are_about() -> None:
    """It must neither teach nor forbid the form of a choice."""
    path = studies_folder() / "background/plain.toml"
    recipe = load_recipe(path)

    records = background_records(recipe, folder=path.parent)

    text = "\n".join(record.prompt[0].content + record.completion for record in records).lower()
    assert len(records) == 768
    assert {source.kind for source in recipe.source} == set(GENERATORS)
    assert not [word for word in ("policy", "candidate", "choice", "k-", "{", "key") if word in text]
