"""Regeneration: shapes and seeds give the public families byte for byte.

Of a practice edition they give the truth too, and the certificates commit to it. Source: LeakScale A, F.3.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from leakscale.digests import canonical_json
from leakscale.errors import IntegrityError, PreconditionError
from leakscale.evidence.checks.outcome import Checked, UncheckedError, counted, require_same
from leakscale.evidence.layout import file_name_of
from leakscale.evidence.rebuilding import RebuiltEdition, rebuild_edition
from leakscale.evidence.tree import EvidenceTree
from leakscale.models import ShapeFile
from leakscale.study.config import named_seeds

__all__ = ["check_regeneration", "grant_of", "read_shapes"]

_NOTHING: Final = "no family built again"


def check_regeneration(
    tree: EvidenceTree, *, shapes_beside: Path | None = None, rebuilt: RebuiltEdition | None = None
) -> Checked:
    """Build every family again and compare it with the frozen edition.

    Args:
        tree: What is checked; keeps the edition that was built.
        shapes_beside: Folder of shape files that the tree only commits to.
        rebuilt: The edition, where it was built a moment ago from the same shapes and seeds.
    """
    layout = tree.layout
    kind = tree.study.edition.kind.value
    require_same(layout.relative(layout.study), "edition.kind", kind, tree.disclosure.edition_kind)
    seeds = canonical_json(named_seeds(tree.study))
    require_same(layout.relative(layout.seeds), "content", layout.seeds.read_bytes(), seeds)
    shapes = read_shapes(tree, beside=shapes_beside)
    try:
        tree.rebuilt = rebuilt or rebuild_edition(tree.study, shapes, grant_id=grant_of(tree))
    except PreconditionError as error:
        raise UncheckedError(_NOTHING, str(error)) from error
    _require_public(tree, tree.rebuilt)
    families = counted(len(tree.rebuilt.families), "family", "families")
    if not tree.rebuilt.has_truth:
        return Checked(
            len(tree.rebuilt.families),
            f"{families} built again in 3 rings from {len(shapes)} shapes, byte-identical",
            "the truth was drawn by the server; its commitments are opened when the edition is retired",
        )
    _require_commitments(tree, tree.rebuilt)
    return Checked(
        len(tree.rebuilt.families),
        f"{families} built again in 3 rings from {len(shapes)} shapes, byte-identical, truths as committed to",
    )


def read_shapes(tree: EvidenceTree, *, beside: Path | None = None) -> list[ShapeFile]:
    """Read the shape files of a study in its order, each of which has the digest that the study names.

    Raises:
        UncheckedError: If the tree only commits to one, and it is not beside it.
    """
    shapes = []
    # In the order of the study: decoys are of the first shapes.
    for source in tree.study.edition.shapes:
        digest = tree.study_fields["shapes"][source]
        folders = [tree.layout.shapes, *([] if beside is None else [beside])]
        name = file_name_of(source)
        path = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if path is None:
            raise UncheckedError(
                _NOTHING, f"shape file '{source}' is private, and the tree has a commitment alone; verify the study"
            )
        content = path.read_bytes()
        require_same(f"shapes/{source}", "SHA-256", hashlib.sha256(content).hexdigest(), digest)
        shapes.append(ShapeFile(source, content.decode()))
    return shapes


def grant_of(tree: EvidenceTree) -> str | None:
    """Return the grant that was redeemed for the study, by the ledger; None if that cannot be told."""
    edition = tree.study.edition.id
    redeemed = [each for each in tree.ledger if (each["kind"], each.get("edition")) == ("grant-redeemed", edition)]
    return str(redeemed[0]["grant"]) if len(redeemed) == 1 else None


def _require_public(tree: EvidenceTree, rebuilt: RebuiltEdition) -> None:
    source = tree.layout.relative(tree.layout.server.edition(tree.study.edition.id))
    for ring, forms in tree.edition.forms.items():
        if forms.keys() != rebuilt.families.keys():
            strange = sorted(forms.keys() ^ rebuilt.families.keys())[0]
            raise IntegrityError(f"{source}: {strange} is in the file or in what the seeds give, and not in both")
        for family_id, public in forms.items():
            expected = rebuilt.families[family_id].public_digests[ring]
            require_same(source, f"SHA-256 of {family_id} in {ring}", hashlib.sha256(public).hexdigest(), expected)


def _require_commitments(tree: EvidenceTree, rebuilt: RebuiltEdition) -> None:
    source = tree.layout.relative(tree.layout.server.edition(tree.study.edition.id))
    for family_id, facts in tree.certificate_facts.items():
        family = rebuilt.families[family_id]
        for name in ("truth_commitment", "condition_commitment"):
            require_same(source, f"{name} of {family_id}", facts[name], getattr(family, name))
