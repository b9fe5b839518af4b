"""Answers on their way to a server: cut alike every time, read strictly, and nothing of them in the clear."""

from __future__ import annotations

import json
from typing import Any

import pytest

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.remote.chunks import answer_chunks, answers_digest, read_chunk
from leakscale.audit.remote.limits import ANSWER_BYTES_MAX, ANSWERS_PER_CHUNK_MAX, PIECE_BYTES_MAX
from leakscale.errors import InvalidRequestError
from leakscale.form_engines import Generated, OptionScore

SALT = bytes(range(32))


def a_text(form: str = "p-1/original", text: str = "The answer is 4.", **more: Any) -> FormAnswer:
    return FormAnswer(form, more.get("number", 0), more.get("is_rerun", False), Generated(text, 6, False, -0.25))


def a_choice(form: str = "p-1/original") -> FormAnswer:
    return FormAnswer(form, 0, False, None, (OptionScore(-1.5, 2), OptionScore(-0.1, 1)))


def chunk_of(**changes: Any) -> bytes:
    """A chunk whose one answer has fields that no client writes."""
    head, line = next(answer_chunks([a_text()], salt=SALT)).content.splitlines()
    fields = {name: value for name, value in (json.loads(line) | changes).items() if value is not ...}
    return head + b"\n" + json.dumps(fields).encode() + b"\n"


def test_answers_come_back_as_they_were() -> None:
    """Texts in any script, half a surrogate pair and scores of options among them."""
    answers = [a_text(text="¿Cuántos? \ud800 \x00 四"), a_choice("p-2/fresh-1"), a_text("p-3/deep-2", number=3)]
    (chunk,) = answer_chunks(answers, salt=SALT)

    assert read_chunk(chunk.content) == answers


def test_answers_to_questions_asked_again_are_not_sent() -> None:
    """They are never scored."""
    (chunk,) = answer_chunks([a_text(), a_text(is_rerun=True)], salt=SALT)

    assert read_chunk(chunk.content) == [a_text()]


def test_the_same_answers_are_cut_alike_within_both_bounds() -> None:
    """An upload goes on by number and digest."""
    answers = [a_text(f"p-{number}/original", text="x" * (number % 3 * 9000)) for number in range(700)]
    chunks = list(answer_chunks(answers, salt=SALT))

    assert chunks == list(answer_chunks(answers, salt=SALT))
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert [answer for chunk in chunks for answer in read_chunk(chunk.content)] == answers
    assert max(len(chunk.content) for chunk in chunks) <= PIECE_BYTES_MAX
    assert max(len(read_chunk(chunk.content)) for chunk in chunks) <= ANSWERS_PER_CHUNK_MAX


def test_a_digest_confirms_no_guess_without_the_salt() -> None:
    """It travels in the clear."""
    one, other = (next(answer_chunks([a_text()], salt=salt)) for salt in (SALT, bytes(32)))

    assert one.digest != other.digest
    assert answers_digest([one.digest, other.digest]) != answers_digest([other.digest, one.digest])


def test_an_answer_that_is_too_long_is_refused_by_its_form() -> None:
    """Cut off silently, it would be scored as another one."""
    with pytest.raises(InvalidRequestError, match=r"form 'p-1/original' has 262,145 bytes.*262,144"):
        list(answer_chunks([a_text(text="x" * (ANSWER_BYTES_MAX + 1))], salt=SALT))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}\n{}\n",
        b'{"v":1,"salt":"00"}\n',
        chunk_of(rerun=True),
        chunk_of(form=4),
        chunk_of(number=-1),
        chunk_of(number=True),
        chunk_of(text=None),
        chunk_of(token_count=1.5),
        chunk_of(cut_off="no"),
        chunk_of(confidence="high"),
        chunk_of(confidence=float("nan")),
        chunk_of(confidence=1e300),
        chunk_of(more=1),
        chunk_of(text=...),
        chunk_of(text=..., token_count=..., cut_off=..., confidence=..., options=[[-1.0]]),
        chunk_of(text=..., token_count=..., cut_off=..., confidence=..., options=[[-1.0, "2"]]),
        chunk_of(text="x" * (ANSWER_BYTES_MAX + 1)),
        b'{"v":1,"salt":"00"}\n' + b"[" * 100_000 + b"\n",
        b'{"v":1,"salt":"00"}\n' + chunk_of().splitlines(keepends=True)[1] * (ANSWERS_PER_CHUNK_MAX + 1),
    ],
)
def test_what_is_no_chunk_is_refused_without_a_word_of_it(content: bytes) -> None:
    """The message goes back through a process that must not see an answer."""
    with pytest.raises(InvalidRequestError, match=r"chunk") as refused:
        read_chunk(content)

    assert "The answer is" not in str(refused.value)
