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
    places: dict[tuple[int, ...], int] = {(): len(prompt_ids) - 1}
    ancestors: list[tuple[int, ...]] = []
    for answer in map(tuple, answers):
        for depth in range(1, len(answer)):
            if answer[:depth] not in places:
                places[answer[:depth]] = len(tokens)
                positions.append(len(prompt_ids) + depth - 1)
                tokens.append(answer[depth - 1])
                ancestors.append(tuple(places[answer[:length]] for length in range(1, depth + 1)))
    readers = tuple(tuple(places[tuple(answer[:depth])] for depth in range(len(answer))) for answer in answers)
    return TokenTree(tuple(tokens), tuple(positions), tuple(ancestors), readers, len(prompt_ids))


def tree_mask(tree: TokenTree, *, dtype: torch.dtype, window: int | None = None) -> torch.Tensor:
    """Return what is added to attention scores: 0 where a token is seen, the lowest number where not.

    Args:
        tree: A flattened prompt with its answers.
        dtype: Of the attention scores.
        window: Positions, its own included, that a token of a sliding-window layer looks back over; None in a full one.

    Returns:
        Tensor of shape (1, 1, tokens, tokens).
    """
    length, first = len(tree.tokens), tree.prompt_length
    seen = torch.ones(length, length, dtype=torch.bool).tril_()
    seen[first:, first:] = False
    rows = [first + row for row, places in enumerate(tree.ancestors) for _ in places]
    seen[rows, [place for places in tree.ancestors for place in places]] = True
    if window is not None:
        positions = torch.tensor(tree.positions)
        seen &= positions[:, None] - positions[None, :] < window
    return torch.zeros(length, length, dtype=dtype).masked_fill_(~seen, torch.finfo(dtype).min)[None, None]
