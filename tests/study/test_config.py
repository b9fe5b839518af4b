"""A study file that is wrong is refused by file, field, rule and value."""

from __future__ import annotations

from pathlib import Path

import pytest

from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.resources import catalog_folder, studies_folder
from leakscale.study.config import Seeds, StudyShapes, load_studies, load_study, read_shape_file

from .helpers import write_study


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("families_per_cell = 4", "families_per_cell = 5", ["edition.families_per_cell", "4, 8, 12 or 16", "5"]),
        ("seed = 7", "seed = -1", ["'seed'", "greater than or equal to 0", "-1"]),
        ("seed = 7", "seed = 9007199254740992", ["'seed'", "less than"]),
        ("seed = 7", 'seed = "7x"', ["'seed'", "integer", "7x"]),
        ("format = 1", "format = 2", ["'format'", "2"]),
        ('name = "small"', 'name = "Not An Id"', ["'name'", "no identifier", "Not An Id"]),
        ('kind = "practice"', 'kind = "secret"', ["edition.kind", "'practice' or 'private'", "secret"]),
        ("draw_count = 4", "draw_count = 0", ["experiment.draw_count", "0"]),
        ("resample_count = 200", "resample_count = 1", ["experiment.resample_count", "1"]),
        ('source = "tiny"', "", ["model.source", "required"]),
        ('source = "tiny"', 'source = ""', ["model.source", "at least 1"]),
        ('source = "tiny"', 'source = "tiny"\ncolor = "red"', ["model.color", "not permitted"]),
        ("preservation_count = 8", "preservation_count = 65537", ["model.preservation_count", "65537"]),
        ('shapes = ["sql/threshold.toml", "python/prefix.toml"]', "shapes = []", ["edition.shapes"]),
    ],
)
def test_a_field_that_breaks_a_rule_is_named(tmp_path: Path, old: str, new: str, words: list[str]) -> None:
    """Whoever wrote the file finds the place without reading our code."""
    path = write_study(tmp_path / "study.toml", (old, new))

    with pytest.raises(InvalidRequestError) as caught:
        load_study(path)

    message = str(caught.value)
    assert message.startswith(f"{path}: field ")
    assert [word for word in words if word not in message] == []
    assert "\n" not in message


def test_malformed_toml_is_named_by_line(tmp_path: Path) -> None:
    """The parser knows where it stopped."""
    path = write_study(tmp_path / "study.toml", ("seed = 7", "seed = = 7"))

    with pytest.raises(InvalidRequestError, match=r"study\.toml: not valid TOML: .*line 4"):
        load_study(path)


def test_a_file_that_is_not_text_is_said_to_be_none(tmp_path: Path) -> None:
    """A model file passed by mistake."""
    (tmp_path / "study.toml").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(InvalidRequestError, match="byte 0 is not UTF-8"):
        load_study(tmp_path / "study.toml")


@pytest.mark.parametrize("name", ["missing.toml", ".", "missing/study.toml"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    """The next step stands in the message."""
    with pytest.raises(NotFoundError, match="pass --study"):
        load_study(tmp_path / name)


@pytest.mark.parametrize(("seed", "model", "field"), [(-1, None, "seed"), (2**53, None, "seed"), (None, "", "source")])
def test_an_override_keeps_the_rules_of_its_field(
    tmp_path: Path, seed: int | None, model: str | None, field: str
) -> None:
    """`--seed -1` must not make a study that no file could."""
    study = load_study(write_study(tmp_path / "study.toml"))

    with pytest.raises(InvalidRequestError, match=field):
        study.with_overrides(seed=seed, model=model)


def test_overrides_change_what_they_name(tmp_path: Path) -> None:
    """And nothing else."""
    study = load_study(write_study(tmp_path / "study.toml"))

    changed = study.with_overrides(seed=8, model="smollm2")

    assert (changed.seed, changed.model.source) == (8, "smollm2")
    assert study.with_overrides() == study
    assert changed.with_overrides(seed=7, model="tiny") == study


def test_seeds_of_two_purposes_and_two_studies_differ() -> None:
    """A seed used twice would tie together what must be independent."""
    seeds = [Seeds(root) for root in (0, 1, 10)]
    drawn = [
        seed.secret(purpose) for seed in seeds for purpose in ("edition-public", "edition-private", "bank", "0/bank")
    ]

    assert len(set(drawn)) == len(drawn)
    assert all(0 <= seed.bank < 2**31 and 0 <= seed.bootstrap < 2**31 for seed in seeds)


def test_an_unknown_shape_lists_the_catalog(tmp_path: Path) -> None:
    """A typo is corrected from the message."""
    study = load_study(write_study(tmp_path / "study.toml", ("sql/threshold.toml", "sql/treshold.toml")))

    with pytest.raises(
        NotFoundError, match=r"'sql/treshold\.toml' does not exist; the catalog has .*sql/threshold\.toml"
    ):
        StudyShapes(catalog_folder()).read(study)


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(studies_folder().glob("*.toml")) if path.name != "cleanscore-validation.toml"],
    ids=lambda path: path.name,
)
def test_every_shipped_study_can_be_read(path: Path) -> None:
    """What ships must work."""
    for study in load_studies(path).values():
        assert StudyShapes(catalog_folder()).read(study)


def test_shape_file_that_is_a_device_is_refused(tmp_path: Path) -> None:
    """Reading it would never end."""
    (tmp_path / "endless.toml").symlink_to("/dev/zero")

    with pytest.raises(InvalidRequestError, match="not a regular file"):
        read_shape_file(tmp_path / "endless.toml", source="endless.toml")


def test_shape_file_that_no_server_takes_is_not_read_whole(tmp_path: Path) -> None:
    """A mistaken path, such as a model's weights, must not fill the memory first."""
    (tmp_path / "large.toml").write_bytes(b"#" * (256 * 1024 + 1))

    with pytest.raises(InvalidRequestError, match="larger than 262,144 bytes"):
        read_shape_file(tmp_path / "large.toml", source="large.toml")


def test_the_documented_study_can_be_read(tmp_path: Path) -> None:
    """A page whose example is refused teaches nothing."""
    page = (Path(__file__).parents[2] / "docs" / "study-format.md").read_text(encoding="utf-8")
    (tmp_path / "study.toml").write_text(page.split("```toml\n")[1].split("```")[0], encoding="utf-8")

    study = load_study(tmp_path / "study.toml")

    assert study.edition.shapes == ("my-shape.toml", "python/prefix.toml")
    assert study.model.adaptation == {"learning_rate": 2e-3}
