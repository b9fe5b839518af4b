"""What a line of a bank's file may hold."""

from __future__ import annotations

import re
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, model_validator

from leakscale.audit.forms.models import Criterion, Form, Option, Parent

__all__ = ["GOLDS_WITHHELD", "ParentFields"]

GOLDS_WITHHELD: Final = "golds-withheld"
"""Context under which a parent is read that may not have a gold, in place of one that has to."""

_Words = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=65_536, pattern=r"\S")]
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Controls, marks that turn a line, and the mark of byte order; marks that scripts need between letters are none."""


def _require_seen(text: str) -> str:
    if found := _UNSEEN.search(text):
        raise ValueError(f"it holds U+{ord(found[0]):04X}, which no reader sees; take it out")
    return text


def _require_no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("it holds U+0000, which no text has; take it out")
    return text


_Text = Annotated[_Words, AfterValidator(_require_no_nul)]
_Gold = Annotated[_Text, AfterValidator(_require_seen)]
_Label = Annotated[str, StringConstraints(strict=True, pattern=r"^[\x21-\x7e]{1,16}$")]
_Id = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:\-]{0,127}$")]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _OptionFields(_Fields):
    label: _Label
    text: _Text


_Options = Annotated[tuple[_OptionFields, ...], Field(min_length=2, max_length=26)]


class _FormFields(_Fields):
    """A form: its text alone, or an object; what it leaves out is the parent's."""

    text: _Text
    gold: _Gold | None = None
    options: _Options | None = None

    @model_validator(mode="before")
    @classmethod
    def _take_text_alone(cls, value: object) -> object:
        return {"text": value} if isinstance(value, str) else value


class ParentFields(_Fields):
    """A parent item as a line of JSON."""

    id: _Id
    criterion: Criterion
    gold: _Gold | None = None
    """The right answer of every form that does not bring its own; of a choice, a label."""
    options: _Options | None = None
    original: _FormFields
    fresh: tuple[_FormFields | None, ...] = ()
    deep: tuple[_FormFields | None, ...] = ()
    stratum: Annotated[str, StringConstraints(strict=True, max_length=128), AfterValidator(_require_seen)] = ""

    @model_validator(mode="after")
    def _check_answers(self, info: ValidationInfo) -> Self:
        check_gold = _check_withheld if info.context == GOLDS_WITHHELD else _check_gold
        for place, fields in self._forms():
            form = self._form(fields)
            _check_options(place, form, self.criterion)
            check_gold(place, form, self.criterion)
        return self

    def parent(self) -> Parent:
        """Return the parent item."""
        return Parent(
            parent_id=self.id,
            criterion=self.criterion,
            original=self._form(self.original),
            fresh=tuple(None if form is None else self._form(form) for form in self.fresh),
            deep=tuple(None if form is None else self._form(form) for form in self.deep),
            stratum=self.stratum,
        )

    def _forms(self) -> list[tuple[str, _FormFields]]:
        rewrites = [(f"{kind}[{index}]", form) for kind in ("fresh", "deep") for index, form in self._written(kind)]
        return [("original", self.original), *rewrites]

    def _written(self, kind: str) -> list[tuple[int, _FormFields]]:
        return [(index, form) for index, form in enumerate(getattr(self, kind)) if form is not None]

    def _form(self, form: _FormFields) -> Form:
        options = form.options or self.options or ()
        return Form(
            text=form.text,
            gold=form.gold or self.gold or "",
            options=tuple(Option(option.label, option.text) for option in options),
        )


def _check_options(place: str, form: Form, criterion: Criterion) -> None:
    if criterion is not Criterion.CHOICE:
        if form.options:
            raise ValueError(f"{place} has options, and the criterion is {criterion}; leave them out or use choice")
        return
    labels = [option.label for option in form.options]
    if not labels:
        raise ValueError(f"{place} has no options, which a choice needs")
    if len(set(labels)) < len(labels):
        raise ValueError(f"{place} has two options labelled {next(x for x in labels if labels.count(x) > 1)!r}")


def _check_gold(place: str, form: Form, criterion: Criterion) -> None:
    if not form.gold:
        raise ValueError(f"{place} has no gold answer; give the parent one, or the form its own")
    labels = [option.label for option in form.options]
    if criterion is Criterion.CHOICE and form.gold not in labels:
        raise ValueError(f"the gold answer {form.gold!r} of {place} is no label of its options ({', '.join(labels)})")


def _check_withheld(place: str, form: Form, _: Criterion) -> None:
    if form.gold:
        raise ValueError(f"{place} has a gold answer, and this bank's are withheld; leave it out")
