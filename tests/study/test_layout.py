"""When a study directory may be gone on with, and when it must be left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leakscale.errors import ConflictError, IntegrityError
from leakscale.models import ShapeFile
from leakscale.study import layout
from leakscale.study.config import Study, load_study
from leakscale.study.layout import StudyDirectory, write_json

from .helpers import write_study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return load_study(write_study(tmp_path / "study.toml"))


SHAPES = [ShapeFile("sql/a.toml", "a = 1"), ShapeFile("sql/b.toml", "b = 1")]


def open_directory(root: Path, study: Study, shapes: list[ShapeFile] = SHAPES) -> StudyDirectory:
    """Open a directory and let go of it at once, as a run that ends there."""
    with layout.open_directory(root, study, shapes) as directory:
        return directory


def finish(root: Path) -> None:
    write_json(root / "summary.json", {})


def test_an_unfinished_run_is_gone_on_with(tmp_path: Path, study: Study) -> None:
    """What was done stays where it is."""
    first = open_directory(tmp_path / "run", study)
    (first.root / "work").write_text("done")

    again = open_directory(tmp_path / "run", study)

    assert again == first
    assert (again.root / "work").read_text() == "done"


def test_a_finished_run_is_moved_aside(tmp_path: Path, study: Study) -> None:
    """Never overwritten, however often."""
    for number in (None, 1, 2, 3):
        directory = open_directory(tmp_path / "run", study)
        expected = None if number is None else tmp_path / f"run-{number}"
        assert directory.previous == expected
        finish(directory.root)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "run-1", "run-2", "run-3", "study.toml"]


def test_a_finished_run_in_the_current_folder_is_moved_aside(
    tmp_path: Path, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--out .` has no name of its own to put a number behind."""
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    finish(open_directory(Path(), study).root.absolute())

    directory = open_directory(Path(), study)

    assert directory.previous == tmp_path / "run-1"
    assert (tmp_path / "run-1" / "summary.json").exists()
    assert directory.root == tmp_path / "run"
    assert not directory.summary.exists()


def test_an_unfinished_run_of_another_study_is_refused(tmp_path: Path, study: Study) -> None:
    """Its numbers would come from two studies."""
    open_directory(tmp_path / "run", study)

    for other in (study.with_overrides(seed=8), study.with_overrides(model="smollm2")):
        with pytest.raises(ConflictError, match="unfinished run of another study"):
            open_directory(tmp_path / "run", other)


def test_a_shape_that_was_corrected_since_is_named(tmp_path: Path, study: Study) -> None:
    """The server has the old one under the edition's name; going on would end in a riddle."""
    open_directory(tmp_path / "run", study)

    with pytest.raises(ConflictError, match=r"\(other shape sql/b\.toml\)"):
        open_directory(tmp_path / "run", study, [SHAPES[0], ShapeFile("sql/b.toml", "b = 2")])


def test_a_directory_in_use_is_not_shared(tmp_path: Path, study: Study) -> None:
    """Two servers, two trainings and two logs in one folder would end as neither."""
    with layout.open_directory(tmp_path / "run", study, SHAPES):
        for other in (study, study.with_overrides(seed=8)):
            with pytest.raises(ConflictError, match=rf"in use by process {os.getpid()}; wait"):
                open_directory(tmp_path / "run", other)

    open_directory(tmp_path / "run", study)


def test_a_run_that_was_interrupted_still_knows_what_to_compare_with(tmp_path: Path, study: Study) -> None:
    """The promise to say whether a repeat is identical does not end with Ctrl-C."""
    finish(open_directory(tmp_path / "run", study).root)
    open_directory(tmp_path / "run", study)

    assert open_directory(tmp_path / "run", study).previous == tmp_path / "run-1"


def test_a_file_where_a_folder_is_needed_is_named(tmp_path: Path, study: Study) -> None:
    """`runs` itself, and not the path below it, is what stands in the way."""
    (tmp_path / "runs").write_text("")

    with pytest.raises(ConflictError, match=r"runs' is a file"):
        open_directory(tmp_path / "runs" / "demo", study)


def test_another_title_is_the_same_study(tmp_path: Path, study: Study) -> None:
    """Words decide no number."""
    open_directory(tmp_path / "run", study)

    open_directory(tmp_path / "run", study.model_copy(update={"title": "Better words"}))


@pytest.mark.parametrize("name", ["thesis.tex", "summary.json", ".git"])
def test_a_folder_with_other_files_is_refused_and_untouched(tmp_path: Path, study: Study, name: str) -> None:
    """`--out ~/project` must not rename the project because it has a summary.json."""
    root = tmp_path / "project"
    root.mkdir()
    (root / name).write_text("mine")

    with pytest.raises(ConflictError, match="holds files that are no study"):
        open_directory(root, study)

    assert [path.name for path in root.iterdir()] == [name]


def test_an_empty_folder_is_taken(tmp_path: Path, study: Study) -> None:
    """Made by hand, or by a mount."""
    (tmp_path / "run").mkdir()

    assert open_directory(tmp_path / "run", study).previous is None


def test_a_run_killed_before_its_first_file_was_whole_is_gone_on_with(tmp_path: Path, study: Study) -> None:
    """Between the temporary name and the real one."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "study.json.partial").write_text('{"fo')

    assert open_directory(tmp_path / "run", study).previous is None


def test_a_damaged_marker_is_said(tmp_path: Path, study: Study) -> None:
    """Whose run it is cannot be told, so nothing is touched."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "study.json").write_text("{")

    with pytest.raises(IntegrityError, match=r"study\.json' cannot be read"):
        open_directory(tmp_path / "run", study)


def test_json_is_replaced_in_one_step(tmp_path: Path) -> None:
    """A value that cannot be written leaves the old one."""
    write_json(tmp_path / "x.json", {"a": 1})

    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "x.json", {"a": float("nan")})

    assert (tmp_path / "x.json").read_text() == '{\n  "a": 1\n}\n'
