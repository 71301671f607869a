"""Where labels go: each at one of eight spots around its mark, where it covers the least; deterministic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_HEIGHT: Final = 12.0
_ALLOWED: Final = 45.0
"""Area in square pixels that a label may cover of other things; beyond, it is left out."""


@dataclass(frozen=True)
class Box:
    """A rectangle with its edges."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """Area in common."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)

    def contains(self, other: Box) -> bool:
        """Whether another one lies inside."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


def place_labels(
    texts: Sequence[str],
    spots: Sequence[tuple[float, float, float]],
    obstacles: Sequence[Box],
    limits: Box,
    character: float,
) -> list[tuple[float, float] | None]:
    """Left end and baseline of each text, or None where it would cover too much.

    Args:
        texts: labels, the most important first.
        spots: centre and radius of the mark of each.
        obstacles: what is not to be covered.
        limits: where labels may be.
        character: width of a character.

    """
    taken = list(obstacles)
    placed: list[tuple[float, float] | None] = []
    for text, (x, y, r) in zip(texts, spots, strict=True):
        width = character * len(text)
        gap = r + 4
        candidates = [
            Box(x + dx, y + dy - _HEIGHT / 2, x + dx + width, y + dy + _HEIGHT / 2)
            for dx, dy in (
                (gap, 0.0), (-gap - width, 0.0), (-width / 2, -gap - 6), (-width / 2, gap + 6),
                (gap * 0.8, -gap), (gap * 0.8, gap), (-gap * 0.8 - width, -gap), (-gap * 0.8 - width, gap),
            )
        ]  # fmt: skip
        costs = [
            sum(box.overlap(other) for other in taken) if limits.contains(box) else float("inf") for box in candidates
        ]
        best = min(range(len(candidates)), key=lambda number: costs[number])
        if costs[best] > _ALLOWED:
            placed.append(None)
            continue
        box = candidates[best]
        taken.append(box)
        placed.append((box.left, box.bottom - 2.5))
    return placed
