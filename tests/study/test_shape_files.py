"""A shape and the files beside it become one text, and nothing in it changes on the way."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.study.config import read_shape_file
from leakscale.study.shape_files import with_files_beside

SHAPE = """\
format = 1

[[fixtures]]
sql = "one.sql"

[[fixtures]]
csv = { orders = "two.csv" }
outputs = ["[]", "out.json", "[1]", "[2]"]

[[fixtures]]
sql = "INSERT INTO t VALUES ('x.sql is no file')"
"""


def written(folder: Path, toml: str = SHAPE, **files: bytes) -> Path:
    """A shape file with files beside it."""
    for name, content in {"one_sql": b"", "two_csv": b"id\n1\n", "out_json": b"[]", **files}.items():
        (folder / name.replace("_", ".")).write_bytes(content)
    (folder / "shape.toml").write_text(toml, encoding="utf-8")
    return folder / "shape.toml"


def test_files_that_fixtures_name_are_appended(tmp_path: Path) -> None:
    """Behind the author's own lines, so that line numbers in messages stay right."""
    path = written(tmp_path, one_sql=b"INSERT INTO t VALUES (1);\n")

    toml = read_shape_file(path, source="shape.toml").toml

    assert toml.startswith(SHAPE.rstrip())
    assert tomllib.loads(toml)["files"] == {
        "one.sql": "INSERT INTO t VALUES (1);\n", "out.json": "[]", "two.csv": "id\n1\n",
    }  # fmt: skip


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=2000))
def test_any_text_comes_out_as_it_went_in(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Quotes, backslashes, controls and white space at the end of a line."""
    path = written(tmp_path_factory.mktemp("shape"), one_sql=text.encode())

    toml = with_files_beside(SHAPE, path, source="shape.toml")

    assert tomllib.loads(toml)["files"]["one.sql"] == text.removeprefix("\ufeff")
    assert max(map(len, toml.split("\n"))) <= 1000


def test_a_shape_without_files_stays_as_it_is(tmp_path: Path) -> None:
    """Its digest stands in certificates."""
    for toml in ("format = 1\n", "not = = toml", SHAPE + '[files]\n"one.sql" = ""\n'):
        assert with_files_beside(toml, written(tmp_path), source="s") == toml


@pytest.mark.parametrize("name", ["../one.sql", "/etc/one.sql", "a/one.sql", ".one.sql", "one.txt", "one.SQL"])
def test_nothing_elsewhere_is_read(tmp_path: Path, name: str) -> None:
    """A shape from somebody else must not carry off what lies in another folder; the server calls it no fixture."""
    toml = SHAPE.replace("one.sql", name)

    files = tomllib.loads(with_files_beside(toml, written(tmp_path), source="s"))["files"]

    assert set(files) == {"two.csv", "out.json"}


def test_a_link_leads_nowhere_else(tmp_path: Path) -> None:
    """Unpacked from an archive, a link beside the shape would carry off a key of whoever checks it."""
    path = written(tmp_path)
    (tmp_path / "key").mkdir()
    (tmp_path / "key" / "id.sql").write_text("secret")
    (tmp_path / "one.sql").unlink()
    (tmp_path / "one.sql").symlink_to("key/id.sql")
    with pytest.raises(InvalidRequestError, match=r"fixtures\[0\]\.sql: 'one\.sql' is a link that leads out") as caught:
        with_files_beside(SHAPE, path, source="s")

    assert "secret" not in str(caught.value)


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "one.sql").rename(tmp_path / "first.sql")
    (tmp_path / "one.sql").symlink_to("first.sql")

    assert tomllib.loads(with_files_beside(SHAPE, path, source="s"))["files"]["one.sql"] == ""


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "one.sql").unlink()
    with pytest.raises(NotFoundError, match=r"s:\d+: fixtures\[0\]\.sql: file 'one\.sql' does not exist beside it"):
        with_files_beside(SHAPE, path, source="s")
    (tmp_path / "one.sql").mkdir()
    with pytest.raises(InvalidRequestError, match="not a regular file"):
        with_files_beside(SHAPE, path, source="s")
    (tmp_path / "one.sql").rmdir()
    (tmp_path / "one.sql").write_bytes(b"ab\xff")
    with pytest.raises(InvalidRequestError, match=r"'one\.sql': byte 2 is not UTF-8"):
        with_files_beside(SHAPE, path, source="s")
    (tmp_path / "one.sql").write_bytes(b"x" * 300_000)
    with pytest.raises(InvalidRequestError, match="larger than 262,144 bytes"):
        with_files_beside(SHAPE, path, source="s")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda file: file.unlink(), "does not exist beside it; put it there"),
        (lambda file: (file.unlink(), file.symlink_to(file)), "is a link to nothing; put a copy in its place"),
        (lambda file: (file.unlink(), file.mkdir()), "is not a regular file; put one in its place"),
        (lambda file: file.write_bytes(b"\xff"), "is not UTF-8; save the file as UTF-8"),
        (lambda file: file.write_bytes(b"x" * 300_000), "larger than 262,144 bytes; shorten it"),
    ],
)
def test_a_fault_of_a_named_file_says_where_it_is_named_and_what_to_do(
    tmp_path: Path, spoil: Callable[[Path], object], words: str
) -> None:
    """By file, line and field, as every other fault of a shape."""
    path = written(tmp_path)
    spoil(tmp_path / "out.json")

    with pytest.raises((InvalidRequestError, NotFoundError)) as caught:
        with_files_beside(SHAPE, path, source="shape.toml")

    assert str(caught.value).startswith("shape.toml:8: fixtures[1].outputs[1]: ")
    assert words in str(caught.value)


def test_a_named_file_without_permission_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may read everything, so the refusal is the operating system's words alone."""

    def refuse(self: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    path = written(tmp_path)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InvalidRequestError, match=r"'one\.sql' cannot be read: Permission denied; check"):
        with_files_beside(SHAPE, path, source="s")
