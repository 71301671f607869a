"""How the numbers of one launch came about: formula, numbers put in, printed cells, map line, ceiling."""

from ncu_roofline.explain.subjects import explain
from ncu_roofline.explain.values import Cell, Explained, Explanation, Step

__all__ = ["Cell", "Explained", "Explanation", "Step", "explain"]
