"""All answers after one prompt in one forward: the tokens of the trie behind the prompt, each seeing its own path.

A token of the trie attends to the prompt, to its ancestors and to itself; its position is its depth. So one forward
computes what a forward for each answer would, and reads the prompt once.

Pure but for torch: token ids in, tensors out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from leakscale.inference.trie import TokenPath

__all__ = ["TokenTree", "token_tree", "tree_mask"]


@dataclass(frozen=True, slots=True)
class TokenTree:
    """A prompt with the trie of its answers behind it, flattened."""

    tokens: tuple[int, ...]
    """The prompt, then every inner token of the trie once: all but the last of each answer, which nobody reads on."""
    positions: tuple[int, ...]
    """Of each token; answers that part at one place go on at the same positions."""
    ancestors: tuple[tuple[int, ...], ...]
    """For each token behind the prompt, the places of those behind the prompt that it sees, itself included."""
    readers: tuple[tuple[int, ...], ...]
    """For each answer and each of its tokens, the place of the token before: where its probability is read."""
    prompt_length: int


def token_tree(prompt_ids: TokenPath, answers: Sequence[TokenPath]) -> TokenTree:
    """Flatten a prompt and its answers, none of which begins another."""
    tokens, positions = list(prompt_ids), list(range(len(prompt_ids)))
    root = len(tokens) - 1
    children: dict[tuple[int, int], int] = {}
    """Place of each inner token, by the place of its parent and itself."""
    paths: dict[int, tuple[int, ...]] = {root: ()}
    readers = []
    for answer in answers:
        place, read = root, [root]
        for token in answer[:-1]:
            parent = place
            place = children.setdefault((parent, token), len(tokens))
            if place == len(tokens):
                tokens.append(token)
                positions.append(root + 1 + len(paths[parent]))
                paths[place] = (*paths[parent], place)
            read.append(place)
        readers.append(tuple(read))
    del paths[root]
    return TokenTree(tuple(tokens), tuple(positions), tuple(paths.values()), tuple(readers), len(prompt_ids))


def tree_mask(tree: TokenTree, *, dtype: torch.dtype, first_row: int = 0, window: int | None = None) -> torch.Tensor:
    """Return what is added to attention scores: 0 where a token is seen, the lowest number where not.

    Args:
        tree: A flattened prompt with its answers.
        dtype: Of the attention scores.
        first_row: Place of the first token that is asked for, within the prompt; those before it are in a cache.
        window: Positions, its own included, that a token of a sliding-window layer looks back over; None in a full one.

    Returns:
        Tensor of shape (1, 1, tokens from `first_row` on, tokens).
    """
    length, behind = len(tree.tokens), tree.prompt_length
    seen = torch.ones(length - first_row, length, dtype=torch.bool).tril_(first_row)
    seen[behind - first_row :, behind:] = False
    rows = [behind - first_row + row for row, places in enumerate(tree.ancestors) for _ in places]
    seen[rows, [place for places in tree.ancestors for place in places]] = True
    if window is not None:
        positions = torch.tensor(tree.positions)
        seen &= positions[first_row:, None] - positions[None, :] < window
    hidden = torch.zeros(seen.shape, dtype=dtype)
    return hidden.masked_fill_(seen.logical_not_(), torch.finfo(dtype).min)[None, None]
