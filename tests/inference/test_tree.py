"""A flattened trie shows each token its own path and nothing else."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from leakscale.inference.engines.tree import token_tree, tree_mask

END = 0
answers_strategy = st.lists(
    st.lists(st.integers(1, 3), min_size=1, max_size=4).map(lambda path: (*path, END)),
    min_size=1,
    max_size=4,
    unique=True,
)
prompts = st.lists(st.integers(4, 9), min_size=1, max_size=6)


@given(prompts, answers_strategy)
def test_every_token_sees_exactly_the_sequence_before_it(prompt: list[int], answers: list[tuple[int, ...]]) -> None:
    """Read along the mask, a token has before it the prompt and its answer so far, in position order."""
    tree = token_tree(prompt, answers)
    seen = tree_mask(tree, dtype=torch.float32)[0, 0] == 0

    for answer, readers in zip(answers, tree.readers, strict=True):
        for depth, place in enumerate(readers):
            places = torch.nonzero(seen[place]).flatten().tolist()
            assert [tree.tokens[each] for each in places] == [*prompt, *answer[:depth]]
            assert [tree.positions[each] for each in places] == list(range(len(prompt) + depth))


@given(prompts, answers_strategy, st.integers(1, 5))
def test_window_hides_what_is_further_back(prompt: list[int], answers: list[tuple[int, ...]], window: int) -> None:
    """By position, not by place: branches lie behind each other, and are not further from the prompt for it."""
    tree = token_tree(prompt, answers)
    full = tree_mask(tree, dtype=torch.float32)[0, 0] == 0

    seen = tree_mask(tree, dtype=torch.float32, window=window)[0, 0] == 0

    for row in range(len(tree.tokens)):
        near = [tree.positions[row] - position < window for position in tree.positions]
        assert seen[row].tolist() == [bool(one) and other for one, other in zip(full[row], near, strict=True)]


@given(prompts, answers_strategy, st.data())
def test_mask_without_its_first_rows_is_the_rest_of_the_mask(
    prompt: list[int], answers: list[tuple[int, ...]], data: st.DataObject
) -> None:
    """What is in a cache is still seen, and asks nothing itself."""
    tree = token_tree(prompt, answers)
    first_row = data.draw(st.integers(0, len(prompt) - 1))
    window = data.draw(st.none() | st.integers(1, 5))

    rest = tree_mask(tree, dtype=torch.float32, first_row=first_row, window=window)

    whole = tree_mask(tree, dtype=torch.float32, window=window)
    assert torch.equal(rest, whole[:, :, first_row:])


def test_tokens_that_answers_share_are_read_once() -> None:
    """The trie is what makes four answers cost little more than one."""
    tree = token_tree([7, 8], [(1, 2, 0), (1, 3, 0), (1, 2, 2, 0)])

    assert tree.tokens == (7, 8, 1, 2, 3, 2)
    assert tree.positions == (0, 1, 2, 3, 3, 4)
