"""The order sums are taken in: one fixed binary tree, whoever computes its nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Leaf = TypeVar("Leaf")
Node = TypeVar("Node")

_MOST_GROUPS = 16  # whose sums are kept on disk while a run goes on


def tree(leaves: Sequence[Leaf], leaf: Callable[[Leaf], Node], add: Callable[[Node, Node], Node]) -> Node:
    """Add up leaves in pairs, pairs of pairs, …; depth first, so that a few sums are held at a time.

    >>> tree("abcde", str, lambda left, right: f"({left}{right})")
    '(((ab)(cd))e)'
    """
    if len(leaves) == 1:
        return leaf(leaves[0])
    half = 1 << ((len(leaves) - 1).bit_length() - 1)
    return add(tree(leaves[:half], leaf, add), tree(leaves[half:], leaf, add))


def groups(count: int) -> list[range]:
    """Whole subtrees of a tree of so many leaves: adding up their sums by the same rule gives the same tree.

    >>> groups(5), groups(33)[:2]
    ([range(0, 1), range(1, 2), range(2, 3), range(3, 4), range(4, 5)], [range(0, 4), range(4, 8)])
    """
    size = 1
    while count > size * _MOST_GROUPS:
        size *= 2
    return [range(start, min(start + size, count)) for start in range(0, count, size)]
