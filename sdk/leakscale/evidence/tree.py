"""A tree of evidence, read once for all steps. Reading it checks nothing but that it can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from leakscale.edition_files import Atom, EditionFacts, FiledCertificate, open_edition_file
from leakscale.errors import IntegrityError
from leakscale.evidence.layout import EvidenceLayout
from leakscale.evidence.rebuilding import RebuiltEdition
from leakscale.field_rules import validated
from leakscale.inference.attempts import ATTEMPTS_MEND
from leakscale.inference.lines import read_header
from leakscale.models import Domain, Family, ModelState, Opening, Ring
from leakscale.openings import opening_of_line
from leakscale.reading import fault_of, parse_object
from leakscale.results import Disclosure, disclosure_from_json
from leakscale.statements import Predicate, predicate_of
from leakscale.study.config import Study
from leakscale.verify.directory import facts_of, read_entries, read_lines

__all__ = ["EditionContents", "EvidenceTree"]


@dataclass(frozen=True)
class EditionContents:
    """What the file of a frozen edition holds."""

    facts: EditionFacts
    atoms: tuple[Atom, ...]
    forms: Mapping[Ring, Mapping[str, bytes]]
    """Public bytes of each family, by ring and id."""
    families: Mapping[Ring, tuple[Family, ...]]
    """In the order of their ids."""
    certificates: tuple[FiledCertificate, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Family]:
        """Every family in R0."""
        return {family.family_id: family for family in self.families[Ring.R0]}


class EvidenceTree:
    """The files of one tree, each read when it is first asked for.

    Attributes:
        layout: Where they lie.
        rebuilt: The edition built again from its seeds; None until a step has done so.

    Raises:
        IntegrityError: From every property, if its file is missing or not what it should be; the message names it.
    """

    def __init__(self, root: Path) -> None:
        self.layout = EvidenceLayout(root)
        self.rebuilt: RebuiltEdition | None = None

    @cached_property
    def study_fields(self) -> dict[str, Any]:
        """What decides the numbers, with the digests of the shapes."""
        return self._object(self.layout.study)

    @cached_property
    def study(self) -> Study:
        """The study, without its title."""
        fields = {name: value for name, value in self.study_fields.items() if name != "shapes"}
        with self.naming(self.layout.study):
            return validated({**fields, "title": fields["name"]}, Study)

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Where the numbers come from."""
        return self._object(self.layout.provenance)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The numbers of the study for programs."""
        return self._object(self.layout.summary)

    @cached_property
    def completion(self) -> dict[str, Any]:
        """What the adapter came from."""
        return self._object(self.layout.completion)

    @cached_property
    def disclosure(self) -> Disclosure:
        """The released numbers."""
        with self.naming(self.layout.disclosure):
            return disclosure_from_json(self.layout.disclosure.read_text(encoding="utf-8"))

    @property
    def disclosure_model(self) -> str:
        """What the released numbers call the model."""
        return str(self.disclosure.numbers.get("model_label", self.disclosure.experiment_id))

    @cached_property
    def ledger(self) -> tuple[Mapping[str, Any], ...]:
        """What the entries of the ledger say that can be read."""
        path = self.layout.server.ledger
        with self.naming(path):
            return tuple(facts_of(each) for each in read_entries(path) if each.content)

    @cached_property
    def edition(self) -> EditionContents:
        """The frozen edition."""
        path = self.layout.server.edition(self.study.edition.id)
        with self.naming(path), open_edition_file(path) as file:
            return EditionContents(
                file.facts(),
                file.atoms(),
                {ring: file.forms(ring) for ring in Ring},
                {ring: file.families(ring) for ring in Ring},
                file.certificates(),
            )

    @cached_property
    def openings(self) -> tuple[Opening, ...] | None:
        """The openings of a retired edition; None before."""
        path = self.layout.server.openings(self.study.edition.id)
        with self.naming(path):
            return tuple(map(opening_of_line, read_lines(path))) if path.is_file() else None

    @cached_property
    def certificate_facts(self) -> Mapping[str, Mapping[str, Any]]:
        """What the certificate of each family says."""
        with self.naming(self.layout.server.edition(self.study.edition.id)):
            return {
                each.family_id: predicate_of(each.payload, Predicate.CERTIFICATE) for each in self.edition.certificates
            }

    @cached_property
    def attempts_headers(self) -> Mapping[str, Mapping[str, Any]]:
        """First line of the attempts of each bank: engine, mode, cases."""
        headers = {}
        for bank_id in self.layout.bank_ids():
            path = self.layout.bank(bank_id).attempts
            with self.naming(path):
                headers[bank_id] = read_header(path, mend=ATTEMPTS_MEND)
        return headers

    @property
    def shape_of(self) -> Mapping[str, str]:
        """Shape of each family, by its id."""
        return {name: family.shape_id for name, family in self.edition.by_id.items()}

    def state_of(self, bank_id: str) -> ModelState:
        """Return in which state the model answered a bank: the engine that did names its adapter."""
        adapter = self.attempts_headers[bank_id]["engine"].get("adapter")
        return ModelState.BASE if adapter is None else ModelState.ADAPTED

    def planned_banks(self) -> dict[str, tuple[Domain, ModelState, Ring]]:
        """Return every bank that the study registers, by its id."""
        domains = sorted({family.domain for family in self.edition.families[Ring.R0]})
        return {
            f"{domain.value}-{state.value}{'' if ring is Ring.R0 else f'-{ring.value.lower()}'}": (domain, state, ring)
            for domain in domains
            for state in ModelState
            for ring in self.study.experiment.rings
        }

    def _object(self, path: Path) -> dict[str, Any]:
        with self.naming(path):
            return parse_object(path.read_bytes(), is_strict=True)

    @contextmanager
    def naming(self, path: Path) -> Iterator[None]:
        """Put the name of a file before whatever is wrong with it."""
        name = self.layout.relative(path)
        try:
            yield
        except FileNotFoundError as error:
            raise IntegrityError(f"{name}: the file is missing") from error
        except (IntegrityError, ValueError, KeyError, TypeError, OSError) as error:
            raise IntegrityError(f"{name}: {fault_of(error)}") from error
